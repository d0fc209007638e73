"""
The first part of a lift, which measures whether the object comes along.

An object that is fixed to the table, or too heavy, must not be found out by hauling at it. So a
lift begins with a short and slow goal of its own, so short that even an arm against a fixed object
pulls only a little harder than an object may weigh. How short depends on the stiffness of the
joints, which are springs in a row. A fixed object keeps the hand from going sideways too, but lets
it turn about the pads of the fingers, so that with J the linear rows of the Jacobian and k the
stiffnesses of the joints it is

    force / rise = [(J diag(1/k) J^T)^-1]_zz.

Were the hand kept from turning too, all six rows of J would count: hardly another force in the
middle of the table, five times as much near the base. But in physics it does turn, and the three
rows predict the force to a fifth (docs/design/lift-off.md). Six rows would be the worse error: the
arm would pull with less than the cap, and a fixed object would pass for free.

The force is checked on the way, which ends the goal early, and again at its end, in case its
readings come late. The rest of the lift follows when the object has come along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.kinematics import forward, jacobian
from bbllm.arm.limits import DQ_MAX
from bbllm.arm.motion.cartesian_path import cubic
from bbllm.core.errors import ConfigError

SERVO_STIFFNESS = (4500.0, 4500.0, 3500.0, 3500.0, 2000.0, 2000.0, 2000.0)
"""Of the simulated arm, as in fr3.xml [Nm/rad]."""
CONTROLLER_STIFFNESS = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)
"""Of the real arm by the gains of config/franka/controllers.yaml [Nm/rad]."""
OVERSHOOT = 1.55
"""How many times the final pull an arm pulls on the way at most, as servos with much damping do:
measured in simulation (docs/design/lift-off.md)."""
FURTHEST_M = 0.02
"""Longest first bit of a lift [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftParams:
    """How carefully a lift begins."""

    cap_n: float = 10.0
    """What a lift may take, beyond what the hand feels before it: an eighth of what a fixed block
    was felt with 20 ms into a lift in one go (docs/design/lift-off.md) [N]."""
    pull: float = 1.5
    """How many times the cap the arm pulls in the end where nothing gives."""
    duration_s: float = 0.22
    """Duration of the first bit; a shorter one exceeds OVERSHOOT [s]."""
    stiffness_nm_rad: tuple[float, ...] = SERVO_STIFFNESS
    """Of the joints, shape (7,)."""

    @classmethod
    def of(cls, *, simulated: bool, cap_n: float) -> LiftParams:
        stiffness = SERVO_STIFFNESS if simulated else CONTROLLER_STIFFNESS
        return cls(cap_n=cap_n, stiffness_nm_rad=stiffness)

    @property
    def hardest_n(self) -> float:
        """How hard the arm pulls at most where nothing gives, on the way and in the end [N]."""
        return OVERSHOOT * self.pull * self.cap_n

    def check_below(self, stops_n: float) -> None:
        """Raise ConfigError where the robot would stop before the cap ends a lift [N]."""
        if self.hardest_n <= stops_n:
            return
        most_n = math.floor(10 * stops_n * self.cap_n / self.hardest_n) / 10
        raise ConfigError(
            f'A lift_cap_n of {self.cap_n:g} N cannot be used: at what is fixed the arm would '
            f'pull with up to {self.hardest_n:g} N, and the robot stops at {stops_n:g} N '
            f'(contact_force.max_n of the safety file). A lift_cap_n of {most_n:g} N or less '
            f'would do, or a contact_force.max_n of {math.ceil(self.hardest_n)} N or more.'
        )

    def rise_m(self, q: Array) -> float:
        """Return how far an arm at a posture, shape (7,) [rad], goes up to see [m]."""
        linear = jacobian(q)[:3]
        stiffness = np.linalg.inv(linear / np.array(self.stiffness_nm_rad) @ linear.T)
        return min(FURTHEST_M, self.pull * self.cap_n / float(stiffness[2, 2]))


def parted(up: Array, rise_m: float) -> tuple[Array, Array]:
    """
    Part the way up, evenly spaced joint positions of shape (n, 7) [rad], after a first bit.

    Returns both parts, evenly spaced, of shapes (2, 7) and (n, 7).
    """
    first, last = forward(up[[0, -1]])[:, :3, 3]
    share = rise_m / max(float(np.linalg.norm(last - first)), 2 * rise_m)
    points = cubic(up)(np.linspace(share, 1.0, len(up)))
    return np.stack([up[0], points[0]]), points


def slow_move(ends: Array, duration_s: float) -> JointTrajectory:
    """
    Return a motion in a straight line in joint space, one quintic from rest to rest.

    *ends* are its joint positions, shape (2, 7) [rad]. It takes longer than *duration_s* where a
    joint would be faster than at half of its speed limit.
    """
    fastest = 1.875 * np.abs(ends[1] - ends[0]) / DQ_MAX  # a quintic's peak is 15/8 of its mean
    still = np.zeros((2, len(ends[0])))
    time_s = np.array([0.0, max(duration_s, 2 * float(fastest.max()))])
    return JointTrajectory(time_s, ends, still, still)
