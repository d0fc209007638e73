"""The gate before the arm in the modes other than plan."""

from __future__ import annotations

import pytest
from gates import CALLS, HELD, NO, YES, Person, ended, gate, nothing, of_plan, run

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import ApprovalMode, RequestKind
from bbllm.core.types import Code, Scene, SkillCall, Status


def test_in_mode_none_nobody_is_asked_and_nothing_is_looked_at() -> None:
    def observe() -> Scene:
        raise AssertionError('the scene was asked for')

    here = ApprovalGate(Person(), observe, mode=ApprovalMode.NONE)

    assert all(here.permit(call, None, nothing) is None for call in CALLS)


def test_in_mode_step_every_call_is_asked_for_with_or_without_a_plan() -> None:
    person = Person([YES, NO, YES, YES])
    here = gate(person, 'step')

    assert run(here, 0) is None
    assert run(here, 0) is not None
    assert here.permit(SkillCall('wait', ('2',)), None, nothing) is None
    assert here.permit(CALLS[2], None, nothing) is None

    assert person.kinds == [RequestKind.CALL] * 4
    assert len({request.hash for request in person.asked}) == 4


def test_in_mode_risky_only_risks_are_asked_for_and_the_reason_is_told() -> None:
    person = Person([NO])
    here = gate(person, 'risky', HELD)

    assert here.permit(SkillCall('place', ('location_A',)), None, nothing) is None
    refusal = here.permit(SkillCall('place', ('blue_cube',)), None, nothing)

    assert refusal is not None
    assert refusal.code is Code.NOT_APPROVED
    assert [request.reason for request in person.asked] == ['it puts red_cube on top of blue_cube']


@pytest.mark.parametrize('code', [Code.REFLEX, Code.USER_STOP, Code.JOINT_LIMIT])
def test_in_mode_risky_all_is_risky_after_a_stop_until_the_episode_ends(code: Code) -> None:
    person = Person([YES, YES])
    here = gate(person, 'risky')

    assert here.permit(CALLS[2], of_plan(2), nothing) is None
    here.settle(ended(CALLS[2], Status.FAILED, code))
    assert here.permit(CALLS[2], of_plan(2), nothing) is None
    assert here.permit(CALLS[2], None, nothing) is None
    assert here.permit(CALLS[2], of_plan(2, revision=1), nothing) is None
    assert here.permit(CALLS[2], of_plan(2, episode='f'), nothing) is None

    assert [request.reason for request in person.asked] == [
        'the robot had stopped in this episode'
    ] * 2
