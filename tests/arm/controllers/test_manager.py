"""The rules of the controller manager, one by one, without a robot."""

import pytest

from bbllm.arm.controllers.manager import (
    ARM_CONTROLLER,
    JOINT_BROADCASTER,
    KINDS,
    STATE_BROADCASTER,
    ControllerManager,
    LifeCycle,
)

BROADCASTERS = (JOINT_BROADCASTER, STATE_BROADCASTER)
ACTIVE, INACTIVE = LifeCycle.ACTIVE, LifeCycle.INACTIVE


class Hardware:
    """A robot that does what it is set to, and remembers what it was told."""

    def __init__(self) -> None:
        self.reachable = True
        self.obeys = True
        self.reported: list[str] = []

    def connect(self) -> bool:
        return self.reachable

    def start_control(self) -> bool:
        self.reported.append('start')
        return self.obeys

    def stop_control(self) -> None:
        self.reported.append('stop')


@pytest.fixture
def hardware() -> Hardware:
    return Hardware()


@pytest.fixture
def manager(hardware: Hardware) -> ControllerManager:
    """A manager with everything active."""
    return ControllerManager(hardware)


@pytest.mark.parametrize('strict', [False, True])
def test_one_controller_goes_down_and_comes_back_alone(
    manager: ControllerManager, hardware: Hardware, strict: bool
) -> None:
    assert manager.switch((), (ARM_CONTROLLER,), strict=strict).ok
    assert manager.states == {**dict.fromkeys(BROADCASTERS, ACTIVE), ARM_CONTROLLER: INACTIVE}
    assert manager.switch((ARM_CONTROLLER,), (), strict=strict).ok
    assert manager.is_active(ARM_CONTROLLER)
    assert hardware.reported == ['stop', 'start']


@pytest.mark.parametrize(
    ('activate', 'deactivate', 'wording'),
    [
        (('nobody',), (ARM_CONTROLLER,), "Could not activate controller with name 'nobody'"),
        ((), ('nobody', ARM_CONTROLLER), "Could not deactivate controller with name 'nobody'"),
        ((ARM_CONTROLLER,), (), f"'{ARM_CONTROLLER}' is already active"),
    ],
)
def test_a_strict_switch_does_all_or_nothing(
    manager: ControllerManager,
    activate: tuple[str, ...],
    deactivate: tuple[str, ...],
    wording: str,
) -> None:
    before, revision = manager.states, manager.revision
    switched = manager.switch(activate, deactivate, strict=True)
    assert not switched.ok
    assert wording in switched.message
    assert (manager.states, manager.revision) == (before, revision)


def test_a_best_effort_switch_does_what_it_can(manager: ControllerManager) -> None:
    manager.switch((), (ARM_CONTROLLER, STATE_BROADCASTER))
    switched = manager.switch((*KINDS, 'nobody'), ())
    assert switched.ok
    assert manager.states == dict.fromkeys(KINDS, ACTIVE)
    assert f'Activated controllers: [ {STATE_BROADCASTER} {ARM_CONTROLLER} ]' in switched.message


@pytest.mark.parametrize('strict', [False, True])
@pytest.mark.parametrize(
    ('name', 'interface'),
    [
        (ARM_CONTROLLER, "command interface 'fr3_joint1/effort'"),
        (JOINT_BROADCASTER, "state interface 'fr3_joint1/position'"),
        (STATE_BROADCASTER, "state interface 'fr3/robot_state'"),
    ],
)
def test_no_controller_is_activated_without_its_hardware(
    manager: ControllerManager, name: str, interface: str, strict: bool
) -> None:
    manager.fail_hardware()
    switched = manager.switch((name,), (), strict=strict)
    assert not switched.ok
    assert f'{interface} is not available' in switched.message
    assert not manager.is_active(name)


def test_nobody_is_activated_where_the_robot_refuses_control(
    manager: ControllerManager, hardware: Hardware
) -> None:
    manager.fail_hardware()
    assert manager.set_component(ACTIVE)
    hardware.obeys = False

    switched = manager.switch(tuple(KINDS), ())

    assert not switched.ok
    assert ARM_CONTROLLER in switched.message
    assert manager.states == dict.fromkeys(KINDS, INACTIVE)
    assert manager.switch(BROADCASTERS, ()).ok  # they need no control


def test_the_hardware_comes_up_alone_and_only_where_the_robot_can_be_reached(
    manager: ControllerManager, hardware: Hardware
) -> None:
    manager.fail_hardware()
    hardware.reachable = False
    assert not manager.set_component(ACTIVE)
    hardware.reachable = True
    assert manager.set_component(ACTIVE)
    assert manager.component is ACTIVE
    assert manager.states == dict.fromkeys(KINDS, INACTIVE)


def test_controllers_are_unloaded_loaded_and_configured_in_this_order_only(
    manager: ControllerManager,
) -> None:
    assert not manager.unload(ARM_CONTROLLER)  # it runs
    manager.switch((), (ARM_CONTROLLER,))
    assert manager.unload(ARM_CONTROLLER)
    assert ARM_CONTROLLER not in manager.states
    assert not manager.configure(ARM_CONTROLLER)
    assert not manager.switch((ARM_CONTROLLER,), ()).ok
    assert manager.load(ARM_CONTROLLER)
    assert not manager.load(ARM_CONTROLLER)
    assert 'unconfigured' in manager.switch((ARM_CONTROLLER,), (), strict=True).message
    assert manager.configure(ARM_CONTROLLER)
    assert manager.switch((ARM_CONTROLLER,), ()).ok
    assert not manager.load('nobody')
