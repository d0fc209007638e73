"""
The controller manager: life cycles of the controllers and of the hardware, and how they switch.

Rules and texts are those of ros2_control's controller_manager on Jazzy, the controllers those of
config/franka/controllers.yaml. No ROS and no physics in here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from bbllm.robots.fr3 import FR3

ARM_CONTROLLER = 'fr3_arm_controller'
JOINT_BROADCASTER = 'joint_state_broadcaster'
STATE_BROADCASTER = 'franka_robot_state_broadcaster'
HARDWARE = 'FrankaHardwareInterface'

ABSENT_TEXT = "Could not {} controller with name '{}' because no controller with this name exists"
ACTIVE_TEXT = "Controller with name '{}' is already active."
UNCONFIGURED_TEXT = "Controller with name '{}' is in 'unconfigured' state."
INACTIVE_TEXT = "Controller with name '{}' can not be deactivated since it is not active."
NOTHING_TEXT = (
    'After checking the controllers, no controllers need to be activated or deactivated.'
)
UNAVAILABLE_TEXT = (
    "Unable to activate controller '{}' since the {} interface '{}' is not available."
)
FAILED_TEXT = 'Failed switching controllers.... \nUnable to activate controllers: [ {} ]'
SWITCHED_TEXT = 'Successfully switched controllers!'


class LifeCycle(IntEnum):
    """The primary states of lifecycle_msgs/State."""

    UNCONFIGURED = 1
    INACTIVE = 2
    ACTIVE = 3
    FINALIZED = 4

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerKind:
    """What a controller is and which interfaces it needs."""

    name: str
    type: str
    command_interfaces: tuple[str, ...] = ()
    state_interfaces: tuple[str, ...] = ()


def _each(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(f'{joint}/{kind}' for joint in FR3.joints for kind in kinds)


_AXES = tuple(f'v{axis}' for axis in 'xyz') + tuple(f'w{axis}' for axis in 'xyz')
_ELBOW = ('joint_3_position', 'joint_4_sign')
COMMAND_INTERFACES: tuple[str, ...] = (
    *_each(('position', 'velocity', 'effort')),
    *(f'{axis}/cartesian_velocity' for axis in _AXES),
    *(f'{name}/elbow_command' for name in _ELBOW),
    *(f'{i}/cartesian_pose_command' for i in range(16)),
)
"""Of the hardware component, as franka_arm.ros2_control.xacro declares them."""
STATE_INTERFACES: tuple[str, ...] = (
    *_each(('position', 'velocity', 'effort')),
    'fr3/robot_state',
    'fr3/robot_model',
    *(f'{i}/cartesian_pose_state' for i in range(16)),
    *(f'{name}/elbow_state' for name in _ELBOW),
    'fr3/robot_time',
    *(f'fr3_tcp/{kind}.{axis}' for kind in ('force', 'torque') for axis in 'xyz'),
)
"""Of the hardware component, as franka_hardware exports them."""
KINDS: dict[str, ControllerKind] = {
    kind.name: kind
    for kind in (
        ControllerKind(
            name=JOINT_BROADCASTER,
            type='joint_state_broadcaster/JointStateBroadcaster',
            state_interfaces=STATE_INTERFACES,
        ),
        ControllerKind(
            name=STATE_BROADCASTER,
            type='franka_robot_state_broadcaster/FrankaRobotStateBroadcaster',
            state_interfaces=('fr3/robot_state',),
        ),
        ControllerKind(
            name=ARM_CONTROLLER,
            type='joint_trajectory_controller/JointTrajectoryController',
            command_interfaces=_each(('effort',)),
            state_interfaces=_each(('position', 'velocity')),
        ),
    )
}
"""The controllers that the parameters name, by name, in the order in which they are loaded."""


class Hardware(Protocol):
    """What the manager needs of the robot behind the hardware component."""

    def connect(self) -> bool:
        """Return whether the robot can be reached, which activating the component takes."""

    def start_control(self) -> bool:
        """Let the arm controller's torques act; False where the robot refuses."""

    def stop_control(self) -> None:
        """Take the arm controller down: its goal ends, the arm stays."""


@dataclass(frozen=True, slots=True)
class Switched:
    """What became of a request to switch controllers."""

    ok: bool
    message: str


class ControllerManager:
    """States of three controllers and of one hardware component; not thread-safe."""

    def __init__(self, hardware: Hardware, revision: int = 0) -> None:
        """Start with everything active, counting changes from *revision*."""
        self._hardware = hardware
        self._states = dict.fromkeys(KINDS, LifeCycle.ACTIVE)
        self._component = LifeCycle.ACTIVE
        self.revision = revision
        """Grows whenever any state changes."""

    @property
    def states(self) -> dict[str, LifeCycle]:
        return dict(self._states)

    @property
    def component(self) -> LifeCycle:
        return self._component

    def is_active(self, name: str) -> bool:
        return self._states.get(name) is LifeCycle.ACTIVE

    def switch(
        self, activate: Sequence[str], deactivate: Sequence[str], *, strict: bool = False
    ) -> Switched:
        """
        Activate some controllers and deactivate others, in one step.

        One interface that is not there, or a robot that refuses control, fails the whole switch,
        also a best-effort one; what is in its state already only fails a strict one.
        """
        for names, verb in ((deactivate, 'deactivate'), (activate, 'activate')):
            absent = self._absent(names, verb, strict)
            if absent is not None:
                return absent
        going = [name for name in deactivate if name in self._states]
        coming = [name for name in activate if name in self._states]
        troubles = {name: self._trouble(name, name in going) for name in coming}
        idle = [name for name in going if name not in coming and not self.is_active(name)]
        troubles |= {name: INACTIVE_TEXT.format(name) for name in idle}
        reason = next((text for text in troubles.values() if text), '')
        if strict and reason:
            return Switched(False, reason)
        coming = [name for name in coming if not troubles[name]]
        going = [name for name in going if self._states[name] is LifeCycle.ACTIVE]
        if not coming and not going:
            return Switched(True, NOTHING_TEXT)
        missing = self._missing_interface(coming)
        if missing:
            return Switched(False, missing)
        return self._carry_out(coming, going, strict)

    def fail_hardware(self) -> None:
        """Do what an error of the hardware does: no component and no controller is left active."""
        for name, state in self._states.items():
            if state is LifeCycle.ACTIVE:
                self._set(name, LifeCycle.INACTIVE)
        self._set_component(LifeCycle.UNCONFIGURED)
        self._hardware.stop_control()

    def set_component(self, target: LifeCycle | None) -> bool:
        """Bring the hardware component into a state; False where that is not possible."""
        if target is None or self._component is LifeCycle.FINALIZED:
            return target is LifeCycle.FINALIZED
        if target is LifeCycle.ACTIVE and self._component is not LifeCycle.ACTIVE:
            if not self._hardware.connect():
                return False
        elif target is not LifeCycle.ACTIVE:
            self.fail_hardware()
        self._set_component(target)
        return True

    def load(self, name: str) -> bool:
        if name not in KINDS or name in self._states:
            return False
        self._set(name, LifeCycle.UNCONFIGURED)
        return True

    def configure(self, name: str) -> bool:
        if self._states.get(name) not in (LifeCycle.UNCONFIGURED, LifeCycle.INACTIVE):
            return False
        self._set(name, LifeCycle.INACTIVE)
        return True

    def unload(self, name: str) -> bool:
        if self._states.get(name) in (None, LifeCycle.ACTIVE):
            return False
        del self._states[name]
        self.revision += 1
        return True

    def _absent(self, names: Sequence[str], verb: str, strict: bool) -> Switched | None:
        absent = [name for name in names if name not in self._states]
        if absent and (strict or len(absent) == len(names)):
            return Switched(False, ABSENT_TEXT.format(verb, absent[0]))
        return None

    def _trouble(self, name: str, restarts: bool) -> str:
        state = self._states[name]
        if state is LifeCycle.ACTIVE:
            return '' if restarts else ACTIVE_TEXT.format(name)
        return UNCONFIGURED_TEXT.format(name) if state is LifeCycle.UNCONFIGURED else ''

    def _missing_interface(self, names: Sequence[str]) -> str:
        if self._component is LifeCycle.ACTIVE:
            return ''
        for name in names:
            kind = KINDS[name]
            for sort, interfaces in (
                ('command', kind.command_interfaces),
                ('state', kind.state_interfaces),
            ):
                if interfaces:
                    return UNAVAILABLE_TEXT.format(name, sort, interfaces[0])
        return ''

    def _carry_out(self, coming: list[str], going: list[str], strict: bool) -> Switched:
        for name in going:
            if name == ARM_CONTROLLER:
                self._hardware.stop_control()
            self._set(name, LifeCycle.INACTIVE)
        if ARM_CONTROLLER in coming and not self._hardware.start_control():
            # the mode of the robot is switched first: where that fails, nobody starts
            return Switched(False, FAILED_TEXT.format(' '.join(coming)))
        for name in coming:
            self._set(name, LifeCycle.ACTIVE)
        lines = [SWITCHED_TEXT]
        if not strict:
            for title, names in (('Deactivated', going), ('Activated', coming)):
                lines += [f'{title} controllers: [ {" ".join(names)} ]'] if names else []
        return Switched(True, '\n'.join(lines))

    def _set(self, name: str, state: LifeCycle) -> None:
        self._states[name] = state
        self.revision += 1

    def _set_component(self, state: LifeCycle) -> None:
        self.revision += self._component is not state
        self._component = state
