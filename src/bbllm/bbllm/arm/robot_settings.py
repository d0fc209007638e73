"""
The settings of an idle robot: `service_server`'s requests, checked as libfranka checks them.

An implausible value is an invalid argument. `sim.robot.SimulatedRobot.order` refuses every
request while the robot is not idle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, RobotMode

MODE_NAMES = {
    RobotMode.OTHER: 'Other',
    RobotMode.IDLE: 'Idle',
    RobotMode.MOVE: 'Move',
    RobotMode.GUIDING: 'Guiding',
    RobotMode.REFLEX: 'Reflex',
    RobotMode.USER_STOPPED: 'User stopped',
    RobotMode.AUTOMATIC_ERROR_RECOVERY: 'Automatic error recovery',
}
MODE_TEXT = 'libfranka: {} command rejected: command not possible in the current mode ("{}")!'
ARGUMENT_TEXT = 'libfranka: {} command rejected: invalid argument!'

STIFFNESS_MAX = 14250.0
"""Of a joint [Nm/rad]."""
CARTESIAN_MIN: Array = np.array([10.0] * 3 + [1.0] * 3)
CARTESIAN_MAX: Array = np.array([3000.0] * 3 + [300.0] * 3)
"""Of the tool [N/m, Nm/rad]."""

_HALF = np.sqrt(0.5)
T_FLANGE_HAND: Array = np.array(
    [[_HALF, _HALF, 0, 0], [-_HALF, _HALF, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]
)
"""The hand is turned by -45 degrees against the flange."""
T_FLANGE_NOMINAL: Array = T_FLANGE_HAND @ np.array(
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1034], [0, 0, 0, 1.0]]
)
"""The nominal end effector (NE) with the Franka Hand: fr3_hand_tcp."""


def _eye() -> Array:
    return np.eye(4)


@dataclass(slots=True, kw_only=True)
class Load:
    """The load that the robot was given beside its hand, in the flange frame."""

    mass_kg: float = 0.0
    centre_m: Array = field(default_factory=lambda: np.zeros(3))
    """Centre of mass, shape (3,)."""
    inertia_kg_m2: Array = field(default_factory=lambda: np.zeros((3, 3)))
    """About the centre of mass, shape (3, 3) [kg m^2]."""

    def in_hand(self) -> Load:
        """Return the same in the hand's frame instead of the flange's."""
        R = T_FLANGE_HAND[:3, :3].T  # R_hand_flange
        return Load(
            mass_kg=self.mass_kg,
            centre_m=R @ self.centre_m,
            inertia_kg_m2=R @ self.inertia_kg_m2 @ R.T,
        )


def joined(*parts: Load) -> Load:
    mass = sum(part.mass_kg for part in parts)
    if mass == 0:
        return Load()
    centre = sum(part.mass_kg * part.centre_m for part in parts) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        way = part.centre_m - centre
        inertia += part.inertia_kg_m2
        inertia += part.mass_kg * (way @ way * np.eye(3) - np.outer(way, way))
    return Load(mass_kg=mass, centre_m=np.asarray(centre), inertia_kg_m2=inertia)


@dataclass(slots=True, kw_only=True)
class RobotSettings:
    """The settings in force; the defaults are those of a robot with the Franka Hand."""

    T_nominal_ee: Array = field(default_factory=_eye)
    """The tool's centre point in the nominal end-effector frame, shape (4, 4)."""
    T_ee_stiffness: Array = field(default_factory=_eye)
    """The stiffness frame in that of the tool's centre point, shape (4, 4)."""
    joint_stiffness: Array = field(
        default_factory=lambda: np.array([3000.0, 3000.0, 3000.0, 2500.0, 2500.0, 2000.0, 2000.0])
    )
    """Of the robot's own impedance controller, which PTP motions use, shape (7,) [Nm/rad]."""
    cartesian_stiffness: Array = field(
        default_factory=lambda: np.array([3000.0] * 3 + [300.0] * 3)
    )
    """Of its Cartesian one, which no interface of franka_ros2 moves by [N/m, Nm/rad]."""
    load: Load = field(default_factory=Load)

    @property
    def flange_to_ee(self) -> Array:
        """The tool's centre point in the flange frame, shape (4, 4)."""
        return T_FLANGE_NOMINAL @ self.T_nominal_ee

    @property
    def flange_to_stiffness(self) -> Array:
        """The stiffness frame in the flange frame, shape (4, 4)."""
        return self.flange_to_ee @ self.T_ee_stiffness


def frame_from(column_major: Array) -> Array | None:
    """Return a pose from 16 numbers, shape (4, 4); None where they are none."""
    pose = np.asarray(column_major, dtype=np.float64).reshape(4, 4).T
    R = pose[:3, :3]
    sound = (
        np.isfinite(pose).all()
        and np.allclose(pose[3], (0, 0, 0, 1))
        and np.allclose(R @ R.T, np.eye(3), atol=1e-5)
        and np.linalg.det(R) > 0
    )
    return pose if sound else None


def is_load(load: Load) -> bool:
    inertia = load.inertia_kg_m2
    finite = np.isfinite([load.mass_kg, *load.centre_m, *inertia.flat]).all()
    return bool(
        finite
        and load.mass_kg >= 0
        and np.allclose(inertia, inertia.T)
        and np.linalg.eigvalsh(inertia).min() > -1e-9
    )


Numbers = Sequence[float] | Array


class Thresholds(Protocol):
    """What decides about contacts and collisions, 13 numbers each [Nm, N, Nm]."""

    lower: Sequence[float]
    upper: Sequence[float]
    upper_accelerating: Sequence[float]


@dataclass(frozen=True, slots=True)
class Order:
    """One request: what libfranka calls it, and what it changes in a simulated robot."""

    name: str
    sound: bool
    change: Callable[[RobotSettings, Thresholds], None]
    call: tuple[Any, ...]
    """The method of `franka::Robot` and its arguments."""

    def carry_out(self, settings: RobotSettings, thresholds: Thresholds) -> str:
        """Make the change; returns why it is not made, empty where it is."""
        if not self.sound:
            return ARGUMENT_TEXT.format(self.name)
        self.change(settings, thresholds)
        return ''


def _set(field: str, value: object) -> Callable[[RobotSettings, Thresholds], None]:
    return lambda settings, _: setattr(settings, field, value)


def _lists(*values: Numbers) -> list[list[float]]:
    return [np.asarray(value, dtype=np.float64).tolist() for value in values]


def load_order(mass_kg: float, centre_m: Numbers, inertia: Numbers = (0.0,) * 9) -> Order:
    """
    Set what the robot carries.

    *centre_m* is the centre of mass in the flange frame, *inertia* about that, column-major, 9
    numbers [kg m^2].
    """
    load = Load(
        mass_kg=mass_kg,
        centre_m=np.asarray(centre_m, dtype=np.float64),
        inertia_kg_m2=np.asarray(inertia, dtype=np.float64).reshape(3, 3).T,
    )
    call = ('set_load', float(mass_kg), *_lists(centre_m, inertia))
    return Order('Set Load', is_load(load), _set('load', load), call)


def tcp_order(column_major: Numbers) -> Order:
    """Set the tool's centre point in the nominal end-effector frame, 16 numbers."""
    pose = frame_from(np.asarray(column_major))
    call = ('set_EE', *_lists(column_major))
    return Order('Set NE to EE', pose is not None, _set('T_nominal_ee', pose), call)


def stiffness_frame_order(column_major: Numbers) -> Order:
    """Set the stiffness frame in that of the tool's centre point, 16 numbers."""
    pose = frame_from(np.asarray(column_major))
    call = ('set_K', *_lists(column_major))
    return Order('Set EE to K', pose is not None, _set('T_ee_stiffness', pose), call)


def joint_stiffness_order(stiffness: Numbers) -> Order:
    """Set the stiffness of the robot's own joint impedance controller, 7 numbers [Nm/rad]."""
    value = np.array(stiffness, dtype=np.float64)
    sound = value.shape == (N_JOINTS,) and bool(((value >= 0) & (value <= STIFFNESS_MAX)).all())
    call = ('set_joint_impedance', *_lists(value))
    return Order('Set Joint Impedance', sound, _set('joint_stiffness', value), call)


def cartesian_stiffness_order(stiffness: Numbers) -> Order:
    """Set the stiffness of its Cartesian controller, 6 numbers [N/m, Nm/rad]."""
    value = np.array(stiffness, dtype=np.float64)
    sound = bool(((value >= CARTESIAN_MIN) & (value <= CARTESIAN_MAX)).all())
    call = ('set_cartesian_impedance', *_lists(value))
    return Order('Set Cartesian Impedance', sound, _set('cartesian_stiffness', value), call)


def collision_order(lower: Numbers, upper: Numbers, upper_accelerating: Numbers) -> Order:
    """
    Set the thresholds of contacts and collisions, 13 numbers each [Nm, N, Nm].

    Torque of each joint, then force and torque at the flange. Above *lower* is a contact, above
    *upper* the arm stops, or above *upper_accelerating* while it speeds up or slows down.
    """
    values = np.array([lower, upper, upper_accelerating], dtype=np.float64)

    def change(_: RobotSettings, now: Thresholds) -> None:
        now.lower, now.upper, now.upper_accelerating = values.tolist()

    sound = values.shape == (3, N_JOINTS + 6) and bool(np.all(values >= 0))
    # pylibfranka has one pair of thresholds for all phases: the lower ones are kept in each.
    low, high = values[0], np.minimum(values[1], values[2])
    call = (
        'set_collision_behavior',
        *_lists(low[:N_JOINTS], high[:N_JOINTS], low[N_JOINTS:], high[N_JOINTS:]),
    )
    return Order('Set Collision Behavior', sound and bool(np.all(values[1:] > 0)), change, call)
