"""
Limits of the FR3's joints: position, position-dependent velocity, acceleration, jerk, torque.

Two sets of figures are in the field. Robots with system image 5.9.0 or later have wider
position limits and slower velocity curves near the stops; older images, franka_description 1.x
and the rate limiter that franka_hardware calls have the narrower ones. What is planned here is
legal under both.

Sources: Franka's control-parameters-joint-fr3.csv (old and current) and libfranka's
`joint_velocity_limits.cpp` and `rate_limiting.h`.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Q_MAX: Array = np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159])
"""Upper position limits, and lower: the old ones, inside the current ones, shape (7,) [rad]."""
Q_MIN: Array = np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159])
Q_MARGIN_RAD = 0.02
"""What plans keep from the position limits; nearer, the legal velocity falls to zero [rad]."""
Q_READY: Array = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])
"""Franka's ready posture: hand over the table, fingers down [rad]."""

DQ_MAX: Array = np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26])
"""Velocity limits far from the position limits [rad/s]."""
TAU_MAX: Array = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
"""Torque limits [Nm]."""
DDQ_MAX: Array = np.full(7, 10.0)
"""Acceleration limits [rad/s^2]."""
DDDQ_MAX: Array = np.full(7, 5000.0)
"""Jerk limits [rad/s^3]."""

# Row 0: documented since system 5.9.0; row 1: fixed constants of rate_limiting.h.
_STOP_UPPER: Array = np.array(
    [
        [2.9007, 1.8361, 2.9007, -0.1169, 2.8763, 4.6216, 3.0508],
        [2.75010, 1.79180, 2.90650, -0.1458, 2.81010, 4.52050, 3.01960],
    ]
)
_STOP_LOWER: Array = np.array(
    [
        [-2.9007, -1.8361, -2.9007, -3.0770, -2.8763, 0.4398, -3.0508],
        [-2.75010, -1.79180, -2.90650, -3.0481, -2.81010, 0.54092, -3.01960],
    ]
)
_OFFSET: Array = np.array(
    [
        [0.6599, 0.2517, 0.2000, 0.3533, 0.5757, 0.4878, 0.4628],
        [0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35],
    ]
)
_TWICE_DECELERATION: Array = np.array([12.0, 5.17, 7.0, 8.0, 34.0, 11.0, 34.0])
_TOLERANCE = 1e-3
"""libfranka takes this off both limits before it compares [rad/s]."""


def velocity_limits(q: Array) -> tuple[Array, Array]:
    """
    Return what velocities are legal at a position under both published formulas.

    Each limit is a concave function of the position, which `arm.motion.trajectory` relies on.
    Lower (<= 0) and upper (>= 0), each of the shape of *q*, (..., 7) [rad/s].
    """
    q = np.asarray(q, dtype=np.float64)
    upper = _braking_speed(*(stop - q for stop in _STOP_UPPER))
    lower = -_braking_speed(*(q - stop for stop in _STOP_LOWER))
    return lower, upper


def speed_limits(q: Array, direction: Array) -> Array:
    """
    Return how fast joints may move in a direction, as `velocity_limits`, at half of the cost.

    A joint goes up where *direction* is above 0, else down; all shapes are (..., 7) [rad/s].
    """
    rises, stops = direction > 0, zip(_STOP_UPPER, _STOP_LOWER)
    return _braking_speed(*(np.where(rises, upper - q, q - lower) for upper, lower in stops))


def within_limits(q: Array, margin_rad: float = Q_MARGIN_RAD) -> NDArray[np.bool_]:
    """Return which positions, shape (..., 7) [rad], keep the margin from all limits."""
    legal = (q >= Q_MIN + margin_rad) & (q <= Q_MAX - margin_rad)
    return np.asarray(legal.all(axis=-1))


def _braking_speed(*distances: Array) -> Array:
    """Return the legal speed at distances from the stops of both formulas, (..., 7) [rad]."""
    documented, fixed = (
        np.sqrt(_TWICE_DECELERATION * np.maximum(distance, 0.0)) - offset
        for distance, offset in zip(distances, _OFFSET, strict=True)
    )
    speed = np.maximum(np.minimum(documented, fixed), _TOLERANCE)
    return np.asarray(np.minimum(speed, DQ_MAX) - _TOLERANCE)
