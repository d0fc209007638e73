"""What a trajectory is between its points, and whether that is legal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import JointTrajectory
from bbllm.arm.limits import DDQ_MAX, velocity_limits

Array = NDArray[np.float64]

_CHECKS = 96


def sample(trajectory: JointTrajectory, time_s: Array) -> tuple[Array, Array, Array]:
    """
    Interpolate as the controller does: quintics between the points, held beyond the ends.

    Args:
        trajectory: The motion.
        time_s: When, shape (n,) [s].

    Returns:
        Position, velocity and acceleration, each of shape (n, 7) [rad, rad/s, rad/s^2].
    """
    times = trajectory.time_s
    time_s = np.clip(time_s, times[0], times[-1])
    i = np.clip(np.searchsorted(times, time_s, side='right') - 1, 0, len(times) - 2)
    h = (times[i + 1] - times[i])[:, None]
    u = (time_s - times[i])[:, None] / h
    p0, p1 = trajectory.position_rad[i], trajectory.position_rad[i + 1]
    v0, v1 = trajectory.velocity_rad_s[i] * h, trajectory.velocity_rad_s[i + 1] * h
    a0 = trajectory.acceleration_rad_s2[i] * h**2 / 2
    a1 = trajectory.acceleration_rad_s2[i + 1] * h**2 / 2
    gap, v_gap, a_gap = p1 - p0 - v0 - a0, v1 - v0 - 2 * a0, a1 - a0
    c3 = 10 * gap - 4 * v_gap + a_gap
    c4 = -15 * gap + 7 * v_gap - 2 * a_gap
    c5 = 6 * gap - 3 * v_gap + a_gap
    position = p0 + u * (v0 + u * (a0 + u * (c3 + u * (c4 + u * c5))))
    velocity = (v0 + u * (2 * a0 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))) / h
    acceleration = (2 * a0 + u * (6 * c3 + u * (12 * c4 + u * 20 * c5))) / h**2
    return position, velocity, acceleration


def excess(move: JointTrajectory) -> float:
    """
    Return by what factor a motion would have to be slower to be legal; 1 or less where it is.

    Looks at velocities (position dependent) and accelerations at the knots and between them.
    """
    time_s = np.concatenate([move.time_s, np.linspace(0.0, move.duration_s, _CHECKS)])
    position, velocity, acceleration = sample(move, time_s)
    lower, upper = velocity_limits(position)
    legal = np.maximum(np.where(velocity > 0, upper, -lower), 1e-9)
    moving = np.abs(velocity) > 1e-9
    return float(
        max(
            np.max(np.abs(velocity) / legal * moving),
            np.sqrt(np.max(np.abs(acceleration) / DDQ_MAX)),
        )
    )


def slowed(move: JointTrajectory, factor: float) -> JointTrajectory:
    """Stretch a motion in time by a factor, if that is above 1."""
    factor = max(factor, 1.0)
    return on_nanoseconds(
        JointTrajectory(
            time_s=move.time_s * factor,
            position_rad=move.position_rad,
            velocity_rad_s=move.velocity_rad_s / factor,
            acceleration_rad_s2=move.acceleration_rad_s2 / factor**2,
        )
    )


def on_nanoseconds(move: JointTrajectory) -> JointTrajectory:
    """
    Move the knots to whole nanoseconds, and the states with them.

    A message carries nothing finer; a time that is off from its state by half a nanosecond
    would be a jolt where knots are near to each other.
    """
    time_s = np.round(move.time_s, 9)
    shift = (time_s - move.time_s)[:, None]
    return JointTrajectory(
        time_s=time_s,
        position_rad=move.position_rad + move.velocity_rad_s * shift,
        velocity_rad_s=move.velocity_rad_s + move.acceleration_rad_s2 * shift,
        acceleration_rad_s2=move.acceleration_rad_s2,
    )
