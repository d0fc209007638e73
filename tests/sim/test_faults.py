"""Reflex, user stop, lost communication: how they show, and the way back."""

from typing import Any

import numpy as np
import pytest

from bbllm.arm.controllers.manager import JOINT_BROADCASTER, STATE_BROADCASTER, LifeCycle
from bbllm.arm.controllers.trajectory import DEACTIVATED_TEXT
from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal
from bbllm.arm.driver import GoalStatus, GraspGoal
from bbllm.sim.faults import Fault, FaultMonitor, RobotMode
from bbllm.sim.robot import SimulatedRobot
from tests.sim.robot_trials import bring_back


def test_recovery_takes_its_three_steps_in_order(
    robot: SimulatedRobot, turn: TrajectoryGoal
) -> None:
    robot.inject(Fault.REFLEX)
    robot.advance(0.1)
    assert not robot.activate_controllers()
    assert robot.recover_errors() is None
    assert robot.mode is RobotMode.IDLE
    assert not robot.activate_controllers()
    assert robot.activate_hardware()
    assert robot.activate_controllers()
    assert robot.mode is RobotMode.MOVE
    pending = robot.follow(turn)
    robot.advance(2.2)
    assert pending.result.status is GoalStatus.SUCCEEDED


@pytest.mark.parametrize(
    ('fault', 'error', 'refusal'),
    [
        (Fault.REFLEX, ('cartesian_reflex',), ''),
        (Fault.USER_STOP, (), 'User Stop pressed'),
        (Fault.COMMUNICATION_LOSS, ('communication_constraints_violation',), 'Timeout'),
        (
            Fault.JOINT_LIMIT,
            ('joint_position_limits_violation',),
            'manual error recovery required',
        ),
    ],
)
def test_every_stop_in_mid_motion_takes_all_down_until_it_is_over_and_recovered_from(
    robot: SimulatedRobot, turn: TrajectoryGoal, fault: Fault, error: tuple[str, ...], refusal: str
) -> None:
    pending = robot.follow(turn)
    robot.advance(1.0)
    moving = np.abs(robot.joint_state().velocity_rad_s).max()

    robot.inject(fault)

    assert moving > 0.1
    assert pending.result.error_string == DEACTIVATED_TEXT
    assert set(robot.controllers.states.values()) == {LifeCycle.INACTIVE}
    assert robot.controllers.component is LifeCycle.UNCONFIGURED
    assert not robot.monitor.hardware_active
    robot.advance(0.3)
    assert np.abs(robot.joint_state().velocity_rad_s).max() < 1e-2
    if refusal:
        assert refusal in (robot.recover_errors() or '')
        assert not robot.activate_controllers()
    robot.clear(fault)
    bring_back(robot)
    assert (robot.monitor.errors, robot.monitor.last_errors) == ((), error)
    assert robot.mode is RobotMode.MOVE


def test_a_user_stop_while_idle_leaves_hardware_and_broadcasters_up(
    robot: SimulatedRobot,
) -> None:
    robot.deactivate_controllers()
    assert robot.mode is RobotMode.IDLE

    robot.inject(Fault.USER_STOP)

    assert robot.mode is RobotMode.USER_STOPPED
    assert robot.controllers.component is LifeCycle.ACTIVE
    assert robot.controllers.is_active(STATE_BROADCASTER)
    assert not robot.activate_controllers()
    robot.clear(Fault.USER_STOP)
    assert robot.recover_errors() is None
    assert robot.activate_controllers()


def test_a_reset_brings_everything_back_and_is_reported_as_a_change(
    robot: SimulatedRobot, turn: TrajectoryGoal
) -> None:
    pending = robot.follow(turn)
    robot.inject(Fault.JOINT_LIMIT)
    revision = robot.controllers.revision

    robot.reset()

    assert pending.done
    assert robot.mode is RobotMode.MOVE
    assert set(robot.controllers.states.values()) == {LifeCycle.ACTIVE}
    assert robot.controllers.revision > revision


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


def test_a_held_payload_of_two_kilograms_is_no_reflex(make_arm: Any) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0], 'mass': 2.0})
    arm.go(0.5, 0.0, 0.02)
    assert arm.driver.grasp(GraspGoal(0.04, 0.1, 70.0, 0.005, 0.005)).success
    arm.go(0.5, 0.0, 0.15)
    assert arm.robot.mode is RobotMode.MOVE


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
    arm.robot.monitor.upper = [1e-6] * 13
    arm.robot.advance(0.1)
    assert arm.robot.mode is RobotMode.IDLE


def test_a_short_bump_below_the_threshold_is_filtered_out() -> None:
    monitor = FaultMonitor()
    push = np.array([0, 0, 60.0, 0, 0, 0])
    assert not monitor.watch(0.01, np.zeros(7), push)  # 60 N for 10 ms
    assert not monitor.watch(0.01, np.zeros(7), np.zeros(6))
    assert not monitor.watch(0.01, np.zeros(7), push)
    assert monitor.watch(0.01, np.zeros(7), push)  # for 20 ms
    assert monitor.errors == ('cartesian_reflex',)


def test_broadcasters_come_up_while_the_robot_is_stopped_but_the_arm_does_not(
    robot: SimulatedRobot,
) -> None:
    robot.inject(Fault.USER_STOP)
    assert robot.activate_hardware()

    assert robot.switch_controllers((JOINT_BROADCASTER, STATE_BROADCASTER), ()).ok

    assert robot.mode is RobotMode.USER_STOPPED
    assert not robot.activate_controllers()
    assert not robot.controllers_active
