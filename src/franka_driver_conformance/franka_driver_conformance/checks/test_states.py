"""States: what the driver publishes of joints, hand and robot while nothing happens."""

import math
from typing import Any

import numpy as np
import pytest
from control_msgs.msg import JointTrajectoryControllerState
from franka_msgs.msg import FrankaRobotState
from sensor_msgs.msg import JointState

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import Record, close, rounded
from franka_driver_conformance.manager import ROBOT_STATE, STATE
from franka_driver_conformance.motions import ARM_JOINTS, in_order, seconds

FINGERS = ('fr3_finger_joint1', 'fr3_finger_joint2')
SAME_RAD = 0.01
MAX_WIDTH_M = 0.085
STILL_RAD_S = 0.05


@pytest.fixture
def state(driver: DriverClient) -> Any:
    return driver.receive(FrankaRobotState, ROBOT_STATE)


@pytest.fixture
def arm_joints(driver: DriverClient) -> JointState:
    return driver.receive(JointState, 'franka/joint_states')


@pytest.fixture
def hand_joints(driver: DriverClient) -> JointState:
    return driver.receive(JointState, f'{driver.gripper}/joint_states')


@pytest.fixture
def controller_state(driver: DriverClient) -> Any:
    topic = f'{driver.controller}/controller_state'
    return driver.receive(JointTrajectoryControllerState, topic)


def test_arm_joint_states_name_the_seven_joints(arm_joints: JointState) -> None:
    assert sorted(arm_joints.name) == sorted(ARM_JOINTS)
    for what in ('position', 'velocity', 'effort'):
        assert len(getattr(arm_joints, what)) == 7, what


def test_stamps_of_joint_states_grow(driver: DriverClient) -> None:
    with driver.probe(JointState, 'franka/joint_states') as probe:
        stamps = [seconds(probe.next(driver.patience_s).header.stamp) for _ in range(5)]
    assert min(np.diff(stamps)) > 0
    assert stamps[0] > 0


def test_joint_states_agree_with_the_arm(
    driver: DriverClient, arm_joints: JointState, record_property: Record
) -> None:
    arm = in_order(arm_joints)
    whole = in_order(driver.receive(JointState, 'joint_states'))
    assert list(whole.position) == close(arm.position, SAME_RAD)
    record_property('position', rounded(arm.position))


def test_controller_state_is_complete(controller_state: Any) -> None:
    assert list(controller_state.joint_names) == list(ARM_JOINTS)
    for name in (
        *('reference.positions', 'reference.velocities', 'reference.accelerations'),
        *('feedback.positions', 'feedback.velocities', 'error.positions', 'error.velocities'),
        'output.effort',
    ):
        part, field = name.split('.')
        assert len(getattr(getattr(controller_state, part), field)) == 7, name
    assert controller_state.speed_scaling_factor == 1.0


def test_controller_error_is_reference_less_feedback(controller_state: Any) -> None:
    reference, feedback = controller_state.reference, controller_state.feedback
    wanted = np.subtract(reference.positions, feedback.positions)
    assert list(controller_state.error.positions) == close(wanted, 1e-6)


@pytest.mark.hand
def test_hand_joint_states_are_two_equal_halves(
    hand_joints: JointState, record_property: Record
) -> None:
    assert tuple(hand_joints.name) == FINGERS
    assert hand_joints.position[1] == hand_joints.position[0]
    width_m = sum(hand_joints.position)
    assert -0.001 <= width_m <= MAX_WIDTH_M
    record_property('width', round(width_m, 4))


@pytest.mark.hand
def test_hand_joint_states_have_no_velocity_or_effort(hand_joints: JointState) -> None:
    assert list(hand_joints.velocity) == [0.0, 0.0]
    assert list(hand_joints.effort) == [0.0, 0.0]


@pytest.mark.hand
def test_joint_states_contain_the_fingers(driver: DriverClient, record_property: Record) -> None:
    names = driver.receive(JointState, 'joint_states').name
    assert sorted(names) == sorted((*ARM_JOINTS, *FINGERS))
    record_property('names', list(names))


def test_robot_state_names_its_joints(state: Any) -> None:
    for part in (
        'measured_joint_state',
        'desired_joint_state',
        'measured_joint_motor_state',
        'tau_ext_hat_filtered',
    ):
        joints = getattr(state, part)
        assert list(joints.name) == list(ARM_JOINTS), part
        lengths = [len(joints.position), len(joints.velocity), len(joints.effort)]
        assert lengths == [7, 7, 7], part


def test_robot_state_agrees_with_joint_states(state: Any, arm_joints: JointState) -> None:
    measured = list(state.measured_joint_state.position)
    assert measured == close(in_order(arm_joints).position, SAME_RAD)


def test_external_torques_are_efforts(state: Any, record_property: Record) -> None:
    torques = state.tau_ext_hat_filtered
    assert list(torques.position) == [0.0] * 7
    assert list(torques.velocity) == [0.0] * 7
    record_property('torques', rounded(torques.effort))


def test_arm_that_is_held_by_a_controller_is_in_move(state: Any) -> None:
    assert state.robot_mode == FrankaRobotState.ROBOT_MODE_MOVE


def test_healthy_robot_has_no_errors(state: Any) -> None:
    names = list(state.current_errors.get_fields_and_field_types())
    assert len(names) == 36
    assert [name for name in names if getattr(state.current_errors, name)] == []
    assert list(state.collision_indicators.is_joint_collision) == [0.0] * 7


def test_robot_time_passes(driver: DriverClient, record_property: Record) -> None:
    with driver.probe(FrankaRobotState, ROBOT_STATE) as probe:
        first, second = probe.next(driver.patience_s), probe.next(driver.patience_s)
    assert second.time > first.time
    assert 0 <= second.control_command_success_rate <= 1
    record_property('success_rate', round(second.control_command_success_rate, 3))


def test_total_mass_is_tool_and_load(state: Any, record_property: Record) -> None:
    tool_kg, load_kg = state.inertia_ee.inertia.m, state.inertia_load.inertia.m
    assert [state.inertia_total.inertia.m] == close([tool_kg + load_kg], 1e-3)
    assert tool_kg > 0
    record_property('mass', {'tool': round(tool_kg, 3), 'load': round(load_kg, 3)})


def test_convenience_topics_repeat_robot_state(
    driver: DriverClient, state: Any, record_property: Record
) -> None:
    for topic, part, field, tolerance in (
        ('measured_joint_states', state.measured_joint_state, 'position', SAME_RAD),
        ('desired_joint_states', state.desired_joint_state, 'position', SAME_RAD),
        ('external_joint_torques', state.tau_ext_hat_filtered, 'effort', 2.0),
    ):
        message = driver.receive(JointState, f'{STATE}/{topic}')
        assert list(message.name) == list(part.name), topic
        values = getattr(message, field)
        assert list(values) == close(getattr(part, field), tolerance), topic
        record_property(topic, rounded(values))


def test_robot_that_stands_is_still(state: Any) -> None:
    speeds = state.measured_joint_state.velocity
    assert not any(map(math.isnan, speeds))
    assert max(map(abs, speeds)) < STILL_RAD_S
