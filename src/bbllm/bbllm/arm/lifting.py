"""
The first bit of a lift, on which it shows whether the thing comes along.

What is fixed to the table, or too heavy, must not be found out by hauling at it. So a lift begins
with a short and slow goal of its own, by so little that even an arm that nothing gives way to
pulls only a little harder than a thing may weigh. How little depends on how stiffly the arm is
held. Its joints are springs in a row; what is fixed holds the hand sideways too, so with J the
linear rows of the Jacobian and k the stiffnesses of the joints it is

    force / rise = [(J diag(1/k) J^T)^-1]_zz.

The force is looked at on the way, which ends the goal early, and again at its end: who hears the
robot late still hauls no harder. The rest of the lift follows when the thing has come along.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import ArmDriver, Array, JointTrajectory
from bbllm.arm.kinematics import forward, jacobian
from bbllm.arm.limits import DQ_MAX
from bbllm.arm.spline import Spline

SERVO_STIFFNESS = (4500.0, 4500.0, 3500.0, 3500.0, 2000.0, 2000.0, 2000.0)
"""Of the simulated arm, as in fr3.xml [Nm/rad]."""
CONTROLLER_STIFFNESS = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)
"""Of the real arm by the gains of config/franka/controllers.yaml [Nm/rad]."""
MEAN_S = 0.02
"""Over how long the force is averaged [s]."""
FURTHEST_M = 0.02
"""Longest first bit of a lift [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftParams:
    """How carefully a lift begins."""

    cap_n: float = 10.0
    """What a lift may take, beyond what the hand feels before it [N]."""
    pull: float = 1.5
    """How many times the cap the arm pulls in the end where nothing gives."""
    duration_s: float = 0.22
    """How long the first bit takes; servos with much damping pull up to 1.5 times as hard on the
    way as in the end [s]."""
    stiffness_nm_rad: tuple[float, ...] = SERVO_STIFFNESS
    """How stiffly the joints are held, shape (7,) [Nm/rad]."""

    def rise_m(self, q: Array) -> float:
        """Return how far an arm at a posture, shape (7,) [rad], goes up to see [m]."""
        linear = jacobian(q)[:3]
        stiffness = np.linalg.inv(linear / np.array(self.stiffness_nm_rad) @ linear.T)
        return min(FURTHEST_M, self.pull * self.cap_n / float(stiffness[2, 2]))


class PullMeter:
    """The mean of the newest readings of the vertical force on the hand; thread-safe."""

    def __init__(self) -> None:
        self._readings: deque[tuple[float, float]] = deque(maxlen=64)
        self._news = threading.Condition()
        self._listener: Callable[[], None] | None = None

    @property
    def known(self) -> bool:
        """Whether there ever was a reading."""
        return bool(self._readings)

    @contextmanager
    def heard_by(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call somebody after every reading meanwhile, in the thread that brings it."""
        self._listener = listener
        try:
            yield
        finally:
            self._listener = None

    def add(self, force_z_n: float, stamp_s: float) -> None:
        """Take in a reading along the base's z axis [N], and when it was measured [s]."""
        with self._news:
            if self._readings and stamp_s < self._readings[-1][0]:
                self._readings.clear()  # the clock began anew
            self._readings.append((stamp_s, force_z_n))
            self._news.notify_all()
        listener = self._listener
        if listener is not None:
            listener()

    def mean_n(self) -> float | None:
        """Return the mean over the last 20 ms that were heard of; None without a reading [N]."""
        with self._news:
            if not self._readings:
                return None
            since_s = self._readings[-1][0] - MEAN_S
            recent = [force for stamp_s, force in self._readings if stamp_s > since_s]
        return sum(recent) / len(recent)

    def wait_until(self, stamp_s: float, timeout_s: float) -> bool:
        """Wait for a reading of a time or later, by the wall clock; tells whether it came [s]."""
        with self._news:
            return self._news.wait_for(
                lambda: bool(self._readings) and self._readings[-1][0] >= stamp_s, timeout_s
            )


class LiftWatch:
    """
    Looks whether a lift takes more than it may; the arm is at rest when one is made.

    Args:
        driver: Tells the force.
        cap_n: What it may take [N].
    """

    def __init__(self, driver: ArmDriver, cap_n: float) -> None:
        self._driver, self._cap_n = driver, cap_n
        self._before_n = driver.vertical_force_n(settled=True)
        self.tripped = False
        """Whether it took more at any look."""

    @property
    def blind(self) -> bool:
        """Whether nobody tells the force, so that there is nothing to look at."""
        return self._before_n is None

    def __call__(self, *, settled: bool = False) -> bool:
        """Look once, also at what is measured from now on where *settled*; tells the verdict."""
        now_n = self._driver.vertical_force_n(settled=settled)
        if now_n is not None and self._before_n is not None:
            self.tripped |= abs(now_n - self._before_n) > self._cap_n
        return self.tripped


def parted(up: Array, rise_m: float) -> tuple[Array, Array]:
    """
    Part the way up after a first bit of it.

    Args:
        up: Joint positions on the straight way up, evenly spaced, shape (n, 7) [rad].
        rise_m: Length of the first bit [m].

    Returns:
        Joint positions of both parts, evenly spaced, shapes (2, 7) and (n, 7) [rad].
    """
    first, last = forward(up[[0, -1]])[:, :3, 3]
    share = rise_m / max(float(np.linalg.norm(last - first)), 2 * rise_m)
    points, _, _ = Spline(up)(np.linspace(share, 1.0, len(up)))
    return np.stack([up[0], points[0]]), points


def slow_move(ends: Array, duration_s: float) -> JointTrajectory:
    """
    Return a motion in a straight line in joint space, one quintic from rest to rest.

    Args:
        ends: Its first and last joint positions, shape (2, 7) [rad].
        duration_s: How long it takes; longer where the joints are too slow for that [s].
    """
    fastest = 1.875 * np.abs(ends[1] - ends[0]) / DQ_MAX  # a quintic's peak is 15/8 of its mean
    still = np.zeros((2, len(ends[0])))
    return JointTrajectory(
        time_s=np.array([0.0, max(duration_s, 2 * float(fastest.max()))]),
        position_rad=ends,
        velocity_rad_s=still,
        acceleration_rad_s2=still,
    )
