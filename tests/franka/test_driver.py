"""The driver with unmodified libfranka against franka-sim, which checks every command."""

import threading

import numpy as np
import pytest

from bbllm.arm.driver import (
    Amendment,
    Array,
    ContactLimits,
    FingerMove,
    FollowError,
    GoalStatus,
    GraspGoal,
    JointTrajectory,
    RobotMode,
    Tolerances,
)
from bbllm.arm.motion.trajectory import concatenate, joint_move
from bbllm.arm.stop_causes import StopCause, diagnose
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.errors import LostRobotError
from tests.franka.conftest import OBJECT_M

WAY = np.array([0.4, 0.1, -0.2, -0.2, 0.3, 0.2, 0.3])
TOLERANCES = Tolerances()
SCALE = 0.5
"""Share of the limits that motions use."""


def move_by(driver: FrankaDriver, way: Array, scale: float = SCALE) -> JointTrajectory:
    q = driver.set_point()
    assert q is not None
    return joint_move(driver.robot_model, q, q + way, scale=scale)


@pytest.mark.parametrize('sign', [1, -1])
def test_follows_a_trajectory_to_its_end(driver: FrankaDriver, sign: int) -> None:
    move = move_by(driver, sign * WAY)

    result = driver.follow(move, TOLERANCES)

    assert result.status is GoalStatus.SUCCEEDED, result.error_string
    assert driver.joint_state().position_rad == pytest.approx(move.position_rad[-1], abs=0.015)
    assert driver.condition().mode is RobotMode.IDLE
    assert driver.condition().last_errors == ()


def test_brakes_when_it_is_stopped_and_goes_on_from_there(driver: FrankaDriver) -> None:
    there = move_by(driver, 2 * WAY, scale=SCALE)
    threading.Timer(there.duration_s / 2, driver.stop).start()

    assert driver.follow(there, TOLERANCES).status is GoalStatus.CANCELED
    # Nor was the stop a step of the reference, for which the server has reflexes.
    assert driver.condition().able

    q = driver.set_point()
    assert q is not None
    back = joint_move(driver.robot_model, q, there.position_rad[0], scale=SCALE)
    assert driver.follow(back, TOLERANCES).status is GoalStatus.SUCCEEDED


def test_a_condition_ends_a_motion(driver: FrankaDriver) -> None:
    move = move_by(driver, WAY)

    result = driver.follow(move, TOLERANCES, stop_condition=lambda: True)

    assert result.status is GoalStatus.CANCELED
    assert driver.condition().able


def test_a_motion_may_begin_where_the_arm_is_kept_off_its_set_point(driver: FrankaDriver) -> None:
    q = driver.joint_state().position_rad + 0.002
    move = joint_move(driver.robot_model, q, q - WAY / 4, scale=SCALE)

    assert driver.follow(move, TOLERANCES).status is GoalStatus.SUCCEEDED


def test_refuses_a_motion_that_begins_elsewhere(driver: FrankaDriver) -> None:
    q = driver.joint_state().position_rad
    move = joint_move(driver.robot_model, q + 0.2, q, scale=SCALE)

    result = driver.follow(move, TOLERANCES)

    assert result.status is GoalStatus.REJECTED
    assert result.error_code is FollowError.INVALID_GOAL
    assert 'begins 11.5 degrees from where joint' in result.error_string


def test_amends_a_motion_on_the_way(driver: FrankaDriver) -> None:
    first = move_by(driver, WAY / 2, scale=SCALE)
    second = joint_move(
        driver.robot_model, first.position_rad[-1], first.position_rad[0], scale=SCALE
    )
    whole = concatenate(first, second)
    amendment = Amendment(
        at_s=0.0,
        until_s=first.duration_s,
        lasts_s=whole.duration_s,
        make=lambda: whole,
    )

    result, amended = driver.follow_amended(first, TOLERANCES, amendment)

    assert amended
    assert result.status is GoalStatus.SUCCEEDED
    at = driver.joint_state().position_rad
    assert at == pytest.approx(first.position_rad[0], abs=0.015)


def test_moves_arm_and_fingers_together(driver: FrankaDriver) -> None:
    move = move_by(driver, WAY / 4)

    followed, moved = driver.move_both(move, TOLERANCES, FingerMove(width_m=0.08, speed_m_s=0.1))

    assert followed.status is GoalStatus.SUCCEEDED
    assert moved.success
    assert driver.joint_state().width_m == pytest.approx(0.08, abs=0.002)


def test_grasps_what_has_the_width_and_misses_what_has_not(driver: FrankaDriver) -> None:
    assert driver.home_gripper().success

    held = driver.grasp(GraspGoal(OBJECT_M, 0.1, 20.0, 0.005, 0.005))
    assert held.success
    assert held.width_m == pytest.approx(OBJECT_M, abs=0.002)

    assert driver.move_gripper(0.08, 0.1).success
    missed = driver.grasp(GraspGoal(0.02, 0.1, 20.0, 0.005, 0.005))
    assert missed.status is GoalStatus.ABORTED
    assert missed.error == ''


def test_sets_thresholds_and_reports_the_force(driver: FrankaDriver) -> None:
    limits = ContactLimits(
        contact_joint_nm=(20.0,) * 7,
        collision_joint_nm=(30.0,) * 7,
        contact_wrench=(20.0,) * 6,
        collision_wrench=(30.0,) * 6,
    )

    driver.limit_contacts(limits)

    assert driver.contact_limits == limits
    assert driver.vertical_force_n(settled=True) == pytest.approx(0.0, abs=1.0)


def test_recovers_in_the_order_of_the_executor(driver: FrankaDriver) -> None:
    driver.clear_errors()
    driver.activate_hardware()
    driver.activate_broadcasters()
    driver.wait_fresh(1.0)
    driver.activate_controller()

    assert driver.condition().able


def test_a_reflex_is_reported_with_its_error_and_recovered(driver: FrankaDriver) -> None:
    legal = move_by(driver, WAY)
    share = 4.0
    too_fast = JointTrajectory(
        legal.time_s / share,
        legal.position_rad,
        legal.velocity_rad_s * share,
        legal.acceleration_rad_s2 * share**2,
    )

    result = driver.follow(too_fast, TOLERANCES)

    assert result.status is GoalStatus.ABORTED
    assert 'reflex' in result.error_string
    stopped = driver.condition(patience_s=5.0)
    assert not stopped.able
    stop = diagnose(stopped, hardware_was_down=not stopped.hardware_active)
    assert stop.cause is StopCause.MOTION_LIMIT
    assert driver.follow(move_by(driver, WAY / 4), TOLERANCES).status is GoalStatus.REJECTED

    driver.clear_errors()
    driver.wait_fresh(5.0)
    driver.activate_controller()
    assert driver.condition().able
    assert driver.follow(move_by(driver, -WAY / 4), TOLERANCES).status is GoalStatus.SUCCEEDED


def test_connects_anew_after_its_process_was_killed_in_a_motion(driver: FrankaDriver) -> None:
    move = move_by(driver, WAY, scale=0.1)
    process = driver._link._process
    threading.Timer(move.duration_s / 3, process.kill).start()

    with pytest.raises(LostRobotError, match='the next task connects anew'):
        driver.follow(move, TOLERANCES)

    driver.begin()
    # The robot stopped by itself, for lost packets or for the lost connection.
    driver.clear_errors()
    driver.activate_controller()
    assert driver.follow(move_by(driver, -WAY / 4), TOLERANCES).status is GoalStatus.SUCCEEDED
