"""How a lift begins, and what happens where the thing does not come along."""

from __future__ import annotations

import numpy as np
import pytest
from kinematic_arm import DEACTIVATED, PICK_RED, KinematicArm, cube, executor_on, run

from bbllm.arm.driver import FollowError, FollowResult, GoalStatus, GripperResult
from bbllm.arm.kinematics import forward
from bbllm.core.types import Code, Status

FIXED = (
    'red_cube did not rise: the lift took more than 10 N, as it does of what is fixed to the '
    'table or weighs about 1 kg or more'
)
UNFELT = (
    'red_cube was not lifted, as nobody would notice if it is fixed: the robot has stopped '
    'telling the force at its hand. With its state broadcaster active and the arm away from a '
    'singularity it would be lifted; the hand has let go of it.'
)
DONE = (Status.SUCCEEDED, Code.NONE, '')


def heights(arm: KinematicArm) -> list[float]:
    """Return where each motion ended [m]."""
    return [float(forward(sent.position_rad[-1])[2, 3]) for sent in arm.sent]


def arm_that_feels(lift_takes_n: float) -> KinematicArm:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))
    arm.lift_takes_n = lift_takes_n
    return arm


@pytest.mark.parametrize('hears_late', [False, True])
def test_what_does_not_rise_is_let_go_of_and_the_arm_goes_up_without_it(hears_late: bool) -> None:
    arm = arm_that_feels(12.0)
    arm.hears_late = hears_late

    assert run(arm, PICK_RED) == [
        (Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}; the hand has let go of it.')
    ]

    assert arm.held is None
    assert arm.width_m > 0.04
    assert len(arm.sent) == 4  # over, down, the first bit of the lift, up without it
    assert heights(arm)[3] == pytest.approx(heights(arm)[1] + 0.08, abs=2e-3)
    assert arm.recoveries == 0


def test_what_rises_is_lifted_gently_at_first_and_then_all_the_way() -> None:
    arm = arm_that_feels(9.0)

    assert run(arm, PICK_RED) == [DONE]

    over, down, first, up = heights(arm)
    assert 1e-4 < first - down < 1e-3
    assert up == pytest.approx(over, abs=1e-4)
    np.testing.assert_array_equal(arm.sent[2].position_rad[-1], arm.sent[3].position_rad[0])
    assert arm.held == 'red_cube'


@pytest.mark.parametrize(
    ('motions', 'sent'), [(2, 3), (3, 4)], ids=['before the lift', 'on its first bit']
)
def test_a_force_that_is_not_told_any_more_ends_the_lift_and_the_hand_lets_go(
    motions: int, sent: int
) -> None:
    arm = arm_that_feels(12.0)
    arm.force_told_until = motions

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.TIMEOUT)
    assert message == UNFELT
    assert arm.held is None
    assert len(arm.sent) == sent
    assert heights(arm)[-1] == pytest.approx(heights(arm)[1] + 0.08, abs=2e-3)


def test_a_robot_whose_stop_silenced_the_force_is_recovered_and_lifts() -> None:
    arm = arm_that_feels(9.0)
    grasp = arm.grasp

    def stop_then(*asked: float) -> GripperResult:
        result = grasp(*asked)
        arm.down = True
        return result

    arm.grasp = stop_then  # type: ignore[method-assign]

    assert run(arm, PICK_RED) == [DONE]

    assert arm.recoveries == 1
    assert arm.held == 'red_cube'
    assert len(arm.sent) == 4


def aborted(error: FollowError) -> FollowResult:
    return FollowResult(status=GoalStatus.ABORTED, error_code=error, error_string='aborted')


HELD_BACK = [
    aborted(FollowError.PATH_TOLERANCE_VIOLATED),
    aborted(FollowError.GOAL_TOLERANCE_VIOLATED),
]
TIMED_OUT = FollowResult(status=GoalStatus.TIMED_OUT, error_string='no result')


@pytest.mark.parametrize('hears_late', [False, True])
@pytest.mark.parametrize('reply', [*HELD_BACK, TIMED_OUT])
def test_what_is_felt_not_to_rise_is_told_so_however_the_first_bit_of_its_lift_fails(
    reply: FollowResult, hears_late: bool
) -> None:
    arm = arm_that_feels(12.0)
    arm.hears_late = hears_late
    arm.cut_reply = reply
    arm.on_follow = lambda: arm.replies.append(reply) if len(arm.sent) == 3 else None

    assert run(arm, PICK_RED) == [
        (Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}; the hand has let go of it.')
    ]

    assert arm.held is None
    assert len(arm.sent) == 4


def test_what_is_felt_not_to_rise_is_told_so_where_the_arm_does_not_get_to_its_goal() -> None:
    arm = arm_that_feels(12.0)
    arm.hears_late = True
    arm.on_follow = lambda: setattr(arm, 'error_rad', 0.05 if len(arm.sent) == 3 else 0.0)

    [(_, code, _)] = run(arm, PICK_RED)

    assert code is Code.WOULD_NOT_RISE
    assert arm.held is None


@pytest.mark.parametrize('feels_n', [9.0, None])
@pytest.mark.parametrize('reply', HELD_BACK)
def test_an_arm_that_is_held_back_on_a_lift_lets_go_before_it_rises(
    reply: FollowResult, feels_n: float | None
) -> None:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))
    arm.lift_takes_n = feels_n
    arm.on_follow = lambda: arm.replies.append(reply) if len(arm.sent) == 3 else None

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code.name) == (Status.FAILED, reply.error_code.name.removesuffix('_VIOLATED'))
    assert message.endswith('; the hand has let go of it.')
    assert arm.held is None
    assert arm.position('red_cube') == pytest.approx((0.5, 0.1, 0.02))
    assert len(arm.sent) == 4


def test_a_lift_that_the_controller_gives_up_is_not_gone_on_with_out_of_the_way() -> None:
    arm = arm_that_feels(9.0)
    reply = aborted(FollowError.INVALID_GOAL)
    arm.on_follow = lambda: arm.replies.append(reply) if len(arm.sent) == 3 else None

    [(status, code, _)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.CONTROLLER_ABORTED)
    assert arm.held == 'red_cube'
    assert len(arm.sent) == 3


def test_where_nobody_feels_the_force_a_lift_is_one_motion() -> None:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))

    assert run(arm, PICK_RED) == [DONE]

    assert len(arm.sent) == 3


def test_a_hand_that_does_not_open_is_not_said_to_have_let_go() -> None:
    arm = arm_that_feels(12.0)

    def stick() -> None:
        if len(arm.sent) == 3:
            arm.move_gripper = stuck  # type: ignore[method-assign]

    arm.on_follow = stick

    assert run(arm, PICK_RED) == [(Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}.')]

    assert arm.held == 'red_cube'
    assert len(arm.sent) == 3  # what is held fast is not pulled at again


def test_a_person_who_stops_the_lift_is_heard_first() -> None:
    arm = arm_that_feels(12.0)
    executor = executor_on(arm)
    arm.on_follow = lambda: executor.stop() if len(arm.sent) == 3 else None

    outcome = executor.execute(PICK_RED)

    assert (outcome.code, outcome.message) == (
        Code.CANCELLED, 'the robot was stopped while lifting red_cube.',
    )  # fmt: skip
    assert arm.held == 'red_cube'


def test_a_reflex_on_the_first_bit_of_a_lift_is_told_as_one() -> None:
    arm = arm_that_feels(9.0)
    succeeded = arm.replies
    arm.on_follow = lambda: succeeded.append(DEACTIVATED) if len(arm.sent) == 3 else None

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.REFLEX)
    assert 'while lifting red_cube' in message


def stuck(width_m: float, speed_m_s: float) -> GripperResult:
    return GripperResult(status=GoalStatus.ABORTED, error='it is stuck', width_m=0.04)
