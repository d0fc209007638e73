"""Motions that the robot itself plans, and what an idle robot can be told."""

import numpy as np
import pytest

from bbllm.arm import robot_settings as orders
from bbllm.arm.controllers.ptp import (
    INPUT_TEXT,
    REFLEX_TEXT,
    SIZE_TEXT,
    USER_STOP_TEXT,
    PtpGoal,
    PtpPending,
    TargetStatus,
)
from bbllm.arm.driver import Array, RobotMode
from bbllm.arm.robot_settings import Order
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import load_scene
from bbllm.sim.faults import Fault
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation

WAY = np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.2, -0.3])
SLOW = np.full(7, 0.5)


@pytest.fixture
def robot() -> SimulatedRobot:
    """An idle robot over an empty table."""
    robot = SimulatedRobot(Simulation(load_scene('empty_table')))
    robot.deactivate_controllers()
    return robot


def goal(way: Array = WAY, speed: Array = SLOW, tolerance_rad: float = 0.001) -> PtpGoal:
    return PtpGoal(
        position_rad=tuple(FR3.home_rad + way),
        max_velocity_rad_s=tuple(speed),
        tolerance_rad=tolerance_rad,
    )


def begun(robot: SimulatedRobot, wanted: PtpGoal) -> PtpPending:
    pending = robot.move_to(wanted)
    assert not isinstance(pending, str), pending
    return pending


def test_a_motion_ends_at_its_target_within_its_speed_limits(robot: SimulatedRobot) -> None:
    pending = begun(robot, goal())
    assert robot.mode is RobotMode.MOVE
    fastest = np.zeros(7)
    while not pending.done and robot.time_s < 10.0:
        robot.advance(0.02)
        fastest = np.maximum(fastest, np.abs(robot.joint_state().velocity_rad_s))

    assert pending.result.status is TargetStatus.TARGET_REACHED
    assert robot.mode is RobotMode.IDLE
    robot.advance(0.3)
    np.testing.assert_allclose(robot.joint_state().position_rad, FR3.home_rad + WAY, atol=5e-3)
    assert fastest.max() < 0.55
    assert fastest[0] > 0.4  # joint 1 has the longest way, and sets the pace


@pytest.mark.parametrize(
    ('wanted', 'wording'),
    [
        (PtpGoal(position_rad=(0.0,) * 6, max_velocity_rad_s=(1.0,) * 7, tolerance_rad=0.01),
         SIZE_TEXT),
        (goal(speed=np.full(6, 0.5)), INPUT_TEXT),
        (goal(speed=np.zeros(7)), INPUT_TEXT),
        (goal(way=np.full(7, np.nan)), INPUT_TEXT),
    ],
)  # fmt: skip
def test_a_motion_that_makes_no_sense_does_not_begin(
    robot: SimulatedRobot, wanted: PtpGoal, wording: str
) -> None:
    assert robot.move_to(wanted) == wording
    assert robot.mode is RobotMode.IDLE


def test_the_controller_cannot_be_activated_during_a_motion(robot: SimulatedRobot) -> None:
    pending = begun(robot, goal())
    robot.advance(0.2)
    assert not robot.activate_controllers()
    robot.advance(5.0)
    assert pending.done
    assert robot.activate_controllers()


@pytest.mark.parametrize(
    ('fault', 'wording', 'mode'),
    [
        (Fault.REFLEX, REFLEX_TEXT, RobotMode.REFLEX),
        (Fault.USER_STOP, USER_STOP_TEXT, RobotMode.USER_STOPPED),
    ],
)
def test_a_stop_ends_the_motion_with_its_reason_and_is_shown_by_the_robot(
    robot: SimulatedRobot, fault: Fault, wording: str, mode: RobotMode
) -> None:
    pending = begun(robot, goal())
    robot.advance(0.5)
    robot.inject(fault)
    assert (pending.result.status, pending.result.message) == (TargetStatus.ABORTED, wording)
    assert robot.mode is mode
    assert robot.monitor.hardware_active  # no loop of torques was broken
    robot.advance(0.3)
    assert np.abs(robot.joint_state().velocity_rad_s).max() < 1e-2
    assert 'command not possible in the current mode' in str(robot.move_to(goal()))


def test_a_target_beyond_the_joints_limits_is_a_reflex(robot: SimulatedRobot) -> None:
    pending = begun(robot, goal(way=np.array([4.0, 0, 0, 0, 0, 0, 0])))
    assert pending.result.message == REFLEX_TEXT
    assert robot.monitor.errors == ('joint_motion_generator_position_limits_violation',)


def test_a_motion_of_hours_begins_at_once_and_goes_on_without_a_jump(
    robot: SimulatedRobot,
) -> None:
    way = np.array([1.0, 0, 0, 0, 0, 0, 0])
    begun(robot, goal(way=way, speed=np.full(7, 1e-4)))
    last = robot.joint_state().position_rad[0]
    for _ in range(30):
        robot.advance(1.0)
        here = robot.joint_state().position_rad[0]
        assert abs(here - last) < 2e-4
        last = here
    wanted = robot.set_point().position_rad
    np.testing.assert_allclose(robot.joint_state().position_rad, wanted, atol=1e-3)


def column_major(pose: Array) -> list[float]:
    return [float(number) for number in pose.T.ravel()]


ORDERS: tuple[tuple[Order, Order], ...] = (
    (orders.load_order(0.5, (0.0, 0.0, 0.1)), orders.load_order(-0.5, (0.0, 0.0, 0.1))),
    (orders.tcp_order(column_major(np.eye(4))), orders.tcp_order([0.0] * 16)),
    (
        orders.stiffness_frame_order(column_major(np.eye(4))),
        orders.stiffness_frame_order(column_major(2 * np.eye(4))),
    ),
    (orders.joint_stiffness_order([100.0] * 7), orders.joint_stiffness_order([20_000.0] * 7)),
    (orders.cartesian_stiffness_order([100.0] * 6), orders.cartesian_stiffness_order([1.0] * 6)),
    (
        orders.collision_order([5.0] * 13, [10.0] * 13, [10.0] * 13),
        orders.collision_order([5.0] * 13, [0.0] * 13, [10.0] * 13),
    ),
)


@pytest.mark.parametrize(('sound', 'unsound'), ORDERS, ids=lambda order: order.name)
def test_an_idle_robot_takes_what_makes_sense(
    robot: SimulatedRobot, sound: Order, unsound: Order
) -> None:
    assert robot.order(sound) == ''
    refused = robot.order(unsound)
    assert refused == f'libfranka: {unsound.name} command rejected: invalid argument!'


@pytest.mark.parametrize(('sound', 'unsound'), ORDERS, ids=lambda order: order.name)
def test_a_robot_that_is_not_idle_takes_nothing(
    robot: SimulatedRobot, sound: Order, unsound: Order
) -> None:
    robot.activate_controllers()
    assert '("Move")' in robot.order(sound)
    robot.inject(Fault.USER_STOP)
    assert '("User stopped")' in robot.order(sound)
    assert '("User stopped")' in robot.order(unsound)


def test_thresholds_decide_when_the_arm_stops(robot: SimulatedRobot) -> None:
    assert robot.order(orders.collision_order([1.0] * 13, [2.0] * 13, [1000.0] * 13)) == ''
    assert robot.monitor.has_phases
    robot.activate_controllers()
    body = robot.simulation.model.body('fr3_hand').id
    robot.simulation.data.xfrc_applied[body, :3] = (0.0, 0.0, 1.5)
    robot.advance(0.5)
    assert robot.mode is RobotMode.MOVE
    assert robot.monitor.contacts.any()
    robot.simulation.data.xfrc_applied[body, :3] = (0.0, 0.0, 6.0)
    robot.advance(0.5)
    assert robot.mode is RobotMode.REFLEX
