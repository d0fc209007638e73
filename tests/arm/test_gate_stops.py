"""The gate before the arm, after a stop: whose yes still holds, and who is asked again."""

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
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest, RequestKind, plan_hash
from bbllm.core.types import Code, Scene, SkillCall, Status


def test_question_about_a_stopped_robot_bears_the_episode_whose_call_finds_it_so() -> None:
    person = Person([YES, NO])
    here = gate(person)
    run(here, 0)

    here.begin(of_plan(0, episode='f'))
    here.resume('the user stop was pressed.', nothing)

    assert [request.episode_id for request in person.asked] == ['e', 'f']


@pytest.mark.parametrize('code', [Code.USER_STOP, Code.NEEDS_PERSON])
def test_after_a_user_stop_the_same_plan_is_asked_for_again(code: Code) -> None:
    person = Person([YES, YES])
    here = gate(person)
    run(here, 0)
    here.permit(CALLS[1], of_plan(1), nothing)
    here.settle(ended(CALLS[1], Status.FAILED, code))

    run(here, 2)

    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
    assert person.asked[1].reason == 'the robot was stopped since it was approved'


def test_a_person_is_asked_before_a_robot_that_stopped_goes_on_and_permits_are_gone() -> None:
    person = Person([YES, YES, NO, YES])
    here = gate(person)
    run(here, 0)

    assert here.resume('the user stop was pressed.', nothing) is True
    assert here.resume('the user stop was pressed.', nothing) is False
    run(here, 1)

    assert person.kinds == [
        RequestKind.PLAN,
        RequestKind.RESUME,
        RequestKind.RESUME,
        RequestKind.PLAN,
    ]
    assert person.asked[1].lines == ('the user stop was pressed.',)
    assert person.asked[1].hash != person.asked[2].hash


@pytest.mark.parametrize('mode', list(ApprovalMode))
def test_in_every_mode_a_person_says_whether_a_stopped_robot_goes_on(mode: ApprovalMode) -> None:
    person = Person([NO])

    assert gate(person, mode.value).resume('communication was lost.', nothing) is False
    assert person.kinds == [RequestKind.RESUME]


def test_after_a_stop_between_two_calls_that_others_recovered_the_plan_is_asked_for_again() -> (
    None
):
    person = Person([YES, YES])
    stops = [1]
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, stops=lambda: stops[0])
    run(here, 0)

    stops[0] += 1
    allowed = [run(here, 1), run(here, 2)]

    assert allowed == [None, None]
    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
    assert person.asked[1].reason == 'the robot was stopped since it was approved'


def test_a_yes_to_a_question_during_which_the_robot_was_stopped_is_asked_for_again() -> None:
    stops = [0]
    asked = []

    def person(request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        asked.append(request.reason)
        stops[0] += len(asked) == 1
        return YES if len(asked) == 1 else NO

    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, stops=lambda: stops[0])

    assert run(here, 0) is not None
    assert asked == ['', 'the robot was stopped since it was approved']


class StoppedWhileAsked:
    """A person who allows plans and a call; while that is allowed, the robot is stopped."""

    def __init__(self, mode: str, *, again: Answer) -> None:
        self.asked: list[ApprovalRequest] = []
        """About calls."""
        self._again = again
        self._stops = 0
        self.gate = ApprovalGate(
            self._answer,
            lambda: scene_of_mode(mode),
            mode=ApprovalMode(mode),
            stops=lambda: self._stops,
        )

    def _answer(self, request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        if request.kind is not RequestKind.CALL:
            return YES
        self.asked.append(request)
        if len(self.asked) > 1:
            return self._again
        self._stops += 1
        return YES


@pytest.mark.parametrize(('mode', 'call', 'why'), CALLS_OF_MODES)
def test_a_yes_to_a_call_during_which_the_robot_was_stopped_is_asked_for_again(
    mode: str, call: SkillCall, why: str
) -> None:
    person = StoppedWhileAsked(mode, again=NO)

    refusal = person.gate.permit(call, of_plan(0), nothing)

    assert refusal is not None
    assert refusal.code is Code.NOT_APPROVED
    stopped = 'the robot was stopped since it was approved'
    first, second = person.asked
    assert [first.reason, second.reason] == [why, f'{stopped}; {why}' if why else stopped]
    assert first.hash != second.hash


@pytest.mark.parametrize(('mode', 'call', 'why'), CALLS_OF_MODES)
def test_a_call_that_is_allowed_again_after_a_stop_is_permitted(
    mode: str, call: SkillCall, why: str
) -> None:
    person = StoppedWhileAsked(mode, again=YES)

    assert person.gate.permit(call, of_plan(0), nothing) is None
    assert len(person.asked) == 2


def test_a_call_is_asked_for_where_the_robot_was_stopped_while_the_scene_was_waited_for() -> None:
    person = Person([YES, NO])
    stops = [0]

    def observe() -> Scene:
        stops[0] += 1
        return SCENE

    here = ApprovalGate(person, observe, mode=ApprovalMode.PLAN, stops=lambda: stops[0])

    assert run(here, 0) is not None
    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL]
    assert person.asked[1].reason == 'the robot was stopped since it was approved'


def test_a_plan_that_is_asked_for_once_more_bears_another_name() -> None:
    person = Person([YES, YES, YES, YES])
    here = gate(person)

    run(here, 0)
    here.revoke('the robot was stopped')
    run(here, 1)
    here.revoke('the robot was stopped')
    run(here, 2)
    run(here, 0, revision=1)

    hashes = [request.hash for request in person.asked]
    assert hashes[0] == plan_hash('e', 0, of_plan(0).plan)
    assert hashes[3] == plan_hash('e', 1, of_plan(0).plan)
    assert len(set(hashes)) == 4


def test_what_is_taken_back_while_it_is_asked_for_is_not_granted_by_a_yes() -> None:
    asked: list[str] = []

    def person(request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        asked.append(request.reason)
        if len(asked) == 1:
            here.revoke('brain_planner has gone since it was approved')
        return YES if len(asked) == 1 else NO

    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN)

    assert run(here, 0) is not None
    assert asked == ['', 'brain_planner has gone since it was approved']


def test_a_user_stop_does_not_lift_a_denial() -> None:
    person = Person([NO])
    here = gate(person)
    run(here, 0)

    here.revoke('the robot was stopped')

    assert run(here, 0) is not None
    assert len(person.asked) == 1
