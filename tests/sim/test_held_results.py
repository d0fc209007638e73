"""Faults that hold results back: a driver that hangs, and goals that do not end."""

from __future__ import annotations

import numpy as np
import pytest

from bbllm.arm.driver import GoalStatus
from bbllm.sim.controllers.trajectory_goal import TrajectoryGoal
from bbllm.sim.faults import Fault
from bbllm.sim.robot import SimulatedRobot


def test_joint_states_freeze_while_the_driver_hangs(
    robot: SimulatedRobot, turn: TrajectoryGoal
) -> None:
    pending = robot.follow(turn)
    robot.advance(0.5)
    robot.inject(Fault.DRIVER_HANG)
    frozen = robot.joint_state()
    robot.advance(5.0)
    assert robot.joint_state().stamp_s == frozen.stamp_s
    assert np.array_equal(robot.joint_state().position_rad, frozen.position_rad)
    assert not pending.done
    robot.clear(Fault.DRIVER_HANG)
    robot.advance(0.1)
    assert robot.joint_state().stamp_s == pytest.approx(robot.time_s)
    assert pending.done


def test_an_endless_goal_ends_when_the_fault_is_cleared(
    robot: SimulatedRobot, turn: TrajectoryGoal
) -> None:
    pending = robot.follow(turn)
    robot.inject(Fault.ENDLESS_GOAL)
    robot.advance(6.0)
    assert not pending.done
    robot.clear(Fault.ENDLESS_GOAL)
    robot.advance(0.1)
    assert pending.done


def test_two_faults_that_hold_results_back_are_cleared_one_by_one(
    robot: SimulatedRobot, turn: TrajectoryGoal
) -> None:
    pending = robot.follow(turn)
    robot.inject(Fault.ENDLESS_GOAL)
    robot.inject(Fault.DRIVER_HANG)
    assert robot.hangs
    robot.advance(3.0)
    robot.clear(Fault.DRIVER_HANG)
    robot.advance(0.1)
    assert not robot.hangs
    assert not pending.done
    robot.clear(Fault.ENDLESS_GOAL)
    robot.advance(0.1)
    assert pending.done


def test_a_goal_under_way_becomes_endless_and_can_still_be_cancelled(
    robot: SimulatedRobot, turn: TrajectoryGoal
) -> None:
    pending = robot.follow(turn)
    robot.advance(1.0)
    robot.inject(Fault.ENDLESS_GOAL)
    robot.advance(5.0)
    assert not pending.done
    robot.cancel_follow()
    assert pending.result is not None
    assert pending.result.status is GoalStatus.CANCELED
