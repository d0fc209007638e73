"""The arm driver in one process: goals, stops, and faults that suppress results."""

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import (
    Amendment,
    FingerMove,
    GoalStatus,
    GraspGoal,
    JointTrajectory,
    RecoveryError,
    RobotMode,
    Tolerances,
)
from bbllm.arm.execution.recovery import Recovery
from bbllm.arm.failures import SkillError
from bbllm.arm.motion.trajectory import amended
from bbllm.arm.stop_causes import StopCause
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError
from bbllm.robots.fr3 import FR3
from bbllm.sim.driver import SimDriver
from bbllm.sim.faults import Fault
from bbllm.sim.robot import SimulatedRobot
from tests.sim.robot_trials import TURNED, Motion


def test_a_motion_ends_where_and_when_it_should(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    result = driver.follow(rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances())
    assert result.status is GoalStatus.SUCCEEDED
    assert driver.now_s() == pytest.approx(1.5, abs=0.006)
    assert driver.joint_state().position_rad == pytest.approx(TURNED, abs=1e-3)
    assert driver.joint_state().stamp_s == pytest.approx(driver.now_s())


def test_a_motion_that_is_blocked_violates_its_path_tolerance(make_arm: Any) -> None:
    arm = make_arm()
    # No reflex, so that the controller itself must notice.
    arm.robot.monitor.upper = arm.robot.monitor.upper_accelerating = [1e9] * 13
    arm.go(0.5, 0.0, 0.05)
    result = arm.go(0.5, 0.0, -0.2, duration_s=0.8)
    assert result.status is GoalStatus.ABORTED
    assert result.error_string == 'Aborted due to path tolerance violation'


def test_a_goal_that_never_ends_is_cancelled(robot: SimulatedRobot, rest_to_rest: Motion) -> None:
    driver = SimDriver(robot)
    robot.inject(Fault.ENDLESS_GOAL)
    result = driver.follow(rest_to_rest(FR3.home_rad, TURNED, 1.0), Tolerances())
    assert result.status is GoalStatus.TIMED_OUT
    assert 'no result within' in result.error_string
    assert driver.now_s() < 6.0
    robot.clear(Fault.ENDLESS_GOAL)
    back = rest_to_rest(driver.joint_state().position_rad, FR3.home_rad, 1.0)
    assert driver.follow(back, Tolerances()).status is GoalStatus.SUCCEEDED


def test_a_driver_that_hangs_is_an_error_in_a_motion_and_in_a_wait(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    robot.inject(Fault.DRIVER_HANG)
    with pytest.raises(LostNodeError, match='simulated driver hangs: its joint states'):
        driver.follow(rest_to_rest(FR3.home_rad, TURNED, 30.0), Tolerances())
    assert driver.now_s() < 4.0
    with pytest.raises(LostNodeError, match='simulated driver hangs'):
        driver.wait(30.0)
    robot.clear(Fault.DRIVER_HANG)
    driver.wait(0.1)
    assert driver.joint_state().stamp_s == pytest.approx(driver.now_s())


def recover(driver: SimDriver, *, allowed: bool = False) -> StopCause:
    """Recover as the executor does."""
    recovery = Recovery(driver, lambda what, look: allowed, lambda _: None)
    return recovery.run('testing', CancelToken()).cause


def test_a_reflex_is_reported_and_recovered_from(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.0)
    robot.inject(Fault.REFLEX)
    assert driver.follow(motion, Tolerances()).status is GoalStatus.REJECTED
    assert not driver.condition().able
    assert recover(driver) is StopCause.REFLEX
    assert driver.condition().able
    assert driver.follow(motion, Tolerances()).status is GoalStatus.SUCCEEDED


@pytest.mark.parametrize(
    ('fault', 'cause', 'wording'),
    [
        (Fault.USER_STOP, StopCause.USER_STOP, 'User Stop pressed'),
        (Fault.COMMUNICATION_LOSS, StopCause.COMMUNICATION_LOSS, 'UDP receive: Timeout'),
        (Fault.JOINT_LIMIT, StopCause.JOINT_LIMIT, 'manual error recovery required'),
    ],
)
def test_what_needs_a_person_is_refused_until_it_is_taken_back(
    robot: SimulatedRobot, rest_to_rest: Motion, fault: Fault, cause: StopCause, wording: str
) -> None:
    driver = SimDriver(robot)
    robot.inject(fault)
    with pytest.raises(RecoveryError, match=wording):
        driver.clear_errors()
    with pytest.raises(SkillError, match='stays stopped'):
        recover(driver)
    robot.clear(fault)
    assert recover(driver, allowed=True) is cause
    assert driver.condition().mode is RobotMode.MOVE
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.0)
    assert driver.follow(motion, Tolerances()).status is GoalStatus.SUCCEEDED


def test_commands_from_other_threads_get_through_while_time_passes(robot: SimulatedRobot) -> None:
    asked: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            asked.append(robot.joint_state().stamp_s)
            time.sleep(0.001)

    thread = threading.Thread(target=ask)
    thread.start()
    robot.advance(10.0)
    done.set()
    thread.join(timeout=5.0)
    assert not thread.is_alive()
    assert len(set(asked)) >= 5
    assert asked == sorted(asked)


def test_stop_from_a_callback_ends_the_motion_at_rest_within_a_fifth_of_a_second(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver: SimDriver
    stopped_s = []

    def stop_half_way() -> None:
        if robot.time_s >= 0.5 and not stopped_s:
            stopped_s.append(robot.time_s)
            driver.stop()

    driver = SimDriver(robot, on_advance=stop_half_way)
    result = driver.follow(rest_to_rest(FR3.home_rad, TURNED, 1.0), Tolerances())
    assert result.status is GoalStatus.CANCELED
    assert driver.now_s() - stopped_s[0] <= 0.2
    assert np.abs(driver.joint_state().velocity_rad_s).max() < 0.01
    held = driver.joint_state().position_rad
    driver.wait(1.0)
    assert driver.joint_state().position_rad == pytest.approx(held, abs=1e-3)


@pytest.fixture
def arm(make_arm: Any) -> Any:
    """Return an arm that has gripped a cube on the table."""
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0]})
    arm.go(0.5, 0.0, 0.02)
    arm.driver.grasp(GraspGoal(0.04, 0.1, 40.0, 0.005, 0.005))
    return arm


def test_stop_in_mid_carry_holds_what_it_holds(arm: Any) -> None:
    arm.go(0.5, 0.0, 0.15)
    before = arm.in_hand['it']
    start_s = arm.driver.now_s()
    stopping = SimDriver(
        arm.robot, on_advance=lambda: stopping.stop() if arm.robot.time_s > start_s + 0.3 else None
    )
    arm.driver = stopping
    assert arm.go(0.5, 0.3, 0.15, duration_s=0.8).status is GoalStatus.CANCELED
    arm.driver = SimDriver(arm.robot)
    arm.driver.wait(1.0)
    assert np.linalg.norm(arm.in_hand['it'] - before) < 1e-3


@pytest.mark.parametrize('grips', [False, True])
def test_fingers_that_cross_a_stop_of_the_robot_go_no_further(
    robot: SimulatedRobot, grips: bool
) -> None:
    driver = SimDriver(robot, on_advance=lambda: stop_after(robot, 0.3))

    result = (
        driver.grasp(GraspGoal(0.04, 0.1, 40.0, 0.04, 0.04))
        if grips
        else driver.move_gripper(0.0, 0.1)
    )

    assert result.status is GoalStatus.CANCELED
    assert 0.03 < result.width_m < 0.07
    before_m = driver.joint_state().width_m
    SimDriver(robot).wait(1.0)
    assert driver.joint_state().width_m == pytest.approx(before_m, abs=1e-3)


def stop_after(robot: SimulatedRobot, time_s: float) -> None:
    """Press the user stop once it is so late."""
    if robot.time_s > time_s and robot.mode is not RobotMode.USER_STOPPED:
        robot.inject(Fault.USER_STOP)


def test_a_grip_that_is_made_again_in_the_air_when_the_robot_stops_drops_nothing(arm: Any) -> None:
    arm.go(0.5, 0.0, 0.15)
    before = arm.in_hand['it']
    start_s = arm.driver.now_s()
    driver = SimDriver(arm.robot, on_advance=lambda: stop_after(arm.robot, start_s + 0.03))

    result = driver.grasp(GraspGoal(0.035, 0.1, 40.0, 0.005, 0.01))

    assert arm.robot.mode is RobotMode.USER_STOPPED
    assert result.success
    driver.wait(1.0)
    assert np.linalg.norm(arm.in_hand['it'] - before) < 1e-3


def test_fingers_that_let_go_when_the_robot_stops_stay_half_open(arm: Any) -> None:
    start_s = arm.driver.now_s()
    driver = SimDriver(arm.robot, on_advance=lambda: stop_after(arm.robot, start_s + 0.15))

    result = driver.move_gripper(0.08, 0.1)

    assert result.status is GoalStatus.CANCELED
    assert 0.04 < result.width_m < 0.075


def test_stop_ends_a_wait_early_and_not_the_next_one(robot: SimulatedRobot) -> None:
    driver = SimDriver(
        robot, on_advance=lambda: driver.stop() if robot.time_s == pytest.approx(0.1) else None
    )
    driver.wait(5.0)
    assert driver.now_s() == pytest.approx(0.1)
    driver.wait(1.0)
    assert driver.now_s() == pytest.approx(1.1)


def test_stop_between_two_motions_ends_the_next_unless_a_new_call_begins(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.0)
    driver.stop()
    driver.stop()
    assert driver.follow(motion, Tolerances()).status is GoalStatus.CANCELED
    driver.stop()
    driver.begin()
    assert driver.follow(motion, Tolerances()).status is GoalStatus.SUCCEEDED


CLOSING = FingerMove(width_m=0.03, speed_m_s=0.1)


def test_fingers_move_while_the_arm_does(robot: SimulatedRobot, rest_to_rest: Motion) -> None:
    driver = SimDriver(robot)
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.5)

    followed, moved = driver.move_both(motion, Tolerances(), CLOSING)

    assert (followed.status, moved.status) == (GoalStatus.SUCCEEDED, GoalStatus.SUCCEEDED)
    assert driver.now_s() == pytest.approx(1.5, abs=0.05)
    assert driver.joint_state().width_m == pytest.approx(0.03, abs=1e-3)


def test_fingers_that_take_longer_than_the_arm_are_waited_for(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    slow = FingerMove(width_m=0.03, speed_m_s=0.02)

    followed, moved = driver.move_both(rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances(), slow)

    assert (followed.status, moved.success) == (GoalStatus.SUCCEEDED, True)
    assert driver.now_s() == pytest.approx(2.5, abs=0.1)


def test_stop_ends_both_motions(robot: SimulatedRobot, rest_to_rest: Motion) -> None:
    driver = SimDriver(robot, on_advance=lambda: driver.stop() if robot.time_s > 0.25 else None)

    followed, moved = driver.move_both(
        rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances(), CLOSING
    )

    assert (followed.status, moved.status) == (GoalStatus.CANCELED, GoalStatus.CANCELED)
    assert 0.04 < driver.joint_state().width_m < 0.07


def test_fingers_go_no_further_where_a_stop_of_the_robot_ends_the_arms_motion(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot, on_advance=lambda: stop_after(robot, 0.25))

    followed, moved = driver.move_both(
        rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances(), CLOSING
    )

    assert (followed.status, moved.status) == (GoalStatus.ABORTED, GoalStatus.CANCELED)
    SimDriver(robot).wait(1.0)
    assert 0.04 < driver.joint_state().width_m < 0.07


def test_fingers_stay_where_the_arms_motion_is_rejected(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    robot.inject(Fault.REFLEX)

    followed, moved = driver.move_both(
        rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances(), CLOSING
    )

    assert (followed.status, moved.status) == (GoalStatus.REJECTED, GoalStatus.REJECTED)
    assert not moved.begun
    driver.wait(0.5)
    assert driver.joint_state().width_m == pytest.approx(0.08, abs=1e-3)


@pytest.mark.parametrize('fails', [False, True])
def test_arm_is_stopped_where_the_fingers_have_not_arrived_in_time(
    robot: SimulatedRobot, rest_to_rest: Motion, fails: bool
) -> None:
    driver = SimDriver(robot)
    if fails:
        robot.inject(Fault.GRIPPER_FAIL)
    fingers = FingerMove(width_m=0.03, speed_m_s=0.02, due_s=1.0)

    followed, moved = driver.move_both(
        rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances(), fingers
    )

    assert followed.status is GoalStatus.CANCELED
    assert moved.status is (GoalStatus.ABORTED if fails else GoalStatus.TIMED_OUT)
    assert np.abs(driver.joint_state().velocity_rad_s).max() < 0.01
    assert 1.0 <= driver.now_s() < 1.3


def test_arm_goes_on_where_fingers_that_are_not_due_fail(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    robot.inject(Fault.GRIPPER_FAIL)

    followed, moved = driver.move_both(
        rest_to_rest(FR3.home_rad, TURNED, 1.5), Tolerances(), CLOSING
    )

    assert followed.status is GoalStatus.SUCCEEDED
    assert (moved.status, moved.success) == (GoalStatus.ABORTED, False)


SHIFT_RAD = np.array([0.02] * 7)


def to_be_amended(motion: JointTrajectory, after_s: float = 0.6) -> Amendment:
    """Shift the end of a motion, from a time on."""
    whole = amended(motion, SHIFT_RAD, after_s, 0.9 * motion.duration_s)
    return Amendment(
        at_s=after_s - 0.04, until_s=after_s, lasts_s=motion.duration_s, make=lambda: whole
    )


def test_a_motion_that_is_amended_ends_at_the_new_goal(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.5)

    result, was_amended = driver.follow_amended(motion, Tolerances(), to_be_amended(motion))

    assert (result.status, was_amended) == (GoalStatus.SUCCEEDED, True)
    assert driver.now_s() == pytest.approx(1.5, abs=0.05)
    assert robot.set_point().position_rad == pytest.approx(TURNED + SHIFT_RAD, abs=1e-9)


@pytest.mark.parametrize('reason', ['none', 'too late', 'refused'])
def test_a_motion_whose_amendment_fails_ends_where_it_would_have(
    reason: str, robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot)
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.5)
    amendment = to_be_amended(motion)

    def make() -> JointTrajectory | None:
        if reason == 'too late':
            robot.advance(0.1)
        whole = amendment.make()
        assert whole is not None
        endless = replace(whole, velocity_rad_s=whole.velocity_rad_s + 0.1)
        return {'none': None, 'too late': whole, 'refused': endless}[reason]

    result, was_amended = driver.follow_amended(
        motion, Tolerances(), replace(amendment, make=make)
    )

    assert (result.status, was_amended) == (GoalStatus.SUCCEEDED, False)
    assert robot.set_point().position_rad == pytest.approx(TURNED, abs=1e-9)


def test_stop_in_the_amended_part_brakes_within_the_limits(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    stopped: list[float] = []
    accelerations = []

    def stop_after() -> None:
        if robot.time_s >= 0.8 and not stopped:
            stopped.append(robot.time_s)
            driver.stop()
        accelerations.append(robot.set_point().acceleration_rad_s2)

    driver = SimDriver(robot, on_advance=stop_after)
    motion = rest_to_rest(FR3.home_rad, TURNED, 1.5)

    result, was_amended = driver.follow_amended(motion, Tolerances(), to_be_amended(motion))

    assert (result.status, was_amended) == (GoalStatus.CANCELED, True)
    assert np.abs(driver.joint_state().velocity_rad_s).max() < 0.01
    assert (np.abs(accelerations) <= FR3.limits.acceleration_rad_s2 + 1e-6).all()
    assert np.abs(np.diff(accelerations, axis=0)).max() <= FR3.limits.jerk_rad_s3.min() * 0.02
