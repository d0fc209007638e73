"""The gate before the arm, when an episode ends or nothing of it is done for long."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from gates import (
    CALLS,
    CALLS_OF_MODES,
    NO,
    SCENE,
    YES,
    Person,
    ended,
    gate,
    nothing,
    of_plan,
    run,
    scene_of_mode,
)

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest, RequestKind
from bbllm.core.types import Code, SkillCall, Status


def test_a_plan_bears_another_name_when_it_was_forgotten_and_is_asked_for_again() -> None:
    person = Person([YES, YES, YES])
    here = gate(person)

    for episode in ('e', 'f', 'e'):
        assert here.permit(CALLS[0], of_plan(0, episode=episode), nothing) is None

    assert len({request.hash for request in person.asked}) == 3


@pytest.mark.parametrize('mode', list(ApprovalMode))
def test_calls_of_an_episode_that_has_ended_are_refused_and_those_of_no_other(
    mode: ApprovalMode,
) -> None:
    person = Person([YES] * 4)
    here = gate(person, mode.value)
    run(here, 0)

    here.end_episode('f')
    assert run(here, 1) is None
    asked = len(person.asked)
    here.end_episode('e')
    refusal = run(here, 2)

    assert refusal is not None
    assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert refusal.message == 'return_to_base() was not tried: its episode has ended.'
    assert len(person.asked) == asked
    assert here.permit(SkillCall('wait', ('2',)), of_plan(0, episode='g'), nothing) is None


@pytest.mark.parametrize(('mode', 'call', 'why'), CALLS_OF_MODES)
def test_a_yes_does_nothing_for_an_episode_that_has_ended_meanwhile(
    mode: str, call: SkillCall, why: str
) -> None:
    asked: list[RequestKind] = []

    def person(request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        asked.append(request.kind)
        if request.kind is RequestKind.CALL:
            here.end_episode('e')
        return YES if asked.count(RequestKind.CALL) < 2 else NO

    here = ApprovalGate(person, lambda: scene_of_mode(mode), mode=ApprovalMode(mode))
    refusal = here.permit(call, of_plan(0), nothing)

    assert refusal is not None
    assert refusal.message.endswith('its episode has ended.')
    assert asked.count(RequestKind.CALL) == 1


def test_a_yes_to_a_plan_does_nothing_when_its_episode_has_ended_meanwhile() -> None:
    asked: list[RequestKind] = []

    def person(request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        asked.append(request.kind)
        here.end_episode('e')
        return YES if len(asked) == 1 else NO

    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN)
    refusals = [run(here, 0), run(here, 0)]

    assert {refusal and refusal.message for refusal in refusals} == {
        'pick(red_cube) was not tried: its episode has ended.'
    }
    assert asked == [RequestKind.PLAN]


def test_an_episode_that_begins_anew_under_its_old_id_is_asked_for_anew() -> None:
    person = Person([YES, YES])
    here = gate(person)
    run(here, 0)
    here.end_episode('e')

    here.ended.begin('e')

    assert run(here, 1) is None
    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
    assert person.asked[1].reason == 'its episode has ended since it was approved'
    assert person.asked[0].hash != person.asked[1].hash


@pytest.mark.parametrize(('idle_s', 'asked'), [(299.0, 1), (301.0, 2)])
def test_what_was_approved_ends_when_nothing_of_it_is_done_for_long(
    idle_s: float, asked: int
) -> None:
    person = Person([YES, YES])
    clock = [0.0]
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, clock=lambda: clock[0])

    for step in range(2):
        run(here, step)
        clock[0] += idle_s if step else 250.0
    run(here, 2)

    assert len(person.asked) == asked
    assert person.asked[-1].reason == ('' if asked == 1 else 'nothing of it was done for 300 s')


def test_a_long_call_that_needs_nobody_keeps_its_plan_alive() -> None:
    person = Person([YES])
    clock = [0.0]
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, clock=lambda: clock[0])
    run(here, 0)

    for _ in range(3):
        here.begin(of_plan(1))
        clock[0] += 200.0
        here.settle(ended(SkillCall('wait', ('60',)), Status.SUCCEEDED))

    assert run(here, 2) is None
    assert len(person.asked) == 1
