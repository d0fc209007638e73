"""The controller manager of the driver, as checks ask it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from controller_manager_msgs.msg import ControllerManagerActivity
from controller_manager_msgs.srv import (
    ListControllers,
    ListHardwareComponents,
    SetHardwareComponentState,
    SwitchController,
)
from lifecycle_msgs.msg import State

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import CheckFailedError, expect
from franka_driver_conformance.motions import duration_msg

HARDWARE = 'FrankaHardwareInterface'
JOINT_STATES, STATE = 'joint_state_broadcaster', 'franka_robot_state_broadcaster'
BROADCASTERS = (JOINT_STATES, STATE)
ROBOT_STATE = f'{STATE}/robot_state'
ACTIVITY = 'controller_manager/activity'
BEST_EFFORT = SwitchController.Request.BEST_EFFORT
SWITCH_S = 5.0


def _listed(driver: DriverClient, kind: Any, name: str, field: str) -> dict[str, Any]:
    answer = driver.call(kind, f'controller_manager/{name}', kind.Request())
    return {entry.name: entry for entry in getattr(answer, field)}


def controllers(driver: DriverClient) -> dict[str, Any]:
    return _listed(driver, ListControllers, 'list_controllers', 'controller')


def arm_controller(driver: DriverClient) -> Any:
    found = controllers(driver)
    if driver.controller not in found:
        raise CheckFailedError(f'a controller {driver.controller}', sorted(found))
    return found[driver.controller]


def controller_states(driver: DriverClient) -> dict[str, str | None]:
    found = {name: entry.state for name, entry in controllers(driver).items()}
    return {name: found.get(name) for name in (*BROADCASTERS, driver.controller)}


def hardware(driver: DriverClient) -> Any:
    found = _listed(driver, ListHardwareComponents, 'list_hardware_components', 'component')
    if HARDWARE not in found:
        raise CheckFailedError(f'a hardware component {HARDWARE}', sorted(found))
    return found[HARDWARE]


def set_hardware_active(driver: DriverClient, name: str = HARDWARE) -> Any:
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
    strictness: int = SwitchController.Request.STRICT,
) -> Any:
    request = SwitchController.Request(
        activate_controllers=list(activate),
        deactivate_controllers=list(deactivate),
        strictness=strictness,
        activate_asap=True,
        timeout=duration_msg(SWITCH_S),
    )
    return driver.call(SwitchController, 'controller_manager/switch_controller', request)


@contextmanager
def arm_controller_down(driver: DriverClient) -> Iterator[None]:
    """Deactivate the arm's controller for a while, so that the robot is idle."""
    answer = switch(driver, deactivate=[driver.controller])
    expect(answer.ok, f'that {driver.controller} can be deactivated', answer.message)
    try:
        yield
    finally:
        answer = switch(driver, activate=[driver.controller], strictness=BEST_EFFORT)
        expect(answer.ok, f'that {driver.controller} can be activated again', answer.message)


def activity_states(activity: ControllerManagerActivity) -> dict[str, str]:
    entries = [*activity.controllers, *activity.hardware_components]
    return {entry.name: entry.state.label for entry in entries}
