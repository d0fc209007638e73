"""What names a plan: two bear one hash only where they are the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.approval import Provenance, RequestKind, plan_hash, single_hash
from bbllm.core.types import Plan, PlanStep

texts = st.text(max_size=12)
lines = st.lists(texts, max_size=5)


def plan_of(steps: list[str]) -> Plan:
    return Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))


@given(st.tuples(texts, st.integers(0), lines), st.tuples(texts, st.integers(0), lines))
def test_two_plans_bear_one_hash_only_where_they_are_the_same(one: Any, other: Any) -> None:
    same = plan_hash(one[0], one[1], plan_of(one[2])) == plan_hash(
        other[0], other[1], plan_of(other[2])
    )

    assert same == (one == other)


@given(texts, texts, st.sampled_from(['', ' ', '","', '",1,"', '],[1,"', '\\', '\n', '\x00']))
def test_the_border_between_steps_cannot_be_written_into_a_step(
    first: str, second: str, glue: str
) -> None:
    joined = plan_hash('e', 0, plan_of([first + glue + second]))

    assert joined != plan_hash('e', 0, plan_of([first, second]))


@given(lines, st.integers(0, 4))
def test_the_step_under_way_does_not_change_which_plan_it_is(steps: list[str], step: int) -> None:
    first = Provenance(episode_id='e', revision=2, plan=plan_of(steps), step=0)
    later = Provenance(episode_id='e', revision=2, plan=plan_of(steps), step=step)

    assert first.hash == later.hash == plan_hash('e', 2, plan_of(steps))


def test_the_same_call_asked_twice_bears_two_hashes() -> None:
    hashes = {single_hash(RequestKind.CALL, 'e', 'pick', 'red_cube') for _ in range(100)}

    assert len(hashes) == 100
