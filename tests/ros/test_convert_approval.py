"""Requests and answers of approval as messages, field by field."""

from __future__ import annotations

import pytest
from bbllm_interfaces.action import ExecuteSkill
from bbllm_interfaces.msg import Approval
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.approval import Answer, ApprovalRequest, Provenance, RequestKind
from bbllm.core.events import Event, PlanMade
from bbllm.core.types import Plan, PlanStep
from bbllm.ros.convert.approval import (
    answer_from_request,
    answer_to_request,
    approval_event,
    approval_from_msg,
    approval_to_msg,
    provenance_from_goal,
)
from bbllm.ros.convert.events import event_from_msg, event_to_msg

pytestmark = pytest.mark.ros

texts = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'), max_size=20)
words = st.from_regex(r'[a-z]{1,8}( [a-z]{1,8}){0,3}', fullmatch=True)
requests = st.builds(
    ApprovalRequest,
    kind=st.sampled_from([kind for kind in RequestKind if kind is not RequestKind.NOTHING]),
    hash=texts,
    title=texts,
    lines=st.lists(texts, max_size=3).map(tuple),
    reason=texts,
    episode_id=texts,
    timeout_s=st.floats(1, 1e5),
    since_s=st.floats(0, 2**31 - 1).map(lambda t: round(t, 6)),
)
answers = st.builds(
    Answer,
    granted=st.booleans(),
    reason=st.one_of(st.just(''), words),
    by=words,
    automatic=st.booleans(),
)


def test_kinds_of_requests_are_the_constants_of_the_message() -> None:
    constants = {name: getattr(Approval, name) for name in ('NOTHING', 'PLAN', 'CALL', 'RESUME')}

    assert constants == {kind.name: kind.value for kind in RequestKind}


@given(requests, st.booleans())
def test_request_survives_the_round_trip(request: ApprovalRequest, simulated: bool) -> None:
    msg = approval_to_msg(request, simulated, 5.0)
    back = approval_from_msg(msg)

    assert back is not None
    assert back.since_s == pytest.approx(request.since_s, abs=1e-6)
    for name in ('kind', 'hash', 'title', 'lines', 'reason', 'episode_id', 'timeout_s'):
        assert getattr(back, name) == getattr(request, name)
    assert msg.simulated is simulated
    assert msg.header.stamp.sec == 5


def test_that_nothing_waits_survives_the_round_trip() -> None:
    assert approval_from_msg(approval_to_msg(None, True, 0.0)) is None


@given(texts, answers)
def test_answer_survives_the_round_trip(hash: str, answer: Answer) -> None:
    msg = answer_to_request(hash, answer)

    assert msg.hash == hash
    assert answer_from_request(msg) == answer


def test_who_gives_no_name_is_somebody_and_no_time_out() -> None:
    assert answer_from_request(answer_to_request('a', Answer(granted=True))).by == 'somebody'


@given(st.lists(texts, min_size=1, max_size=4), st.integers(0, 1000), st.integers(-1, 3))
def test_plan_that_was_told_names_the_same_plan_in_a_goal(
    lines: list[str], revision: int, step: int
) -> None:
    told = Event(1.0, PlanMade(steps=tuple(lines), start=0, revision=revision))

    goal = ExecuteSkill.Goal(plan=event_to_msg(told, 'e').plan[0], step=step)

    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(lines)))
    wanted = Provenance(episode_id='e', revision=revision, plan=plan, step=step)
    found = provenance_from_goal(goal)
    assert found is not None
    assert (found, found.hash) == (wanted, wanted.hash)


def test_goal_without_a_plan_comes_from_nowhere() -> None:
    assert provenance_from_goal(ExecuteSkill.Goal()) is None


@given(requests, answers)
def test_answer_on_record_says_who_and_what(request: ApprovalRequest, answer: Answer) -> None:
    event = approval_event(request, answer, 5.0)
    msg = event_to_msg(event, request.episode_id)

    assert event_from_msg(msg) == event
    assert msg.kind == 'approval'
    assert answer.by in msg.text
    assert ('approved' if answer.granted else 'denied') in msg.text
