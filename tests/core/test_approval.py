"""What names a plan: two bear one hash only where they are the same."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
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


@given(lines.filter(bool), st.data())
def test_any_change_of_any_step_is_another_plan(steps: list[str], data: st.DataObject) -> None:
    where = data.draw(st.integers(0, len(steps) - 1))
    text = data.draw(texts)
    assume(text != steps[where])

    changed = [*steps[:where], text, *steps[where + 1 :]]

    assert plan_hash('e', 0, plan_of(changed)) != plan_hash('e', 0, plan_of(steps))


@given(lines, st.data())
def test_a_step_more_or_less_or_in_another_place_is_another_plan(
    steps: list[str], data: st.DataObject
) -> None:
    where = data.draw(st.integers(0, len(steps)))
    more = [*steps[:where], data.draw(texts), *steps[where:]]
    turned = more[::-1]

    assert plan_hash('e', 0, plan_of(more)) != plan_hash('e', 0, plan_of(steps))
    assert (plan_hash('e', 0, plan_of(turned)) == plan_hash('e', 0, plan_of(more))) == (
        turned == more
    )


@given(texts, texts, st.sampled_from(['', ' ', '","', '",1,"', '],[1,"', '\\', '\n', '\x00']))
def test_the_border_between_steps_cannot_be_written_into_a_step(
    first: str, second: str, glue: str
) -> None:
    joined = plan_hash('e', 0, plan_of([first + glue + second]))

    assert joined != plan_hash('e', 0, plan_of([first, second]))


@given(lines, texts, st.integers(0, 1000))
def test_another_episode_or_revision_is_another_plan(
    steps: list[str], episode: str, revision: int
) -> None:
    plan = plan_of(steps)
    here = plan_hash(episode, revision, plan)

    assert here != plan_hash(episode, revision + 1, plan)
    assert here != plan_hash(episode + 'x', revision, plan)
    # Neither can be read out of the other.
    assert plan_hash('1', 11, plan) != plan_hash('11', 1, plan)


@given(lines, st.integers(0, 4))
def test_the_step_under_way_does_not_change_which_plan_it_is(steps: list[str], step: int) -> None:
    first = Provenance(episode_id='e', revision=2, plan=plan_of(steps), step=0)
    later = Provenance(episode_id='e', revision=2, plan=plan_of(steps), step=step)

    assert first.hash == later.hash == plan_hash('e', 2, plan_of(steps))


def test_the_same_call_asked_twice_bears_two_hashes() -> None:
    hashes = {single_hash(RequestKind.CALL, 'e', 'pick', 'red_cube') for _ in range(100)}

    assert len(hashes) == 100
