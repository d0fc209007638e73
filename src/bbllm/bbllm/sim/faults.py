"""
Faults of the robot itself and the steps that clear them.

Modes, thresholds and texts are the driver's and libfranka's. `arm.controllers.manager`
and `sim.robot` define what a stop does to hardware and controllers, and the order of recovery.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import N_JOINTS, Array, RobotMode
from bbllm.arm.envelope import (
    EXAMPLE_CONTACT_NM,
    EXAMPLE_CONTACT_WRENCH,
    EXAMPLE_JOINT_NM,
    EXAMPLE_WRENCH,
)
from bbllm.core.errors import UnknownNameError


class Fault(StrEnum):
    """What a test can make happen."""

    REFLEX = 'reflex'
    """The arm stops as after a collision."""
    USER_STOP = 'user_stop'
    """The external activation device is pressed; ends with `clear`."""
    COMMUNICATION_LOSS = 'communication_loss'
    """The robot loses the packets of its controller and stops; no recovery before `clear`."""
    DRIVER_HANG = 'driver_hang'
    """Joint states freeze, stamps too, and results stay away; ends with `clear`."""
    JOINT_LIMIT = 'joint_limit'
    """A joint passes its limit; no recovery before `clear`, a person who guides it back."""
    GRIPPER_FAIL = 'gripper_fail'
    """The next command of the hand fails, with the driver's text."""
    GRIPPER_MISS = 'gripper_miss'
    """The next grasp is aborted with an empty error, and the hand opens again."""
    ENDLESS_GOAL = 'endless_goal'
    """Trajectory goals, also one under way, never end by themselves; ends with `clear`."""


NETWORK_TEXT = 'libfranka: UDP receive: Timeout'
MANUAL_TEXT = (
    'libfranka: Automatic Error Recovery command rejected: manual error recovery required!'
)
PRESSED_TEXT = 'libfranka: Automatic Error Recovery command aborted: User Stop pressed!'
"""Why error recovery fails, in the words of the driver's log."""
ERRORS = {
    Fault.REFLEX: 'cartesian_reflex',
    Fault.COMMUNICATION_LOSS: 'communication_constraints_violation',
    Fault.JOINT_LIMIT: 'joint_position_limits_violation',
}
BLOCKS = {Fault.COMMUNICATION_LOSS: NETWORK_TEXT, Fault.JOINT_LIMIT: MANUAL_TEXT}
"""Why error recovery fails until the fault is cleared; without the network the robot does not even
answer."""
FILTER_S = 0.02


class FaultMonitor:
    """Watches external forces and keeps the robot's mode; independent of the physics."""

    def __init__(self) -> None:
        self.lower: Sequence[float] = (*EXAMPLE_CONTACT_NM, *EXAMPLE_CONTACT_WRENCH)
        """Above this is a contact: torque of each joint, then flange wrench, shape (13,)."""
        self.upper: Sequence[float] = (*EXAMPLE_JOINT_NM, *EXAMPLE_WRENCH)
        """Above this is a collision, and the arm stops, shape (13,)."""
        self.upper_accelerating: Sequence[float] = self.upper
        """The same while the arm is meant to speed up or slow down, shape (13,)."""
        self.errors: tuple[str, ...] = ()
        self.last_errors: tuple[str, ...] = ()
        """Those that ended the last motion."""
        self.hardware_active = True
        """Whether the hardware component is active, which the controller manager decides."""
        self._stopped_by: RobotMode | None = None
        self._pressed = False
        self._blocked = ''
        self._load = [0.0] * (N_JOINTS + 6)

    @property
    def reachable(self) -> bool:
        return self._blocked != NETWORK_TEXT

    @property
    def healthy(self) -> bool:
        return self._stopped_by is None

    @property
    def external_torque_nm(self) -> Array:
        """Filtered external joint torque (tau_ext_hat_filtered), shape (7,) [Nm]."""
        return np.array(self._load[:N_JOINTS])

    @property
    def contacts(self) -> NDArray[np.bool_]:
        """What is above its lower threshold: joints, then flange wrench, shape (13,)."""
        return np.asarray(np.abs(self._load) > self.lower)

    @property
    def collisions(self) -> NDArray[np.bool_]:
        """What is above its upper threshold, shape (13,)."""
        return np.asarray(np.abs(self._load) > self.upper)

    @property
    def has_phases(self) -> bool:
        return self.upper != self.upper_accelerating

    def mode(self, controlled: bool) -> RobotMode:
        """Return the robot's mode, by whether anything controls its motion."""
        if self._stopped_by is not None:
            return self._stopped_by
        return RobotMode.MOVE if controlled else RobotMode.IDLE

    def keep_thresholds(self, old: FaultMonitor) -> None:
        self.lower, self.upper = old.lower, old.upper
        self.upper_accelerating = old.upper_accelerating

    def watch(
        self,
        duration_s: float,
        torque_nm: Sequence[float],
        force: Sequence[float],
        *,
        accelerating: bool = False,
        moving: bool = True,
    ) -> bool:
        """
        Filter new readings; True when they call for a reflex that is not in force yet.

        *torque_nm* has shape (7,); *force* is the wrench at the flange, shape (6,) [N, Nm];
        *accelerating* whether the arm is meant to speed up or slow down now; *moving* whether
        anything controls it: an idle one has no reflexes.
        """
        weight = min(1.0, duration_s / FILTER_S)
        # plain numbers: arithmetic on arrays so small takes longer
        readings = (*torque_nm, *force)
        self._load = load = [
            was + (now - was) * weight for was, now in zip(self._load, readings, strict=True)
        ]
        most = self.upper_accelerating if accelerating else self.upper
        over = [abs(value) > limit for value, limit in zip(load, most, strict=True)]
        if not (True in over and moving and self.healthy):
            return False
        names = ('joint_reflex', 'cartesian_reflex')
        where = (True in over[:N_JOINTS], True in over[N_JOINTS:])
        self.trip(*(name for name, is_over in zip(names, where, strict=True) if is_over))
        return True

    def trip(self, *errors: str) -> None:
        if not self._pressed:
            self._stopped_by = RobotMode.REFLEX
        self.errors = self.last_errors = errors

    def inject(self, fault: Fault) -> None:
        """Make a fault of the robot itself happen: the user stop, or one of `ERRORS`."""
        if fault is Fault.USER_STOP:
            self._pressed = True
            self._stopped_by = RobotMode.USER_STOPPED
            self.errors = self.last_errors = ()  # no error of its own ends the motion
        elif fault in ERRORS:
            self.trip(ERRORS[fault])
            self._blocked = BLOCKS.get(fault, self._blocked)

    def clear(self, fault: Fault) -> None:
        if fault is Fault.USER_STOP:
            self._pressed = False
        elif fault in BLOCKS:
            self._blocked = ''

    def recover(self) -> str | None:
        """Clear the errors; return why that is not possible, None where it worked."""
        if not self.reachable:
            return self._blocked
        if self._pressed:
            return PRESSED_TEXT
        if self._blocked:
            return self._blocked
        self._stopped_by = None
        self.errors = ()
        self._load = [0.0] * len(self._load)
        return None


def fault_named(name: str, others: Iterable[str] = ()) -> Fault:
    """Return the fault of a name; raises UnknownNameError, which lists *others* too."""
    try:
        return Fault(name)
    except ValueError:
        known = [*(fault.value for fault in Fault), *others]
        raise UnknownNameError('fault', name, known) from None
