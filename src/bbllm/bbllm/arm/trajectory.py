"""
Joint motions timed within velocity (position dependent), acceleration and jerk limits.

A motion that is straight in joint space is one function s(t) times a constant vector, so timing
it is a problem of one dimension. Where the velocity limits are constant, ruckig's profile is the
fastest there is. Near the position limits the legal velocity falls; `arm.braking` then times it.

Either way s(t) is a cubic between few knots. A quintic through position, velocity and
acceleration of two knots is that cubic, so the controller repeats what was planned exactly, and
the message stays short.

Jerk is held to a fifth of what the robot allows: it costs 20 ms at each end of a motion, and
keeps the feed-forward torque within 1000 Nm/s and the servos on the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import ruckig
from numpy.typing import NDArray

from bbllm.arm.braking import Knots, braking_profile
from bbllm.arm.driver import JointTrajectory
from bbllm.arm.interpolation import excess, on_nanoseconds, sample, slowed
from bbllm.arm.limits import DDDQ_MAX, DDQ_MAX, DQ_MAX, Q_MAX, Q_MIN, velocity_limits
from bbllm.core.errors import BbllmError

Array = NDArray[np.float64]

JERK_SHARE = 0.2
"""Share of the jerk limit that plans use."""
_SAFE = 0.998
"""Share of every limit that plans use, so that rounding on the way never breaks one."""
_AT_REST_S = 0.02
"""Duration of a motion that goes nowhere [s]."""
_SHORTEST_S = 1e-5
"""Knots nearer to each other than this are one [s]."""

_OVERLAP_SHARE = 0.6
"""Share of a motion that may overlap with another; the rest stays just as it was planned."""
_TRIES = 10
_BISECTIONS = 4


class NoPathError(BbllmError):
    """No legal motion was found; the text says what stands in the way."""

    def __init__(self, reason: str, blockers: tuple[str, ...] = ()):
        super().__init__(reason)
        self.blockers = blockers
        """Names of what was touched: scene objects, `table`, or links of the arm."""


def joint_move(q_start: Array, q_goal: Array, *, scale: float = 1.0) -> JointTrajectory:
    """
    Move in a straight line in joint space, from rest to rest.

    Args:
        q_start: Where the arm stands, shape (7,) [rad].
        q_goal: Where it goes, shape (7,) [rad].
        scale: Share of the velocity and acceleration limits to use, in (0, 1]. The velocity
            limit near a position limit is used in full where it is below that share.

    Raises:
        NoPathError: The goal is outside the position limits.
    """
    q_start, q_goal = np.array(q_start, dtype=np.float64), np.array(q_goal, dtype=np.float64)
    _check_goal(q_goal)
    span = q_goal - q_start
    reach = np.abs(span)
    if reach.max() < 1e-9:
        return _on_line(q_start, q_goal, Knots.at_rest(_AT_REST_S))
    reach = np.maximum(reach, 1e-12)
    speed = float((scale * _SAFE * DQ_MAX / reach).min())
    acceleration = float((scale * _SAFE * DDQ_MAX / reach).min())
    jerk = float((JERK_SHARE * DDDQ_MAX / reach).min())
    move = _on_line(q_start, q_goal, ruckig_profile(1.0, speed, acceleration, jerk))
    if excess(move) <= 1.0:
        return on_nanoseconds(move)

    def speed_bound(s: Array) -> Array:
        lower, upper = velocity_limits(q_start + s[:, None] * span)
        legal = np.where(span > 0, upper, -lower)
        return np.asarray(np.minimum(speed, (_SAFE * legal / reach).min(axis=-1)))

    move = _on_line(q_start, q_goal, braking_profile(speed_bound, acceleration, jerk))
    return slowed(move, excess(move))


def waypoint_move(waypoints: Sequence[Array], *, scale: float = 1.0) -> JointTrajectory:
    """
    Move from the first to the last joint position through those between, without stops.

    Corners are rounded as far as the limits allow; a point between is passed near, not hit.

    Args:
        waypoints: At least two joint positions, each of shape (7,) [rad].
        scale: Share of the velocity and acceleration limits to use, in (0, 1].

    Raises:
        NoPathError: A point is outside the position limits.
    """
    legs = [joint_move(a, b, scale=scale) for a, b in zip(waypoints, waypoints[1:])]
    return reduce(lambda first, second: blend(first, second, scale=scale)[0], legs)


def concatenate(*parts: JointTrajectory) -> JointTrajectory:
    """Play motions one after the other; each starts from rest where the one before ended."""
    return reduce(lambda first, second: _overlapped(first, second, 0.0), parts)


def blend(
    first: JointTrajectory, second: JointTrajectory, *, scale: float = 1.0
) -> tuple[JointTrajectory, float]:
    """
    Start the second motion before the first has ended, as early as the limits allow.

    The two are added up while they overlap, so the corner between them is rounded and nothing
    else of either changes.

    Args:
        first: A motion that ends where *second* starts.
        second: The motion after it.
        scale: Share of the velocity and acceleration limits to use, in (0, 1].

    Returns:
        The joined motion and how much time was saved [s]. Check the result for collisions, and
        fall back to `concatenate`.
    """
    longest = _OVERLAP_SHARE * min(first.duration_s, second.duration_s)
    step = longest / _TRIES
    legal = (
        step * i for i in range(_TRIES, 0, -1) if _overlap_legal(first, second, step * i, scale)
    )
    low = next(legal, 0.0)
    high = min(low + step, longest)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _overlap_legal(first, second, middle, scale):
            low = middle
        else:
            high = middle
    return _overlapped(first, second, low), low


def ruckig_profile(distance: float, speed: float, acceleration: float, jerk: float) -> Knots:
    """Return ruckig's fastest way over a distance, from rest to rest, at its phase borders."""
    asked = ruckig.InputParameter(1)
    asked.current_position, asked.target_position = [0.0], [distance]
    asked.max_velocity, asked.max_acceleration = [speed], [acceleration]
    asked.max_jerk = [jerk]
    answer = ruckig.Trajectory(1)
    result = ruckig.Ruckig(1).calculate(asked, answer)
    if result != ruckig.Result.Working:
        raise NoPathError(f'ruckig found no timing for a distance of {distance:.3g}: {result}.')
    profile = answer.profiles[0][0]
    time_s = np.concatenate([[0.0], np.cumsum(profile.t)])
    return Knots.cleaned(
        time_s, np.array(profile.p), np.array(profile.v), np.array(profile.a), distance
    )


def _check_goal(q: Array) -> None:
    outside = (q < Q_MIN) | (q > Q_MAX)
    if outside.any():
        i = int(np.argmax(outside))
        raise NoPathError(
            f'Joint {i + 1} would have to go to {q[i]:.3f} rad; '
            f'it can from {Q_MIN[i]:.3f} to {Q_MAX[i]:.3f}.'
        )


def _on_line(q_start: Array, q_goal: Array, knots: Knots) -> JointTrajectory:
    span = q_goal - q_start
    position = q_start + knots.s[:, None] * span
    position[-1] = q_goal
    return JointTrajectory(
        time_s=knots.time_s,
        position_rad=position,
        velocity_rad_s=knots.ds[:, None] * span,
        acceleration_rad_s2=knots.dds[:, None] * span,
    )


def _overlap_legal(
    first: JointTrajectory, second: JointTrajectory, overlap_s: float, scale: float
) -> bool:
    """Tell whether the sum of both is legal while they overlap; outside, nothing changes."""
    start = first.duration_s - overlap_s
    knots = np.concatenate([first.time_s, second.time_s + start])
    within = knots[(knots >= start) & (knots <= first.duration_s)]
    # Piecewise cubic: acceleration peaks at knots; velocity is looked at between them as well.
    time_s = np.concatenate([within, np.linspace(start, first.duration_s, 32)])
    position, velocity, acceleration = (
        a + b for a, b in zip(sample(first, time_s), sample(second, time_s - start))
    )
    position -= second.position_rad[0]
    lower, upper = velocity_limits(position)
    return bool(
        (np.abs(acceleration) <= scale * _SAFE * DDQ_MAX + 1e-9).all()
        and (np.abs(velocity) <= scale * _SAFE * DQ_MAX + 1e-9).all()
        and (velocity <= _SAFE * upper).all()
        and (velocity >= _SAFE * lower).all()
        and (position >= Q_MIN).all()
        and (position <= Q_MAX).all()
    )


def _overlapped(
    first: JointTrajectory, second: JointTrajectory, overlap_s: float
) -> JointTrajectory:
    """
    Add up two motions, the second started before the first has ended.

    A sum of quintics is a quintic, so knots where either has one keep the result exact.
    """
    start = round(first.duration_s - overlap_s, 9)
    time_s = np.round(np.concatenate([first.time_s, second.time_s + start]), 9)
    time_s = np.unique(time_s)
    end = time_s[-1]
    time_s = time_s[:-1][np.concatenate([[True], np.diff(time_s[:-1]) > _SHORTEST_S])]
    time_s = np.append(time_s[time_s < end - _SHORTEST_S], end)
    position, velocity, acceleration = (
        a + b for a, b in zip(sample(first, time_s), sample(second, time_s - start))
    )
    position = position - second.position_rad[0]
    position[-1] = second.position_rad[-1]
    velocity[[0, -1]] = acceleration[[0, -1]] = 0.0
    return JointTrajectory(
        time_s=time_s,
        position_rad=position,
        velocity_rad_s=velocity,
        acceleration_rad_s2=acceleration,
    )
