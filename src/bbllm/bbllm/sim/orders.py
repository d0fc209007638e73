"""
What an idle robot can be told: `service_server`'s requests, checked as libfranka checks them.

A value that makes no sense is an invalid argument. Whether the robot is idle is the robot's to
say, see `sim.robot.SimulatedRobot.order`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.sim.faults import FaultMonitor
from bbllm.sim.settings import (
    ARGUMENT_TEXT,
    Load,
    Settings,
    frame_from,
    is_cartesian_stiffness,
    is_joint_stiffness,
    is_load,
)

Numbers = Sequence[float] | Array


@dataclass(frozen=True, slots=True)
class Order:
    """One request: what libfranka calls it, and what it changes."""

    name: str
    sound: bool
    """Whether its values make sense."""
    change: Callable[[Settings, FaultMonitor], None]

    def carry_out(self, settings: Settings, monitor: FaultMonitor) -> str:
        """Make the change; returns why it is not made, empty where it is."""
        if not self.sound:
            return ARGUMENT_TEXT.format(self.name)
        self.change(settings, monitor)
        return ''


def load_order(mass_kg: float, centre_m: Numbers, inertia: Numbers = (0.0,) * 9) -> Order:
    """
    Tell what the robot carries.

    Args:
        mass_kg: Mass [kg].
        centre_m: Centre of mass in the flange frame, shape (3,) [m].
        inertia: About that, column-major, shape (9,) [kg m^2].
    """
    load = Load(
        mass_kg=mass_kg,
        centre_m=np.asarray(centre_m, dtype=np.float64),
        inertia_kg_m2=np.asarray(inertia, dtype=np.float64).reshape(3, 3).T,
    )

    def change(settings: Settings, _: FaultMonitor) -> None:
        settings.load = load

    return Order('Set Load', is_load(load), change)


def tcp_order(column_major: Numbers) -> Order:
    """Set the tool's centre point in the nominal end-effector frame, 16 numbers."""
    pose = frame_from(np.asarray(column_major))

    def change(settings: Settings, _: FaultMonitor) -> None:
        assert pose is not None  # the order is sound
        settings.T_nominal_ee = pose

    return Order('Set NE to EE', pose is not None, change)


def stiffness_frame_order(column_major: Numbers) -> Order:
    """Set the stiffness frame in that of the tool's centre point, 16 numbers."""
    pose = frame_from(np.asarray(column_major))

    def change(settings: Settings, _: FaultMonitor) -> None:
        assert pose is not None  # the order is sound
        settings.T_ee_stiffness = pose

    return Order('Set EE to K', pose is not None, change)


def joint_stiffness_order(stiffness: Numbers) -> Order:
    """Set the stiffness of the robot's own joint impedance controller, 7 numbers [Nm/rad]."""
    value = np.array(stiffness, dtype=np.float64)

    def change(settings: Settings, _: FaultMonitor) -> None:
        settings.joint_stiffness = value

    return Order('Set Joint Impedance', is_joint_stiffness(value), change)


def cartesian_stiffness_order(stiffness: Numbers) -> Order:
    """Set the stiffness of its Cartesian controller, 6 numbers [N/m, Nm/rad]."""
    value = np.array(stiffness, dtype=np.float64)

    def change(settings: Settings, _: FaultMonitor) -> None:
        settings.cartesian_stiffness = value

    return Order('Set Cartesian Impedance', is_cartesian_stiffness(value), change)


def collision_order(lower: Numbers, upper: Numbers, upper_accelerating: Numbers) -> Order:
    """
    Set the thresholds of contacts and collisions.

    Args:
        lower: Torque of each joint, then force and torque at the flange, 13 numbers [Nm, N, Nm].
        upper: The same; above it the arm stops.
        upper_accelerating: The same while it speeds up or slows down.
    """
    values = np.array([lower, upper, upper_accelerating], dtype=np.float64)

    def change(_: Settings, monitor: FaultMonitor) -> None:
        monitor.lower, monitor.upper, monitor.upper_accelerating = values

    sound = values.shape == (3, N_JOINTS + 6) and bool(np.all(values >= 0))
    return Order('Set Collision Behavior', sound and bool(np.all(values[1:] > 0)), change)
