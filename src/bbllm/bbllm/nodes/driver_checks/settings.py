"""Parameters of the robot, which it takes only while no controller holds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from franka_msgs.msg import FrankaRobotState
from franka_msgs.srv import SetForceTorqueCollisionBehavior, SetFullCollisionBehavior, SetLoad

from bbllm.nodes.driver_checks.check import Evidence, Need, Theme, expect, expect_equal
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.manager import STATE, arm_controller_down

SETTINGS = Theme(title='parameters of the robot', need=Need.MOTION)
SOURCE = 'fr 0.9, 1.5; franka_param_service_server.cpp'
# franka_ros2's default_robot_behavior_utils.hpp.
LOWER_TORQUE_NM = [25.0, 25.0, 22.0, 20.0, 19.0, 17.0, 14.0]
UPPER_TORQUE_NM = [35.0, 35.0, 32.0, 30.0, 29.0, 27.0, 24.0]
LOWER_FORCE = [30.0, 30.0, 30.0, 25.0, 25.0, 25.0]
UPPER_FORCE = [40.0, 40.0, 40.0, 35.0, 35.0, 35.0]
"""The examples' thresholds, in force after these checks [N, Nm]."""


@SETTINGS.check(SOURCE)
def load_is_refused_while_a_controller_is_active(driver: DriverClient) -> Evidence:
    """set_load fails, with the reason, while the arm's controller is active."""
    return _refused(_set_load(driver))


@SETTINGS.check(SOURCE)
def thresholds_are_refused_while_a_controller_is_active(driver: DriverClient) -> Evidence:
    """set_force_torque_collision_behavior fails while the arm's controller is active."""
    return _refused(_set_thresholds(driver))


@SETTINGS.check(SOURCE)
def full_thresholds_are_refused_while_a_controller_is_active(driver: DriverClient) -> Evidence:
    """set_full_collision_behavior fails while the arm's controller is active."""
    return _refused(_set_all_thresholds(driver))


@SETTINGS.check(SOURCE)
def load_is_taken_when_idle(driver: DriverClient) -> Evidence:
    """set_load succeeds, without a text, while no controller is active."""
    return _taken(driver, _set_load)


@SETTINGS.check(SOURCE)
def thresholds_are_taken_when_idle(driver: DriverClient) -> Evidence:
    """set_force_torque_collision_behavior succeeds while no controller is active."""
    return _taken(driver, _set_thresholds)


@SETTINGS.check(SOURCE)
def full_thresholds_are_taken_when_idle(driver: DriverClient) -> Evidence:
    """set_full_collision_behavior succeeds while no controller is active."""
    return _taken(driver, _set_all_thresholds)


def _refused(answer: Any) -> Evidence:
    expect(not answer.success, 'a refusal', 'success')
    expect(answer.error, 'the reason as text', answer.error)
    return {'error': answer.error}


def _taken(driver: DriverClient, ask: Callable[[DriverClient], Any]) -> Evidence:
    with arm_controller_down(driver):
        answer = ask(driver)
    expect_equal('the answer', (answer.success, answer.error), (True, ''))
    return {}


def _set_load(driver: DriverClient) -> Any:
    """Set the load that is set already."""
    load = driver.hear(FrankaRobotState, f'{STATE}/robot_state').inertia_load.inertia
    matrix = [
        *(load.ixx, load.ixy, load.ixz),
        *(load.ixy, load.iyy, load.iyz),
        *(load.ixz, load.iyz, load.izz),
    ]
    request = SetLoad.Request(
        mass=load.m, center_of_mass=[load.com.x, load.com.y, load.com.z], load_inertia=matrix
    )
    return driver.call(SetLoad, 'service_server/set_load', request)


def _set_thresholds(driver: DriverClient) -> Any:
    request = SetForceTorqueCollisionBehavior.Request(
        lower_torque_thresholds_nominal=LOWER_TORQUE_NM,
        upper_torque_thresholds_nominal=UPPER_TORQUE_NM,
        lower_force_thresholds_nominal=LOWER_FORCE,
        upper_force_thresholds_nominal=UPPER_FORCE,
    )
    name = 'service_server/set_force_torque_collision_behavior'
    return driver.call(SetForceTorqueCollisionBehavior, name, request)


def _set_all_thresholds(driver: DriverClient) -> Any:
    request = SetFullCollisionBehavior.Request(
        lower_torque_thresholds_acceleration=LOWER_TORQUE_NM,
        upper_torque_thresholds_acceleration=UPPER_TORQUE_NM,
        lower_torque_thresholds_nominal=LOWER_TORQUE_NM,
        upper_torque_thresholds_nominal=UPPER_TORQUE_NM,
        lower_force_thresholds_acceleration=LOWER_FORCE,
        upper_force_thresholds_acceleration=UPPER_FORCE,
        lower_force_thresholds_nominal=LOWER_FORCE,
        upper_force_thresholds_nominal=UPPER_FORCE,
    )
    return driver.call(
        SetFullCollisionBehavior, 'service_server/set_full_collision_behavior', request
    )
