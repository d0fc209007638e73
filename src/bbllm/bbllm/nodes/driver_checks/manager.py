"""The driver's controller manager, as checks ask it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from controller_manager_msgs.srv import (
    ListControllers,
    ListHardwareComponents,
    SetHardwareComponentState,
    SwitchController,
)
from lifecycle_msgs.msg import State

from bbllm.nodes.driver_checks.check import CheckFailedError, expect
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.ros.convert.arm import duration_to_msg

HARDWARE = 'FrankaHardwareInterface'
JOINTS, STATE = 'joint_state_broadcaster', 'franka_robot_state_broadcaster'
BROADCASTERS = (JOINTS, STATE)
STRICT = SwitchController.Request.STRICT
BEST_EFFORT = SwitchController.Request.BEST_EFFORT
SWITCH_S = 5.0


def controllers(driver: DriverClient) -> dict[str, Any]:
    """Return what list_controllers says, by name."""
    answer = driver.call(
        ListControllers, 'controller_manager/list_controllers', ListControllers.Request()
    )
    return {entry.name: entry for entry in answer.controller}


def controller(driver: DriverClient, name: str) -> Any:
    """Return what list_controllers says of one."""
    found = controllers(driver)
    if name not in found:
        raise CheckFailedError(f'a controller {name}', sorted(found))
    return found[name]


def controller_states(driver: DriverClient) -> dict[str, str]:
    """Return the state of every controller."""
    return {name: entry.state for name, entry in controllers(driver).items()}


def hardware(driver: DriverClient) -> Any:
    """Return what list_hardware_components says of the arm."""
    name = 'controller_manager/list_hardware_components'
    answer = driver.call(ListHardwareComponents, name, ListHardwareComponents.Request())
    found = {entry.name: entry for entry in answer.component}
    if HARDWARE not in found:
        raise CheckFailedError(f'a hardware component {HARDWARE}', sorted(found))
    return found[HARDWARE]


def set_hardware_active(driver: DriverClient, name: str = HARDWARE) -> Any:
    """Ask for an active hardware component; return the answer."""
    target = State(id=State.PRIMARY_STATE_ACTIVE, label='active')
    return driver.call(
        SetHardwareComponentState,
        'controller_manager/set_hardware_component_state',
        SetHardwareComponentState.Request(name=name, target_state=target),
    )


def switch(
    driver: DriverClient,
    activate: Sequence[str] = (),
    deactivate: Sequence[str] = (),
    strictness: int = STRICT,
) -> Any:
    """Switch controllers; return the answer."""
    request = SwitchController.Request(
        activate_controllers=list(activate),
        deactivate_controllers=list(deactivate),
        strictness=strictness,
        activate_asap=True,
        timeout=duration_to_msg(SWITCH_S),
    )
    return driver.call(SwitchController, 'controller_manager/switch_controller', request)


@contextmanager
def arm_controller_down(driver: DriverClient) -> Iterator[None]:
    """Take the arm's controller down for a while, so that the robot is idle."""
    answer = switch(driver, deactivate=[driver.controller])
    expect(answer.ok, f'that {driver.controller} can be deactivated', answer.message)
    try:
        yield
    finally:
        answer = switch(driver, activate=[driver.controller], strictness=BEST_EFFORT)
        expect(answer.ok, f'that {driver.controller} can be activated again', answer.message)
