"""Reflexes of the simulated arm: what contact and torque trip one, and what does not."""

from __future__ import annotations

from typing import Any

import numpy as np
from robot_trials import Motion, bring_back

from bbllm.arm.driver import GoalStatus, Tolerances
from bbllm.arm.limits import Q_READY
from bbllm.sim.controllers.trajectory import DEACTIVATED_TEXT
from bbllm.sim.controllers.trajectory_goal import goal_from_trajectory
from bbllm.sim.faults import FaultMonitor, RobotMode
from bbllm.sim.robot import SimulatedRobot


def test_driving_into_the_table_is_a_reflex(make_arm: Any) -> None:
    arm = make_arm()
    arm.go(0.5, 0.0, 0.10)
    result = arm.go(0.5, 0.0, -0.05, duration_s=0.8)
    assert result.status is GoalStatus.ABORTED
    assert result.error_string == DEACTIVATED_TEXT
    assert arm.robot.mode is RobotMode.REFLEX
    assert set(arm.robot.monitor.last_errors) <= {'cartesian_reflex', 'joint_reflex'}
    bring_back(arm.robot)
    up = arm.driver.joint_state().position_rad
    arm.q = up.copy()
    assert arm.go(0.5, 0.0, 0.20, duration_s=1.5).status is GoalStatus.SUCCEEDED


def test_fast_motions_in_the_air_are_no_reflex(
    robot: SimulatedRobot, rest_to_rest: Motion
) -> None:
    end = Q_READY + np.array([0.8, 0.4, -0.4, 0.4, 0.5, 0.5, -0.9])
    for start, goal in ((Q_READY, end), (end, Q_READY)):
        robot.follow(goal_from_trajectory(rest_to_rest(start, goal, 0.75), Tolerances()))
        robot.advance(1.0)
    assert robot.mode is RobotMode.MOVE


def test_a_held_payload_of_two_kilograms_is_no_reflex(make_arm: Any) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0], 'mass': 2.0})
    arm.go(0.5, 0.0, 0.02)
    assert arm.driver.grasp(0.04, 0.1, 70.0, 0.005, 0.005).success
    arm.go(0.5, 0.0, 0.15)
    assert arm.robot.mode is RobotMode.MOVE


def test_a_short_bump_below_the_threshold_is_filtered_out() -> None:
    monitor = FaultMonitor()
    push = np.array([0, 0, 60.0, 0, 0, 0])
    assert not monitor.watch(0.01, np.zeros(7), push)  # 60 N for 10 ms
    assert not monitor.watch(0.01, np.zeros(7), np.zeros(6))
    assert not monitor.watch(0.01, np.zeros(7), push)
    assert monitor.watch(0.01, np.zeros(7), push)  # for 20 ms
    assert monitor.errors == ('cartesian_reflex',)


def test_a_torque_above_its_joint_s_threshold_is_a_joint_reflex() -> None:
    monitor = FaultMonitor()
    torque = np.array([0, 0, 0, 0, 0, 0, 26.0])
    tripped = [monitor.watch(0.01, torque, np.zeros(6)) for _ in range(10)]
    assert tripped.count(True) == 1  # told once
    assert monitor.errors == ('joint_reflex',)


def test_an_idle_arm_has_no_reflexes(make_arm: Any) -> None:
    arm = make_arm()
    arm.go(0.5, 0.0, 0.10)
    arm.robot.deactivate_controllers()
    arm.robot.monitor.upper[:] = 1e-6
    arm.robot.advance(0.1)
    assert arm.robot.mode is RobotMode.IDLE
