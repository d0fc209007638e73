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
rows predict the force to a fifth (design/lift-off.md). Six rows would be the worse error: the
arm would pull with less than the cap, and a fixed object would pass for free.

The force is checked on the way, which ends the goal early, and again at its end, in case its
readings come late. The rest of the lift follows when the object has come along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.cartesian_path import cubic
from bbllm.arm.motion.trajectory import excess, slowed
from bbllm.core.errors import ConfigError
from bbllm.robots.robot_model import RobotModel

PEAK = 1.45
"""What the servos are asked for at most on the way, in terms of the pull in the end."""
_RAMPS_S = (0.1, 0.02)
"""How long the pull grows and falls; it passes the cap no faster than a stop can follow [s]."""
_KNOT_S = 0.005
_GENTLE_SHARE = 0.25
"""Share of the limits of velocity and acceleration that the first bit may use."""
FURTHEST_M = 0.02
"""Longest first bit of a lift [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftParams:
    """How carefully a lift begins."""

    cap_n: float = 10.0
    """What a lift may take, beyond what the hand feels before it: an eighth of what a fixed block
    was felt with 20 ms into a lift in one go (design/lift-off.md) [N]."""
    let_go: float = 0.25
    """Share of the cap that the hand is pulled with at most where a lift has only let go of what
    closing pressed: a finger that came first presses an object down (design/lift-off.md)."""
    pull: float = 1.5
    """How many times the cap the arm pulls in the end where nothing gives."""
    simulated: bool = True
    """Whether the joints give way as the servos of the simulated arm."""

    def hardest_n(self, robot: RobotModel) -> float:
        """Return how hard an arm pulls at most where nothing gives, also on the way [N]."""
        return robot.servos.overshoot * self.pull * self.cap_n

    def check_below(self, robot: RobotModel, stops_n: float) -> None:
        """Raise ConfigError where the robot would stop before the cap ends a lift [N]."""
        hardest_n = self.hardest_n(robot)
        if hardest_n <= stops_n:
            return
        most_n = math.floor(10 * stops_n * self.cap_n / hardest_n) / 10
        raise ConfigError(
            f'A lift_cap_n of {self.cap_n:g} N cannot be used: at what is fixed the arm would '
            f'pull with up to {hardest_n:g} N, and the robot stops at {stops_n:g} N '
            f'(contact_force.max_n of the safety file). A lift_cap_n of {most_n:g} N or less '
            f'would do, or a contact_force.max_n of {math.ceil(hardest_n)} N or more.'
        )

    def rise_m(self, robot: RobotModel, q: Array) -> float:
        """Return how far an arm at a posture, shape (7,) [rad], goes up to see [m]."""
        linear, servos = robot.kinematics.jacobian(q)[:3], robot.servos
        joints = servos.stiffness_nm_rad if self.simulated else servos.controller_stiffness_nm_rad
        stiffness = np.linalg.inv(linear / joints @ linear.T)
        return min(FURTHEST_M, self.pull * self.cap_n / float(stiffness[2, 2]))


def parted(
    robot: RobotModel, up: Array, rise_m: float, q: Array | None = None
) -> tuple[Array, Array]:
    """
    Part the way up, evenly spaced joint positions of shape (n, 7) [rad], after a bit of it.

    The bit begins with the way or, where the arm is on its way already, at its posture *q*, shape
    (7,) [rad]. Returns the bit and what is left, evenly spaced, of shapes (2, 7) and (n, 7).
    """
    q = up[0] if q is None else q
    first, last, now = robot.kinematics.forward(np.stack([up[0], up[-1], q]))[:, :3, 3]
    risen_m = float(np.linalg.norm(now - first)) + rise_m
    share = risen_m / max(float(np.linalg.norm(last - first)), 2 * risen_m)
    points = cubic(up)(np.linspace(share, 1.0, len(up)))
    return np.stack([q, points[0]]), points


def gentle_move(robot: RobotModel, ends: Array) -> JointTrajectory:
    """
    Return a motion in a straight line in joint space whose pull at what is fixed grows gently.

    *ends* are its joint positions, shape (2, 7) [rad]. It takes 0.18 s, and longer where a joint
    would accelerate with more than a quarter of its limit.
    """
    time_s, s, ds, dds = _pull_profile(robot.servos.lag_s)
    span = ends[1] - ends[0]
    position, velocity, acceleration = (part[:, None] * span for part in (s, ds, dds))
    position += ends[0]
    position[-1] = ends[1]
    move = JointTrajectory(time_s, position, velocity, acceleration)
    return slowed(move, excess(robot, move, scale=_GENTLE_SHARE))


@lru_cache(maxsize=4)
def _pull_profile(lag_s: float) -> tuple[Array, Array, Array, Array]:
    """
    Return times [s] of a motion from 0 to 1, its positions and their first two derivatives.

    A servo that is held back pulls with f = s + lag ds/dt, in terms of its pull in the end. So f
    is what is chosen: it grows to PEAK, stays there, and falls to 1. The motion s is f through a
    low-pass filter; where f is a polynomial p, that is p - lag p' + lag^2 p'' - ... plus a
    multiple of exp(-t / lag).
    """
    steps = [Polynomial((0.0, 0.0, 3.0, -2.0))(Polynomial((0.0, 1.0 / d))) for d in _RAMPS_S]
    pulls = (PEAK * steps[0], Polynomial((PEAK,)), PEAK + (1.0 - PEAK) * steps[1])
    smooth = [sum((-lag_s) ** k * pull.deriv(k) for k in range(1, 4)) + pull for pull in pulls]
    grown, fallen = _RAMPS_S
    first = smooth[0](grown) - smooth[0](0.0) * math.exp(-grown / lag_s)
    last = smooth[2](0.0) + (1.0 - smooth[2](fallen)) * math.exp(fallen / lag_s)
    stays = lag_s * math.log((PEAK - first) / (PEAK - last))
    begun_s, rows = 0.0, []
    for pull, base, start, lasts in zip(
        pulls, smooth, (0.0, first, last), (grown, stays, fallen), strict=True
    ):
        t = np.linspace(0.0, lasts, 2 + int(lasts / _KNOT_S))
        s = base(t) + (start - base(0.0)) * np.exp(-t / lag_s)
        ds = (pull(t) - s) / lag_s
        rows.append(np.stack([begun_s + t, s, ds, (pull.deriv()(t) - ds) / lag_s])[:, 1:])
        begun_s += lasts
    profile = np.concatenate([np.zeros((4, 1)), *rows], axis=1)
    profile[1:, -1] = 1.0, 0.0, 0.0
    time_s, s, ds, dds = profile
    return time_s, s, ds, dds
