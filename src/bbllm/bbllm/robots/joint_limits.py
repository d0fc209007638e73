"""
Limits of the joints of an arm: position, velocity, acceleration, jerk, torque.

The legal velocity of a joint may fall towards the ends of its range.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Q_MARGIN_RAD = 0.02
"""What plans keep from the position limits; nearer, the legal velocity may fall to zero [rad]."""
_TOLERANCE = 1e-3
"""Taken off all velocity limits, as controllers do before they compare [rad/s]."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrakingCurve:
    """
    A published velocity limit of joints near their stops, sqrt(2 a d) - offset at a distance d.

    A concave function of the position, which `arm.motion.trajectory` relies on. Arrays have shape
    (7,).
    """

    lower_stop_rad: Array
    upper_stop_rad: Array
    offset_rad_s: Array
    twice_deceleration: Array
    """[rad/s^2]"""

    def speed(self, distance: Array) -> Array:
        """Return the limit at distances from a stop, shape (..., 7) [rad], [rad/s]."""
        reach = self.twice_deceleration * np.maximum(distance, 0.0)
        return np.asarray(np.sqrt(reach) - self.offset_rad_s)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointLimits:
    """What each joint may do, arrays of shape (7,); plans are legal under all curves at once."""

    lower_rad: Array
    upper_rad: Array
    velocity_rad_s: Array
    """Far from the position limits."""
    acceleration_rad_s2: Array
    jerk_rad_s3: Array
    torque_nm: Array
    collision_stop_rad_s2: Array
    """Deceleration after a collision, within the torque."""
    braking: tuple[BrakingCurve, ...] = ()
    """Empty where the legal velocity is the same everywhere."""

    def velocity_limits(self, q: Array) -> tuple[Array, Array]:
        """
        Return what velocities are legal at a position.

        Lower (<= 0) and upper (>= 0), each of the shape of *q*, (..., 7) [rad/s].
        """
        q = np.asarray(q, dtype=np.float64)
        upper = self._capped([curve.speed(curve.upper_stop_rad - q) for curve in self.braking], q)
        lower = self._capped([curve.speed(q - curve.lower_stop_rad) for curve in self.braking], q)
        return -lower, upper

    def speed_limits(self, q: Array, direction: Array) -> Array:
        """
        Return how fast joints may move in a direction, as `velocity_limits`, at half of the cost.

        A joint goes up where *direction* is above 0, else down; all shapes are (..., 7) [rad/s].
        """
        rises = direction > 0
        speeds = [
            curve.speed(np.where(rises, curve.upper_stop_rad - q, q - curve.lower_stop_rad))
            for curve in self.braking
        ]
        return self._capped(speeds, q)

    def within(self, q: Array, margin_rad: float = Q_MARGIN_RAD) -> NDArray[np.bool_]:
        """Return which positions, shape (..., 7) [rad], keep the margin from all limits."""
        legal = (q >= self.lower_rad + margin_rad) & (q <= self.upper_rad - margin_rad)
        return np.asarray(legal.all(axis=-1))

    def _capped(self, speeds: list[Array], q: Array) -> Array:
        """Return the least of speeds and of the limit far from the stops, in the shape of *q*."""
        if not speeds:
            return np.broadcast_to(self.velocity_rad_s - _TOLERANCE, q.shape)
        least = reduce(np.minimum, speeds, self.velocity_rad_s)
        return np.asarray(np.maximum(least, _TOLERANCE) - _TOLERANCE)
