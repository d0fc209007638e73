"""The arm's seam in one process when it is stopped, by a client or by the robot's own stop."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from robot_trials import TURNED, Motion

from bbllm.arm.driver import GoalStatus, RobotMode, Tolerances
from bbllm.arm.limits import Q_READY
from bbllm.sim.driver import SimDriver
from bbllm.sim.faults import Fault
from bbllm.sim.robot import SimulatedRobot


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
    result = driver.follow(rest_to_rest(Q_READY, TURNED, 1.0), Tolerances())
    assert result.status is GoalStatus.CANCELED
    assert driver.now_s() - stopped_s[0] <= 0.2
    assert np.abs(driver.joint_state().velocity_rad_s).max() < 0.01
    held = driver.joint_state().position_rad
    driver.wait(1.0)
    assert driver.joint_state().position_rad == pytest.approx(held, abs=1e-3)


def test_stop_in_mid_carry_holds_what_it_holds(make_arm: Any) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0]})
    arm.go(0.5, 0.0, 0.02)
    arm.driver.grasp(0.04, 0.1, 40.0, 0.005, 0.005)
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

    result = driver.grasp(0.04, 0.1, 40.0, 0.04, 0.04) if grips else driver.move_gripper(0.0, 0.1)

    assert result.status is GoalStatus.CANCELED
    assert 0.03 < result.width_m < 0.07
    before_m = driver.joint_state().width_m
    SimDriver(robot).wait(1.0)
    assert driver.joint_state().width_m == pytest.approx(before_m, abs=1e-3)


def stop_after(robot: SimulatedRobot, time_s: float) -> None:
    """Press the user stop once it is so late."""
    if robot.time_s > time_s and robot.mode is not RobotMode.USER_STOPPED:
        robot.inject(Fault.USER_STOP)


def test_a_grip_that_is_made_again_in_the_air_when_the_robot_stops_drops_nothing(
    make_arm: Any,
) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0]})
    arm.go(0.5, 0.0, 0.02)
    arm.driver.grasp(0.04, 0.1, 40.0, 0.005, 0.005)
    arm.go(0.5, 0.0, 0.15)
    before = arm.in_hand['it']
    start_s = arm.driver.now_s()
    driver = SimDriver(arm.robot, on_advance=lambda: stop_after(arm.robot, start_s + 0.03))

    result = driver.grasp(0.035, 0.1, 40.0, 0.005, 0.01)

    assert arm.robot.mode is RobotMode.USER_STOPPED
    assert result.success
    driver.wait(1.0)
    assert np.linalg.norm(arm.in_hand['it'] - before) < 1e-3


def test_fingers_that_let_go_when_the_robot_stops_stay_half_open(make_arm: Any) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0]})
    arm.go(0.5, 0.0, 0.02)
    arm.driver.grasp(0.04, 0.1, 40.0, 0.005, 0.005)
    start_s = arm.driver.now_s()
    driver = SimDriver(arm.robot, on_advance=lambda: stop_after(arm.robot, start_s + 0.15))

    result = driver.move_gripper(0.08, 0.1)

    assert result.status is GoalStatus.CANCELED
    assert 0.04 < result.width_m < 0.075


def test_stop_from_another_thread_ends_the_motion(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    driver = SimDriver(robot, speed=1.0)
    timer = threading.Timer(0.3, driver.stop)
    timer.start()
    result = driver.follow(rest_to_rest(Q_READY, TURNED, 20.0), Tolerances())
    timer.join()
    assert result.status is GoalStatus.CANCELED
    assert driver.now_s() < 10.0


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
    motion = rest_to_rest(Q_READY, TURNED, 1.0)
    driver.stop()
    driver.stop()
    assert driver.follow(motion, Tolerances()).status is GoalStatus.CANCELED
    driver.stop()
    driver.begin()
    assert driver.follow(motion, Tolerances()).status is GoalStatus.SUCCEEDED


def test_stop_ends_a_command_of_the_hand(robot: SimulatedRobot) -> None:
    driver = SimDriver(robot, on_advance=lambda: driver.stop() if robot.time_s > 0.3 else None)
    result = driver.move_gripper(0.0, 0.04)
    assert result.status is GoalStatus.CANCELED
    assert 0.05 < driver.joint_state().width_m < 0.075


def test_a_stop_ends_a_wait_early(robot: SimulatedRobot) -> None:
    driver = SimDriver(
        robot,
        on_advance=lambda: robot.inject(Fault.REFLEX) if robot.time_s > 0.3 else None,
    )
    driver.wait(5.0)
    assert driver.now_s() < 0.5
