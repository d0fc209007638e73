"""The executor on a robot that stops: what is sent again, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kinematic_arm import DEACTIVATED, PICK_RED, SUCCESS, KinematicArm, cube, executor_on

from bbllm.arm.driver import FollowResult, GoalStatus, GripperResult
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.core.errors import SceneError
from bbllm.core.types import Code, Scene, SkillCall, Status


def test_a_reflex_is_recovered_from_and_told_and_the_arm_is_raised() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [SUCCESS, DEACTIVATED]

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.REFLEX)
    assert outcome.message == (
        'a reflex stopped the arm while lowering the hand: it met more force than it may '
        '(too heavy, fixed, or a collision).'
    )
    assert outcome.raw == DEACTIVATED.error_string
    assert (arm.recoveries, len(arm.sent)) == (1, 3)


def test_what_was_too_heavy_to_lift_is_not_lifted_again_at_once() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.replies = [SUCCESS, SUCCESS, DEACTIVATED]

    outcome = executor_on(arm).execute(PICK_RED)

    assert (outcome.code, len(arm.sent)) == (Code.REFLEX, 3)


def test_a_third_stop_needs_a_person_unless_a_call_has_succeeded_in_between() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    executor = executor_on(arm)

    def pick_with(*replies: FollowResult) -> Code:
        arm.replies = list(replies)
        return executor.execute(PICK_RED).code

    codes = [
        pick_with(DEACTIVATED, DEACTIVATED),  # a reflex on the way there and one in the rise
        pick_with(),
        pick_with(),  # refused, as it is in the hand; nothing moved
    ]
    executor.execute(SkillCall('open_gripper'))
    codes += [pick_with(DEACTIVATED, DEACTIVATED), pick_with(DEACTIVATED), pick_with()]

    assert codes == [
        Code.REFLEX, Code.NONE, Code.ALREADY_HOLDING, Code.REFLEX, Code.NEEDS_PERSON,
        Code.NEEDS_PERSON,
    ]  # fmt: skip
    assert arm.recoveries == 4


def test_a_call_that_moved_nothing_does_not_let_the_count_begin_anew() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    executor = executor_on(arm)

    codes = []
    for _ in range(2):
        arm.replies = [DEACTIVATED, DEACTIVATED]
        codes.append(executor.execute(PICK_RED).code)
        codes.append(executor.execute(SkillCall('wait', ('1',))).code)

    assert codes == [Code.REFLEX, Code.NONE, Code.NEEDS_PERSON, Code.NEEDS_PERSON]


def test_a_robot_that_stopped_at_rest_is_recovered_before_the_scene_is_looked_at() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.down = True
    observe = arm.observe

    def see_only_while_up() -> Scene:
        if arm.down:
            raise SceneError('The scene is stale: the robot is stopped.')
        return observe()

    outcome = SkillExecutor(arm, see_only_while_up).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert (arm.recoveries, len(arm.sent)) == (1, 3)


def test_a_robot_that_stops_while_the_scene_is_looked_at_is_recovered_and_looked_at_again() -> (
    None
):
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    looks = []

    def stop_at_the_first_look() -> Scene:
        looks.append(arm.down)
        if len(looks) == 1:
            arm.down = True
            raise SceneError('The scene is stale: the robot is stopped.')
        return arm.observe()

    outcome = SkillExecutor(arm, stop_at_the_first_look).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert arm.recoveries == 1


def test_a_motion_that_is_refused_because_the_robot_has_just_stopped_is_sent_again() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    def stop_once() -> None:
        arm.down = len(arm.sent) == 1

    arm.on_follow = stop_once

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert arm.recoveries == 1
    assert arm.sent[0] is arm.sent[1]


def test_a_motion_whose_start_the_arm_has_left_in_a_stop_is_not_begun() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    def stop_and_push() -> None:
        arm.down = len(arm.sent) == 1
        arm.q = arm.q + 0.05 * arm.down

    arm.on_follow = stop_and_push

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.code is Code.CONTROLLER_ABORTED
    assert 'has moved meanwhile' in outcome.message
    assert len(arm.sent) == 2  # the one that was refused, and the rise


def test_no_goal_of_arm_or_hand_is_sent_while_the_robot_is_stopped() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    arm.recovers = False
    executor = executor_on(arm)

    def stop_after_the_descent() -> None:
        arm.down = len(arm.sent) == 2

    arm.on_follow = stop_after_the_descent
    sent_by_hand = []
    outcomes = []
    for call in (PICK_RED, SkillCall('open_gripper'), SkillCall('return_to_base'), PICK_RED):
        outcomes.append(executor.execute(call))
        sent_by_hand.append(arm.hand_commands)

    assert [outcome.code for outcome in outcomes] == [Code.NEEDS_PERSON] * 4
    assert all(outcome.status is Status.FAILED for outcome in outcomes)
    assert (len(arm.sent), sent_by_hand) == (2, [1, 1, 1, 1])  # the hand was opened before


def test_a_stop_that_comes_while_the_hand_closes_is_recovered_from_before_the_arm_moves() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    grasp = arm.grasp

    def stop_in_the_grasp(*args: float) -> GripperResult:
        arm.down = True
        return grasp(*args)

    arm.grasp = stop_in_the_grasp  # type: ignore[method-assign]  # of this arm only

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert (arm.recoveries, len(arm.sent)) == (1, 3)


def test_a_goal_of_the_hand_that_a_stop_kept_from_being_sent_is_sent_after_the_recovery() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    grasp = arm.grasp

    def kept_back(*args: float) -> GripperResult:
        arm.grasp = grasp  # type: ignore[method-assign]  # of this arm only
        arm.down = True
        return GripperResult(status=GoalStatus.REJECTED)

    arm.grasp = kept_back  # type: ignore[method-assign]  # of this arm only

    outcome = executor_on(arm).execute(PICK_RED)

    assert outcome.succeeded, outcome.message
    assert (arm.recoveries, arm.hand_commands) == (1, 2)  # opened, and closed once


def test_a_wait_closes_no_hand_that_was_cut_off_and_the_next_call_that_moves_does() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    grasp = arm.grasp

    def cut(*args: float) -> GripperResult:
        return replace(grasp(*args), status=GoalStatus.CANCELED, success=False)

    arm.grasp = cut  # type: ignore[method-assign]  # of this arm only
    executor = executor_on(arm)
    assert executor.execute(PICK_RED).code is Code.CANCELLED
    arm.grasp = grasp  # type: ignore[method-assign]  # of this arm only

    before = arm.hand_commands

    assert executor.execute(SkillCall('wait', ('1',))).succeeded
    assert arm.hand_commands == before

    assert executor.execute(SkillCall('return_to_base')).succeeded
    assert arm.hand_commands == before + 1
    assert 'closing the hand on red_cube again' in arm.activities


def test_a_stop_in_a_wait_is_recovered_from_and_the_wait_goes_on_to_its_end() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    def stop_half_way(duration_s: float) -> None:
        first = not arm.recoveries
        arm.clock_s += duration_s / 2 if first else duration_s
        arm.down = first

    arm.wait = stop_half_way  # type: ignore[method-assign]  # of this arm only

    outcome = executor_on(arm).execute(SkillCall('wait', ('2',)))

    assert outcome.succeeded
    assert outcome.duration_s == pytest.approx(2.0)
    assert arm.recoveries == 1
