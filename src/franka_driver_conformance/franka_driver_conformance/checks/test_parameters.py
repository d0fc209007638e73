"""Parameters of the robot: set only while no controller commands it."""

from collections.abc import Callable
from typing import Any

import pytest
from franka_msgs.msg import FrankaRobotState
from franka_msgs.srv import SetForceTorqueCollisionBehavior, SetFullCollisionBehavior, SetLoad

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import Record
from franka_driver_conformance.manager import ROBOT_STATE, arm_controller_down

pytestmark = pytest.mark.moves_arm
THRESHOLDS = {
    'lower_torque_thresholds': [25.0, 25.0, 22.0, 20.0, 19.0, 17.0, 14.0],
    'upper_torque_thresholds': [35.0, 35.0, 32.0, 30.0, 29.0, 27.0, 24.0],
    'lower_force_thresholds': [30.0, 30.0, 30.0, 25.0, 25.0, 25.0],
    'upper_force_thresholds': [40.0, 40.0, 40.0, 35.0, 35.0, 35.0],
}
"""Those of franka_ros2's default_robot_behavior_utils.hpp, in force after these checks [N, Nm]."""
Ask = Callable[[DriverClient], Any]


def set_load(driver: DriverClient) -> Any:
    load = driver.receive(FrankaRobotState, ROBOT_STATE).inertia_load.inertia
    matrix = [
        *(load.ixx, load.ixy, load.ixz),
        *(load.ixy, load.iyy, load.iyz),
        *(load.ixz, load.iyz, load.izz),
    ]
    request = SetLoad.Request(
        mass=load.m, center_of_mass=[load.com.x, load.com.y, load.com.z], load_inertia=matrix
    )
    return driver.call(SetLoad, 'service_server/set_load', request)


def set_thresholds(driver: DriverClient) -> Any:
    kind, fields = SetForceTorqueCollisionBehavior, THRESHOLDS.items()
    request = kind.Request(**{f'{name}_nominal': values for name, values in fields})
    return driver.call(kind, 'service_server/set_force_torque_collision_behavior', request)


def set_all_thresholds(driver: DriverClient) -> Any:
    kind = SetFullCollisionBehavior
    request = kind.Request(
        **{f'{name}_nominal': values for name, values in THRESHOLDS.items()},
        **{f'{name}_acceleration': values for name, values in THRESHOLDS.items()},
    )
    return driver.call(kind, 'service_server/set_full_collision_behavior', request)


SETTERS = {
    'load-is': set_load,
    'thresholds-are': set_thresholds,
    'full-thresholds-are': set_all_thresholds,
}


@pytest.mark.parametrize(
    'ask',
    SETTERS.values(),
    ids=[f'{name}-refused-while-a-controller-is-active' for name in SETTERS],
)
def test_refused(driver: DriverClient, ask: Ask, record_property: Record) -> None:
    answer = ask(driver)
    assert not answer.success
    assert answer.error
    record_property('error', answer.error)


@pytest.mark.parametrize(
    'ask', SETTERS.values(), ids=[f'{name}-taken-when-idle' for name in SETTERS]
)
def test_taken(driver: DriverClient, ask: Ask) -> None:
    with arm_controller_down(driver):
        answer = ask(driver)
    assert (answer.success, answer.error) == (True, '')
