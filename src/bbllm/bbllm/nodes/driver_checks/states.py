"""What the driver says of joints, robot and frames while nothing happens."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from franka_msgs.msg import FrankaRobotState
from sensor_msgs.msg import JointState

from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.driver_checks.check import (
    Evidence,
    Need,
    Theme,
    expect,
    expect_close,
    expect_equal,
    rounded,
)
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.manager import STATE
from bbllm.nodes.driver_checks.motions import in_order, seconds

ARM = Theme(title='joint states', need=Need.NOTHING)
HAND = Theme(title='joint states of the hand', need=Need.NOTHING, hand=True)
ROBOT = Theme(title='robot state', need=Need.NOTHING)
FINGERS = ('fr3_finger_joint1', 'fr3_finger_joint2')
SAME_RAD = 0.01
"""Two topics of a robot that stands agree within this [rad]."""
MAX_WIDTH_M = 0.085
"""Wider than any homing has found a Franka hand [m]."""
STILL_RAD_S = 0.05


@ARM.check('fr 1.5; joint_state_broadcaster.cpp')
def arm_joint_states_name_the_seven_joints(driver: DriverClient) -> Evidence:
    """franka/joint_states carries position, velocity and effort of the arm's seven joints only."""
    state = driver.hear(JointState, 'franka/joint_states')
    expect_equal('the joints', sorted(state.name), sorted(ARM_JOINTS))
    for what in ('position', 'velocity', 'effort'):
        expect_equal(f'the length of {what}', len(getattr(state, what)), 7)
    return {'names': list(state.name)}


@ARM.check('fr 1.5; joint_state_broadcaster.cpp')
def stamps_of_joint_states_grow(driver: DriverClient) -> Evidence:
    """Every message of franka/joint_states is stamped later than the one before."""
    with driver.listen(JointState, 'franka/joint_states') as ear:
        stamps = [seconds(ear.next(driver.patience_s).header.stamp) for _ in range(5)]
    steps = [after - before for before, after in zip(stamps, stamps[1:], strict=False)]
    expect(min(steps) > 0, 'growing stamps', rounded(steps))
    expect(stamps[0] > 0, 'stamps that are set', stamps[0])
    return {'messages': len(stamps)}


@ARM.check('fr 0.6, 1.5; franka.launch.py (joint_state_publisher)')
def joint_states_agree_with_the_arm(driver: DriverClient) -> Evidence:
    """joint_states has the arm's joints where franka/joint_states has them."""
    arm = in_order(driver.hear(JointState, 'franka/joint_states'))
    whole = in_order(driver.hear(JointState, 'joint_states'))
    expect_close('positions', whole.position, arm.position, SAME_RAD)
    return {'position': rounded(arm.position)}


@ARM.check('fr 1.7; joint_trajectory_controller.cpp publish_state')
def controller_state_is_complete(driver: DriverClient) -> Evidence:
    """controller_state has reference, feedback and error of all joints, and output efforts."""
    state = driver.hear(JointTrajectoryControllerState, f'{driver.controller}/controller_state')
    expect_equal('the joints', list(state.joint_names), list(ARM_JOINTS))
    sizes = {
        f'{part}.{field}': len(getattr(getattr(state, part), field))
        for part, fields in (
            ('reference', ('positions', 'velocities', 'accelerations')),
            ('feedback', ('positions', 'velocities')),
            ('error', ('positions', 'velocities')),
            ('output', ('effort',)),
        )
        for field in fields
    }
    expect_equal('the lengths', sizes, dict.fromkeys(sizes, 7))
    expect_equal('the speed scaling', state.speed_scaling_factor, 1.0)
    return {'lengths': sizes}


@ARM.check('joint_trajectory_controller.cpp compute_error_for_joint')
def controller_error_is_reference_less_feedback(driver: DriverClient) -> Evidence:
    """The error in controller_state is the reference less the feedback."""
    state = driver.hear(JointTrajectoryControllerState, f'{driver.controller}/controller_state')
    wanted = np.subtract(state.reference.positions, state.feedback.positions)
    expect_close('the errors', state.error.positions, wanted, 1e-6)
    return {'largest': float(f'{np.abs(wanted).max():.1e}')}


@HAND.check('fr 1.5; gripper_action_server.cpp publishGripperState')
def hand_joint_states_are_two_equal_halves(driver: DriverClient) -> Evidence:
    """The hand's joint_states are two fingers, each at half the width."""
    state = driver.hear(JointState, f'{driver.gripper}/joint_states')
    expect_equal('the joints', tuple(state.name), FINGERS)
    expect_equal('the other finger', state.position[1], state.position[0])
    width_m = sum(state.position)
    expect(-0.001 <= width_m <= MAX_WIDTH_M, f'a width of 0 to {MAX_WIDTH_M} m', width_m)
    return {'width': round(width_m, 4)}


@HAND.check('fr 1.5; gripper_action_server.cpp publishGripperState')
def hand_joint_states_have_no_velocity_or_effort(driver: DriverClient) -> Evidence:
    """Velocity and effort of both fingers are always zero."""
    state = driver.hear(JointState, f'{driver.gripper}/joint_states')
    expect_equal('the velocities', list(state.velocity), [0.0, 0.0])
    expect_equal('the efforts', list(state.effort), [0.0, 0.0])
    return {}


@HAND.check('fr 1.5; franka.launch.py (joint_state_publisher)')
def joint_states_contain_the_fingers(driver: DriverClient) -> Evidence:
    """joint_states has the seven joints of the arm and both fingers, and nothing else."""
    state = driver.hear(JointState, 'joint_states')
    expect_equal('the joints', sorted(state.name), sorted((*ARM_JOINTS, *FINGERS)))
    return {'names': list(state.name)}


@ROBOT.check('fr 1.6; franka_robot_state.cpp initialize_robot_state_msg')
def robot_state_names_its_joints(driver: DriverClient) -> Evidence:
    """All four joint states in robot_state have the seven names and seven of every value."""
    state = _state(driver)
    for part in (
        'measured_joint_state',
        'desired_joint_state',
        'measured_joint_motor_state',
        'tau_ext_hat_filtered',
    ):
        joints = getattr(state, part)
        expect_equal(f'the names of {part}', list(joints.name), list(ARM_JOINTS))
        lengths = [len(joints.position), len(joints.velocity), len(joints.effort)]
        expect_equal(f'the lengths of {part}', lengths, [7, 7, 7])
    return {'names': list(state.measured_joint_state.name)}


@ROBOT.check('fr 1.5; franka_robot_state.cpp get_values_as_message')
def robot_state_agrees_with_joint_states(driver: DriverClient) -> Evidence:
    """robot_state has the joints where franka/joint_states has them."""
    state = _state(driver)
    arm = in_order(driver.hear(JointState, 'franka/joint_states'))
    measured = state.measured_joint_state.position
    expect_close('measured positions', measured, arm.position, SAME_RAD)
    return {'position': rounded(measured)}


@ROBOT.check('franka_robot_state.cpp get_values_as_message')
def external_torques_are_efforts(driver: DriverClient) -> Evidence:
    """tau_ext_hat_filtered carries its torques as efforts; its positions and velocities are 0."""
    torques = _state(driver).tau_ext_hat_filtered
    expect_equal('its positions', list(torques.position), [0.0] * 7)
    expect_equal('its velocities', list(torques.velocity), [0.0] * 7)
    return {'torques': rounded(torques.effort)}


@ROBOT.check('fr 1.6; FrankaRobotState.msg')
def arm_that_is_held_by_a_controller_is_in_move(driver: DriverClient) -> Evidence:
    """While the arm's controller is active, robot_mode is MOVE, also when nothing moves."""
    mode = _state(driver).robot_mode
    expect_equal('the mode', mode, FrankaRobotState.ROBOT_MODE_MOVE)
    return {'mode': mode}


@ROBOT.check('fr 1.6; Errors.msg')
def healthy_robot_has_no_errors(driver: DriverClient) -> Evidence:
    """None of the 36 current_errors is set, and no joint reports a collision."""
    state = _state(driver)
    names = list(state.current_errors.get_fields_and_field_types())
    expect_equal('the number of errors', len(names), 36)
    wrong = [name for name in names if getattr(state.current_errors, name)]
    expect_equal('the errors that are set', wrong, [])
    expect_equal(
        'the collisions', rounded(state.collision_indicators.is_joint_collision), [0.0] * 7
    )
    return {'errors': len(names)}


@ROBOT.check('fr 1.6; franka_robot_state.cpp get_values_as_message')
def robot_time_passes(driver: DriverClient) -> Evidence:
    """`time` grows from message to message, and the success rate is between 0 and 1."""
    with driver.listen(FrankaRobotState, f'{STATE}/robot_state') as ear:
        first, second = ear.next(driver.patience_s), ear.next(driver.patience_s)
    expect(second.time > first.time, 'growing times', [first.time, second.time])
    rate = second.control_command_success_rate
    expect(0 <= rate <= 1, 'a success rate between 0 and 1', rate)
    return {'success_rate': round(rate, 3)}


@ROBOT.check('franka_robot_state.cpp get_values_as_message')
def total_mass_is_tool_and_load(driver: DriverClient) -> Evidence:
    """The total mass of robot_state is that of the end effector and that of the load."""
    state = _state(driver)
    tool, load = state.inertia_ee.inertia.m, state.inertia_load.inertia.m
    expect_close('the total mass', [state.inertia_total.inertia.m], [tool + load], 1e-3)
    expect(tool > 0, 'an end effector that weighs something', tool)
    return {'tool': round(tool, 3), 'load': round(load, 3)}


@ROBOT.check('franka_robot_state_broadcaster.cpp publishRunner')
def convenience_topics_repeat_robot_state(driver: DriverClient) -> Evidence:
    """The convenience topics carry what robot_state carries."""
    state = _state(driver)
    pairs: dict[str, tuple[Any, Any]] = {}
    for topic, part, field, tolerance in (
        ('measured_joint_states', state.measured_joint_state, 'position', SAME_RAD),
        ('desired_joint_states', state.desired_joint_state, 'position', SAME_RAD),
        ('external_joint_torques', state.tau_ext_hat_filtered, 'effort', 2.0),
    ):
        message = driver.hear(JointState, f'{STATE}/{topic}')
        expect_equal(f'the names in {topic}', list(message.name), list(part.name))
        pairs[topic] = (getattr(message, field), getattr(part, field))
        expect_close(f'the {field}s in {topic}', *pairs[topic], tolerance)
    return {topic: rounded(values[0]) for topic, values in pairs.items()}


@ROBOT.check('fr 1.6; franka_robot_state.cpp get_values_as_message')
def robot_that_stands_is_still(driver: DriverClient) -> Evidence:
    """Between goals the measured velocities are about zero."""
    speeds = _state(driver).measured_joint_state.velocity
    fastest = max(map(abs, speeds))
    expect(fastest < STILL_RAD_S, f'less than {STILL_RAD_S} rad/s', fastest)
    expect(not any(map(math.isnan, speeds)), 'numbers', rounded(speeds))
    return {}


def _state(driver: DriverClient) -> Any:
    return driver.hear(FrankaRobotState, f'{STATE}/robot_state')
