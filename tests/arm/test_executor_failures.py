"""What the executor says when a grasp, a motion or a hand does not do what it should."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kinematic_arm import (
    DEACTIVATED,
    PICK_RED,
    REFUSED,
    KinematicArm,
    cube,
    executor_on,
    location,
    place,
    run,
)

from bbllm.arm.driver import FollowError, FollowResult, GoalStatus, GripperResult
from bbllm.arm.kinematics import forward
from bbllm.core.types import Code, SkillCall, Status


def test_fingers_that_close_on_nothing_say_so_and_the_arm_rises() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.grip_result = GripperResult(status=GoalStatus.ABORTED, success=False, width_m=0.0)

    results = run(arm, PICK_RED)

    assert results == [
        (
            Status.FAILED,
            Code.GRASP_FAILED,
            'grasp of red_cube failed: fingers closed on nothing.',
        )
    ]
    assert forward(arm.q)[2, 3] > 0.1
    assert arm.width_m > 0.06


def test_fingers_that_stop_at_another_width_say_both_widths() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.grip_result = GripperResult(status=GoalStatus.ABORTED, success=False, width_m=0.021)

    [(_, code, message)] = run(arm, PICK_RED)

    assert code is Code.GRASP_FAILED
    assert '2.1 cm' in message
    assert '4.0 cm' in message


def test_a_hand_that_breaks_is_not_a_missed_grasp() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.grip_result = GripperResult(
        status=GoalStatus.ABORTED, error='libfranka gripper: Command failed!', width_m=0.05
    )

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GRIPPER_FAILED
    assert outcome.raw == 'libfranka gripper: Command failed!'


def test_a_cube_that_slips_while_it_is_lifted_is_noticed() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.slips_after = 3  # transit, descent, ascent

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.GRASP_FAILED)
    assert 'red_cube is not in the hand' in message


def test_a_cube_that_is_lost_on_the_way_is_noticed_before_the_descent() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_A', 0.5, -0.2))
    arm.slips_after = 4

    results = run(arm, PICK_RED, place('location_A'))

    assert results[1] == (
        Status.FAILED, Code.OBJECT_LOST, 'red_cube was lost on the way to location_A.',
    )  # fmt: skip
    assert len(arm.sent) == 4


def test_a_cube_that_comes_to_rest_elsewhere_is_misplaced_by_so_much() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_A', 0.5, -0.2))
    arm.drop_offset_m = (0.032, 0.0)

    results = run(arm, PICK_RED, place('location_A'))

    assert results[1] == (
        Status.FAILED, Code.MISPLACED, 'red_cube came to rest 3.2 cm from location_A.',
    )  # fmt: skip


@pytest.mark.parametrize(
    ('reply', 'code'),
    [
        (FollowResult(status=GoalStatus.REJECTED), Code.GOAL_REJECTED),
        (
            FollowResult(
                status=GoalStatus.ABORTED,
                error_code=FollowError.PATH_TOLERANCE_VIOLATED,
                error_string='Aborted due to path tolerance violation',
            ),
            Code.PATH_TOLERANCE,
        ),
        (
            FollowResult(
                status=GoalStatus.ABORTED,
                error_code=FollowError.GOAL_TOLERANCE_VIOLATED,
                error_string='Aborted due to goal_time_tolerance exceeding by 1.0 seconds',
            ),
            Code.GOAL_TOLERANCE,
        ),
        (replace(DEACTIVATED, error_string='preempted'), Code.CONTROLLER_ABORTED),
        (DEACTIVATED, Code.REFLEX),
        (FollowResult(status=GoalStatus.TIMED_OUT, error_string='no result'), Code.TIMEOUT),
        (FollowResult(status=GoalStatus.ENDLESS, error_string='no result'), Code.TIMEOUT),
        (FollowResult(status=GoalStatus.CANCELED), Code.CANCELLED),
    ],
)
def test_every_ending_of_a_goal_has_its_code_and_keeps_the_controllers_text(
    reply: FollowResult, code: Code
) -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [reply]

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, code)
    assert outcome.raw == reply.error_string
    assert 'moving above red_cube' in outcome.message


def test_a_goal_that_does_not_even_end_when_cancelled_is_told_from_one_that_does() -> None:
    messages = []
    for status in (GoalStatus.TIMED_OUT, GoalStatus.ENDLESS):
        arm = KinematicArm(cube('red_cube', 0.45, 0.15))
        arm.replies = [FollowResult(status=status)]
        messages.append(executor_on(arm).execute(PICK_RED).message)

    assert messages == [
        'the controller did not finish in time while moving above red_cube; its goal was '
        'cancelled.',
        'the controller did not finish in time while moving above red_cube; its goal did not '
        'even end when it was cancelled, so the driver may hang.',
    ]


def test_a_refused_motion_of_a_robot_that_is_well_is_not_sent_again() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [REFUSED]

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GOAL_REJECTED
    assert (arm.recoveries, len(arm.sent)) == (0, 1)


def test_a_hand_that_does_not_stay_closed_says_so() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.grip_result = GripperResult(status=GoalStatus.ABORTED, width_m=0.08)

    outcome = executor_on(arm).execute(SkillCall('close_gripper'))

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.GRASP_FAILED)
    assert '8.0 cm apart' in outcome.message


def test_a_goal_that_succeeds_elsewhere_is_not_believed() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.on_follow = lambda: setattr(arm, 'error_rad', 0.05)

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.GOAL_TOLERANCE
    assert '2.9 degrees' in outcome.message
