"""
Joint motions timed within velocity (position dependent), acceleration and jerk limits.

A motion that is straight in joint space is one function s(t) times a constant vector, so timing it
is a problem of one dimension. Where the velocity limits are constant, ruckig's profile is the
fastest there is.

Near the position limits the legal velocity falls, and on a path that bends, such as a straight
line of the tool, all limits of s(t) change on the way. `time_optimal` then times the motion, in
the plane of s and its squared speed (TOPP-RA). The acceleration of the fastest motion jumps, so
s(t) is averaged over a short window: the jumps become ramps of limited jerk, and the path stays
what it was. On a straight line the legal velocity is a concave function of the position, so by
Jensen's inequality the average still obeys it; on others the rest, if any, is taken up by playing
the motion more slowly.

The controller interpolates by quintics. One through position, velocity and acceleration of two
knots of ruckig's profile is its cubic, so the controller repeats it exactly; the knots on a path
are so near to each other that the difference does not count.

Jerk is kept to a fifth of what the robot allows: it costs 20 ms at each end of a motion, and keeps
the feed-forward torque within 1000 Nm/s and the servos on the path.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

import numpy as np
import ruckig
from numpy.typing import NDArray
from scipy.interpolate import PPoly

from bbllm.arm.driver import N_JOINTS, Array, JointTrajectory
from bbllm.core.errors import BbllmError
from bbllm.robots.joint_limits import JointLimits
from bbllm.robots.robot_model import RobotModel

JERK_SHARE = 0.2
"""Share of the jerk limit that plans use."""
_GRID = 64
"""Parts of a path over which the acceleration along it is constant."""
_SLOWEST_RAD_S = 1e-3
"""What a joint may do where its velocity limit is zero, so that a timing exists [rad/s]."""
_SHARPEST = 1e-6
"""Where a bend alone changes the squared speed by more than all of it between two points, this
stands for what is left of it: the bend is no limit."""
_PAIRS = np.triu_indices(N_JOINTS, 1)
_BEND_SHARE = 0.2
"""Share of the largest jump of the acceleration from which on a jump is worth a knot."""
_KNOT_S = 0.02
"""Longest time between two knots on a path, which is no polynomial of time [s]."""
_DENSEST_S = 0.002
"""Shortest time between them, where it is not the rest of a jump [s]."""
_SHORTEST_S = 1e-5
"""Knots nearer to each other than this are one [s]."""


@dataclass(frozen=True, slots=True)
class Knots:
    """A motion in one dimension, a cubic between any two neighbours."""

    time_s: Array
    """From 0, shape (n,), as the others."""
    s: Array
    """Way travelled; its derivatives ds [1/s] and dds [1/s^2] are 0 at both ends."""
    ds: Array
    dds: Array

    @classmethod
    def cleaned(cls, time_s: Array, s: Array, ds: Array, dds: Array, end: float) -> Knots:
        """Drop knots that coincide, and put the last one exactly at rest at the end."""
        keep = np.concatenate([[True], np.diff(time_s) > _SHORTEST_S])
        keep[-1] = True
        if len(time_s) > 2 and time_s[-1] - time_s[keep][-2] < _SHORTEST_S:
            keep[np.flatnonzero(keep)[-2]] = False
        time_s, s, ds, dds = time_s[keep], s[keep], ds[keep], dds[keep]
        s[-1], ds[0], ds[-1], dds[0], dds[-1] = end, 0.0, 0.0, 0.0, 0.0
        return cls(time_s, s, ds, dds)


def time_optimal(
    robot: RobotModel,
    path: PPoly,
    *,
    scale: float = 1.0,
    speed: float = math.inf,
    acceleration: float = math.inf,
) -> JointTrajectory:
    """
    Play a joint path over s in [0, 1] from rest to rest, as fast as the limits allow.

    Args:
        robot: The arm, whose limits are kept.
        path: Joint positions, twice differentiable, values of shape (7,) [rad].
        scale: Share of the velocity (position dependent) and acceleration limits to use.
        speed: Largest ds/dt [1/s].
        acceleration: Largest d2s/dt2 [1/s^2].

    Returns:
        The motion on the path; knots are 20 ms apart or less. It is as slow as its slowest joint
        where that is near a position limit.
    """
    limits, s = robot.limits, np.linspace(0.0, 1.0, _GRID + 1)
    q, first, second = (path(s, order) for order in range(3))
    legal = np.maximum(limits.speed_limits(q, first), _SLOWEST_RAD_S)
    steep = np.maximum(np.abs(first), 1e-9)
    budget = scale * _SAFE * limits.acceleration_rad_s2
    most, bend = budget / steep, second / np.where(first < 0, -steep, steep)
    one, other = _PAIRS
    apart = np.maximum(np.abs(bend[:, one] - bend[:, other]), 1e-9)
    square = np.minimum((scale * _SAFE * legal / steep).min(axis=1), speed) ** 2
    square = np.minimum(square, ((most[:, one] + most[:, other]) / apart).min(axis=1))
    # From point to point, with the acceleration along the path as one more joint.
    steep, cap = np.maximum(steep[:-1], steep[1:]), np.full((_GRID, 1), acceleration)
    curve = np.where(first < 0, -second, second)
    bends = (np.hstack([part / steep, np.zeros((_GRID, 1))]) for part in (curve[:-1], curve[1:]))
    speeds = np.sqrt(_fastest(square, np.hstack([budget / steep, cap]), *bends))
    duration = 2.0 / _GRID / (speeds[1:] + speeds[:-1])
    longest_s = float((limits.acceleration_rad_s2 / limits.jerk_rad_s3).max())
    window_s = 2 * scale * longest_s / JERK_SHARE
    knots = _averaged(duration, s, speeds, window_s)
    move = _on_path(path, knots)
    return slowed(move, excess(robot, move, scale=scale) / _SAFE)


def _fastest(square: Array, most: Array, bend: Array, bend_on: Array) -> Array:
    """
    Return the largest squared speeds along a path from rest to rest, shape (n + 1,).

    The algorithm of Pham and Pham, "A new approach to time-optimal path parameterization based on
    reachability analysis", IEEE Transactions on Robotics 34 (2018): with x the squared speed and u
    the acceleration along the path, |q'u + q''x| <= a is -most - bend x <= u <= most - bend x. A
    backward pass finds from which x the end can be reached, a forward pass takes the greatest u.
    Both take x in the term of the bend at the far end of their step, which is stable where a path
    bends sharply.

    Args:
        square: Upper bound of x at evenly spaced points of [0, 1], shape (n + 1,).
        most: a / |q'| of each joint between two points, shape (n, m).
        bend: q''/q' at the first of the two, in the same shape.
        bend_on: q''/q' at the second of the two.
    """
    bound: list[float] = square.tolist()
    bound[0] = bound[-1] = 0.0
    step = 2.0 / len(most)
    points = range(len(bound))
    # Backwards, a bend that slows down speeds up.
    for way, curve, most_x in (
        (points[::-1], -bend, square[1:]),
        (points, bend_on, square[:-1]),
    ):
        gain = 1.0 / np.maximum(1.0 + step * curve, _SHARPEST)
        offset = step * most * gain
        # What binds at rest and at the highest speed alike binds in between: all is linear in x.
        least = offset.argmin(axis=1)
        one = least == (gain * most_x[:, None] + offset).argmin(axis=1)
        # One point after the other, seven joints each: plain floats are faster than arrays.
        rows = list(zip(gain.tolist(), offset.tolist(), least.tolist(), one.tolist()))
        for row, i, j in zip(rows if way is points else rows[::-1], way, way[1:]):
            (gains, offsets, k, alone), x = row, bound[i]
            if alone:
                reachable = gains[k] * x + offsets[k]
            else:
                reachable = min([k * x + c for k, c in zip(gains, offsets)])
            if reachable < bound[j]:
                bound[j] = reachable
    return np.array(bound)


def _on_path(path: PPoly, knots: Knots) -> JointTrajectory:
    q, first, second = (path(knots.s, order) for order in range(3))
    ds = knots.ds[:, None]
    acceleration = first * knots.dds[:, None] + second * ds**2
    return JointTrajectory(knots.time_s, q, first * ds, acceleration)


def _averaged(duration: Array, s: Array, speed: Array, window_s: float) -> Knots:
    """Average a motion of constant accelerations over the last *window_s* of time."""
    start = np.concatenate([[0.0], np.cumsum(duration)])
    acceleration = np.append(np.diff(speed) / duration, 0.0)  # 0: at rest beyond the end
    area = np.concatenate(  # integral of s at each corner
        [[0.0], np.cumsum(duration * (s[:-1] + duration * (2 * speed[:-1] + speed[1:]) / 6))]
    )

    def at(time_s: Array) -> tuple[Array, Array, Array]:
        """Return the integral of s, s and ds/dt; at rest before the start and after the end."""
        time_s = np.maximum(time_s, 0.0)
        i = np.searchsorted(start, time_s, side='right') - 1
        t, a, v = time_s - start[i], acceleration[i], speed[i]
        way = s[i] + t * (v + t * a / 2)
        return area[i] + t * (s[i] + t * (v / 2 + t * a / 6)), way, v + t * a

    jumps = np.abs(np.diff(acceleration, prepend=0.0))
    bends = start[jumps > _BEND_SHARE * jumps.max()]
    time_s = _refined(np.concatenate([[0.0, start[-1] + window_s], bends, bends + window_s]))
    states = at(np.concatenate([time_s, time_s - window_s]))
    now_and_before = (state.reshape(2, -1) for state in states)
    way, velocity, accel = ((now - before) / window_s for now, before in now_and_before)
    return Knots.cleaned(time_s, way, velocity, accel, 1.0)


def _refined(marks: Array) -> Array:
    """Return times, some of *marks* left out where they are dense, and more where they are not."""
    marks = np.sort(marks)
    end, marks = marks[-1], marks[np.diff(marks, prepend=-1.0) > _DENSEST_S]
    marks[-1] = end
    parts = np.maximum(np.ceil(np.diff(marks) / _KNOT_S).astype(int), 1)
    i = np.repeat(np.arange(len(parts)), parts)
    within = np.arange(len(i)) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(marks[i] + within * (np.diff(marks) / parts)[i], marks[-1])


_WITHIN: Array = np.arange(8) / 8
"""Where each piece of a motion is checked."""
_CHECKS = 32
"""At how many more times, for pieces that are long."""
STOP_SHARE = 0.99
"""Share of the acceleration limit by which a cancelled motion brakes: at all of it, rounding puts
half of the differences between set points beyond the limit."""


@dataclass(frozen=True, slots=True)
class Spline:
    """
    Piecewise polynomials in time, at rest after the end, as the trajectory controller follows.

    Between two points: linear where they have positions only, cubic with velocities, quintic
    with accelerations too.
    """

    time_s: Array
    """Knots, shape (n + 1,), strictly increasing [s]."""
    coefficients: Array
    """Of powers 0 to 5 of the time since the knot, shape (6, n, 7)."""
    end_rad: Array
    """Position at the last knot and after it, shape (7,) [rad]."""
    effort_nm: Array | None = None
    """Torque to add at each knot, linear between them, shape (n + 1, 7) [Nm]."""
    start_s: float = 0.0
    """Time of the first knot on the clock by which the spline is evaluated [s]."""

    @classmethod
    def still(cls, position: Array, start_s: float = 0.0) -> Spline:
        """Stay at a position, shape (7,) [rad]."""
        nothing = np.zeros((6, 0, len(position)))
        return cls(np.zeros(1), nothing, np.array(position), start_s=start_s)

    @classmethod
    def braking(cls, limits: JointLimits, q: Array, dq: Array, start_s: float) -> Spline:
        """Slow all joints down together along their direction, then stay; shape (7,) [rad, s]."""
        T = float(np.max(np.abs(dq) / limits.collision_stop_rad_s2))
        if T < 1e-3:
            return cls.still(q, start_s)
        coefficients = np.zeros((6, 1, len(q)))
        coefficients[:3, 0] = q, dq, -dq / (2 * T)
        return cls(np.array([0.0, T]), coefficients, q + dq * T / 2, start_s=start_s)

    @classmethod
    def stopping(
        cls, robot: RobotModel, q: Array, dq: Array, ddq: Array, start_s: float
    ) -> Spline:
        """
        Come to rest from a planned state, within the limits of acceleration and jerk of plans.

        All joints come to rest together, in the time of the one that takes longest; shape (7,)
        each [rad, rad/s, rad/s^2].
        """
        n, hardest = len(q), STOP_SHARE * robot.limits.acceleration_rad_s2
        asked = ruckig.InputParameter(n)
        asked.control_interface = ruckig.ControlInterface.Velocity
        asked.current_position, asked.current_velocity = q.tolist(), dq.tolist()
        asked.current_acceleration = np.clip(ddq, -hardest, hardest).tolist()
        asked.target_velocity = asked.target_acceleration = [0.0] * n
        asked.max_acceleration = hardest.tolist()
        asked.max_jerk = (JERK_SHARE * robot.limits.jerk_rad_s3).tolist()
        answer = ruckig.Trajectory(n)
        result = ruckig.Ruckig(n).calculate(asked, answer)
        if result != ruckig.Result.Working:
            return cls.braking(robot.limits, q, dq, start_s)
        borders = [np.cumsum(profile.t) for profile in answer.profiles[0]]
        time_s = np.unique(np.round(np.concatenate([[0.0], *borders]), 9))
        time_s = time_s[np.diff(time_s, prepend=-1.0) > _SHORTEST_S]
        if len(time_s) < 2:
            return cls.still(q, start_s)
        states = np.array([answer.at_time(t) for t in time_s.tolist()])  # (n, 3, 7)
        states[-1, 1:] = 0.0
        position, velocity, acceleration = states.swapaxes(0, 1)
        stop = spline_of(JointTrajectory(time_s, position, velocity, acceleration))
        return replace(stop, start_s=start_s)

    @classmethod
    def through(
        cls,
        time_s: Array,
        position: Array,
        velocity: Array | None = None,
        acceleration: Array | None = None,
        effort: Array | None = None,
    ) -> Spline:
        """
        Interpolate points of shape (n + 1, 7); a row of NaN means that this point has none.

        *time_s* is strictly increasing; one point alone is a place to stay. Without velocities the
        pieces are linear, without accelerations cubic.
        """
        T = np.diff(time_s)[:, None]  # (n, 1)
        gap = np.diff(position, axis=0)
        v0 = v1 = gap / T
        a0 = a1 = np.zeros_like(gap)
        if velocity is not None:
            known = ~np.isnan(velocity[:-1] + velocity[1:])
            slope = v0
            v0, v1 = np.where(known, velocity[:-1], v0), np.where(known, velocity[1:], v1)
            a0, a1 = (6 * slope - 4 * v0 - 2 * v1) / T, (2 * v0 + 4 * v1 - 6 * slope) / T
            if acceleration is not None:
                known &= ~np.isnan(acceleration[:-1] + acceleration[1:])
                a0 = np.where(known, acceleration[:-1], a0)
                a1 = np.where(known, acceleration[1:], a1)
        return cls.quintic(time_s, position, (v0, v1), (a0, a1), effort)

    @classmethod
    def quintic(
        cls,
        time_s: Array,
        position: Array,
        velocity: tuple[Array, Array],
        acceleration: tuple[Array, Array],
        effort: Array | None = None,
    ) -> Spline:
        """Interpolate with the states at both ends of every piece, each of shape (n, 7)."""
        (v0, v1), (a0, a1) = velocity, acceleration
        T = (time_s[1:] - time_s[:-1])[:, None]  # (n, 1)
        gap = position[1:] - position[:-1]
        # What powers 0 to 2 leave of the end's position, velocity and acceleration.
        p = gap - (v0 + a0 * T / 2) * T
        v = (v1 - v0 - a0 * T) * T
        a = (a1 - a0) * T**2
        c = np.empty((6, len(T), position.shape[1]))
        c[0], c[1], c[2] = position[:-1], v0, a0 / 2
        c[3] = (10 * p - 4 * v + a / 2) / T**3
        c[4] = (-15 * p + 7 * v - a) / T**4
        c[5] = (6 * p - 3 * v + a / 2) / T**5
        return cls(time_s, c, position[-1], effort)

    @property
    def duration_s(self) -> float:
        return float(self.time_s[-1])

    @property
    def end_s(self) -> float:
        """When it comes to rest, on the clock [s]."""
        return self.start_s + self.duration_s

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Evaluate at times, shape (n,) [s]: position, velocity, acceleration, (n, 7) each."""
        if not self.coefficients.size:
            still = np.zeros((len(t), len(self.end_rad)))
            return still + self.end_rad, still, still.copy()
        coefficients, s, after = self._located(t)
        q, dq, ddq = _states(coefficients, s)
        q[after], dq[after], ddq[after] = self.end_rad, 0.0, 0.0
        return q, dq, ddq

    def positions_at(self, t: Array) -> Array:
        """Evaluate the positions alone at times, shape (n,) [s]: (n, 7) [rad]."""
        if not self.coefficients.size:
            return np.tile(self.end_rad, (len(t), 1))
        coefficients, s, after = self._located(t)
        q = _position(coefficients, s)
        q[after] = self.end_rad
        return q

    def states_within(self, shares: Array, times: Array) -> tuple[Array, Array, Array]:
        """
        Evaluate every piece at shares of its time, shape (m,), and at times before the end, (k,).

        Position, velocity and acceleration as `at`, (n * m + k, 7) each.
        """
        start, piece = self.time_s[:-1, None], self.time_s[1:-1].searchsorted(times, side='right')
        within = start + (self.time_s[1:, None] - start) * shares
        since = np.concatenate([(within - start).ravel(), times - self.time_s[piece]])
        pieces = np.concatenate([np.arange(len(start)).repeat(len(shares)), piece])
        return _states(self.coefficients.take(pieces, axis=1), self._each(since))

    def _located(self, t: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """
        Find the pieces of times, shape (n,) [s].

        Returns their coefficients, shape (6, n, 7), the time since their knots, one for each
        joint (n, 7) [s], and which times are after the end (n,).
        """
        t = t - self.start_s
        piece = self.time_s[1:-1].searchsorted(t, side='right')
        s = np.maximum(t - self.time_s[piece], 0.0)
        return self.coefficients.take(piece, axis=1), self._each(s), t >= self.duration_s

    def _each(self, s: Array) -> Array:
        """Repeat values of shape (n,) for every joint, (n, 7): same shapes take half the time."""
        n_joints = len(self.end_rad)
        return s.repeat(n_joints).reshape(-1, n_joints)

    def jerks(self) -> Array:
        """Return the largest jerk at ends and middle of each piece, shape (n, 7) [rad/s^3]."""
        c, T = self.coefficients, (self.time_s[1:] - self.time_s[:-1])[:, None]
        first, slope = 6 * c[3], 24 * c[4]
        later = (first + t * (slope + t * 60 * c[5]) for t in (T / 2, T))
        return np.asarray(reduce(np.maximum, map(np.abs, (first, *later))))

    def effort_at(self, t: Array) -> Array | None:
        """Return the torque to add at times, shape (n, 7) [Nm]; None where there is none."""
        if self.effort_nm is None:
            return None
        return np.column_stack(
            [np.interp(t - self.start_s, self.time_s, row) for row in self.effort_nm.T]
        )

    def at_one(self, t: float) -> tuple[Array, Array, Array]:
        """Evaluate at one time [s]: position, velocity, acceleration, each of shape (7,)."""
        q, dq, ddq = self.at(np.array([t]))
        return q[0], dq[0], ddq[0]

    def position_at(self, t: float) -> Array:
        """Evaluate the position alone, shape (7,) [rad], at one time [s]; ten times as fast."""
        t -= self.start_s
        if t >= self.duration_s:
            return self.end_rad
        piece = max(int(self.time_s.searchsorted(t, side='right')) - 1, 0)
        s = max(t - float(self.time_s[piece]), 0.0)
        powers = np.array((1.0, s, s * s, s**3, s**4, s**5))
        return np.asarray(powers @ self.coefficients[:, piece])


def _position(c: Array, s: Array) -> Array:
    """Evaluate pieces by their coefficients, shape (6, ...), at times since their knots [s]."""
    return np.asarray(c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5])))))


def _states(c: Array, s: Array) -> tuple[Array, Array, Array]:
    """Evaluate pieces as `_position`: position, velocity, acceleration."""
    dq = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))
    ddq = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))
    return _position(c, s), dq, ddq


def sample(trajectory: JointTrajectory, time_s: Array) -> tuple[Array, Array, Array]:
    """Interpolate as the controller does: quintics, at rest beyond the end; see `Spline.at`."""
    return spline_of(trajectory).at(time_s)


@lru_cache(maxsize=16)
def spline_of(trajectory: JointTrajectory) -> Spline:
    """Return a motion as the controller interpolates it; that of the last few is remembered."""
    v, a = trajectory.velocity_rad_s, trajectory.acceleration_rad_s2
    ends = (v[:-1], v[1:]), (a[:-1], a[1:])
    return Spline.quintic(trajectory.time_s, trajectory.position_rad, *ends)


def excess(robot: RobotModel, move: JointTrajectory, *, scale: float = 1.0) -> float:
    """
    Return by what factor a motion would have to be slower to be legal; 1 or less where it is.

    Checks velocities (position dependent), accelerations and jerks at the knots and between them;
    *scale* is the share of the limits of velocity and acceleration that may be used.
    """
    limits = robot.limits
    position, velocity, acceleration = _checked_states(move)
    too_fast = _too_fast(limits, position, velocity) / scale
    hardest = np.abs(acceleration).max(axis=0) / limits.acceleration_rad_s2
    too_hard = np.sqrt(np.max(hardest) / scale)
    jerks = spline_of(move).jerks()
    return float(max(too_fast, too_hard, np.cbrt(np.max(jerks.max(axis=0) / limits.jerk_rad_s3))))


def _checked_states(move: JointTrajectory) -> tuple[Array, Array, Array]:
    """Return the states at which a motion is checked, (n, 7) each; it ends at rest."""
    times = np.linspace(0.0, move.duration_s, _CHECKS)
    return spline_of(move).states_within(_WITHIN, times[:-1])


def _too_fast(limits: JointLimits, position: Array, velocity: Array) -> float:
    """Return the largest share of its limit that a velocity has, all of shape (n, 7)."""
    speed = np.abs(velocity)
    legal = np.maximum(limits.speed_limits(position, velocity), 1e-9)
    return float(np.max(speed / legal * (speed > 1e-9)))


def slowed(move: JointTrajectory, factor: float) -> JointTrajectory:
    """Stretch a motion in time by a factor, if that is above 1."""
    factor = max(factor, 1.0)
    velocity, acceleration = move.velocity_rad_s / factor, move.acceleration_rad_s2 / factor**2
    stretched = JointTrajectory(move.time_s * factor, move.position_rad, velocity, acceleration)
    return on_nanoseconds(stretched)


def on_nanoseconds(move: JointTrajectory) -> JointTrajectory:
    """
    Move the knots to whole nanoseconds, and the states with them.

    A message carries nothing finer, and half a nanosecond off is a jolt where knots are near.
    """
    time_s = np.round(move.time_s, 9)
    shift = (time_s - move.time_s)[:, None]
    position = move.position_rad + move.velocity_rad_s * shift
    velocity = move.velocity_rad_s + move.acceleration_rad_s2 * shift
    return JointTrajectory(time_s, position, velocity, move.acceleration_rad_s2)


_SAFE = 0.998
"""Share of every limit that plans use, so that rounding on the way never breaks one."""
_AT_REST_S = 0.02

_OVERLAP_SHARE = 0.6
"""Share of a motion that may overlap with another; the rest stays just as it was planned."""
_OVERLAP_STEPS = 24
"""Overlaps of two motions that are tried, evenly spaced up to the longest."""


class NoPathError(BbllmError):
    """No legal motion was found; the text names the obstacle."""

    def __init__(self, reason: str, blockers: tuple[str, ...] = ()):
        super().__init__(reason)
        self.blockers = blockers
        """Names of what was touched: scene objects, `table`, or links of the arm."""


def joint_move(
    robot: RobotModel, q_start: Array, q_goal: Array, *, scale: float = 1.0
) -> JointTrajectory:
    """
    Move in a straight line in joint space, shape (7,) [rad], from rest to rest.

    *scale* is the share of the velocity and acceleration limits to use, in (0, 1].

    Raises:
        NoPathError: The goal is outside the position limits.
    """
    q_start, q_goal = np.array(q_start, dtype=np.float64), np.array(q_goal, dtype=np.float64)
    limits = robot.limits
    _check_goal(limits, q_goal)
    span = q_goal - q_start
    reach = np.abs(span)
    if reach.max() < 1e-9:
        return _on_line(q_start, q_goal, Knots(np.array([0.0, _AT_REST_S]), *np.zeros((3, 2))))
    reach = np.maximum(reach, 1e-12)
    speed = float((scale * _SAFE * limits.velocity_rad_s / reach).min())
    acceleration = float((scale * _SAFE * limits.acceleration_rad_s2 / reach).min())
    jerk = float((JERK_SHARE * limits.jerk_rad_s3 / reach).min())
    profile = ruckig_profile(1.0, speed, acceleration, jerk)
    move = on_nanoseconds(_on_line(q_start, q_goal, profile))
    if excess(robot, move, scale=scale) <= 1.0:
        return move
    line = PPoly.construct_fast(np.stack([span, q_start])[:, None], np.array([0.0, 1.0]))
    return time_optimal(robot, line, scale=scale)


def waypoint_move(
    robot: RobotModel, waypoints: Sequence[Array], *, scale: float = 1.0
) -> JointTrajectory:
    """
    Move from the first to the last joint position through those between, without stops.

    Corners are rounded as far as the limits allow; a point between is passed near, not hit.

    Raises:
        NoPathError: A point is outside the position limits.
    """
    legs = [joint_move(robot, a, b, scale=scale) for a, b in zip(waypoints, waypoints[1:])]
    return reduce(lambda first, second: blend(robot, first, second, scale=scale)[0], legs)


def concatenate(*parts: JointTrajectory) -> JointTrajectory:
    """Play motions one after the other; each starts from rest where the one before ended."""
    return reduce(lambda first, second: _overlapped(first, second, 0.0), parts)


def blend(
    robot: RobotModel,
    first: JointTrajectory,
    second: JointTrajectory,
    *,
    scale: float = 1.0,
    longest_s: float = math.inf,
    hasten: bool = False,
) -> tuple[JointTrajectory, float]:
    """
    Start the second motion before the first, which ends where it starts, has ended.

    As early as the limits allow, and at most *longest_s* early. The two are added up while they
    overlap, so the corner between them is rounded and nothing else of either changes. Also returns
    how much time was saved [s]; check the result for collisions, and fall back to `concatenate`.

    With *hasten*, joints that both motions accelerate in the same direction there, beyond their
    limit, go through the first one faster, as far as the limits allow: all of its way changes.
    """
    return hastened_blend(robot, first, second, scale=scale, longest_s=longest_s, hasten=hasten)[
        1:
    ]


def hastened_blend(
    robot: RobotModel,
    first: JointTrajectory,
    second: JointTrajectory,
    *,
    scale: float = 1.0,
    longest_s: float = math.inf,
    hasten: bool = True,
) -> tuple[JointTrajectory, JointTrajectory, float]:
    """Return the first motion, as it is hastened, and what `blend` returns."""
    longest = min(longest_s, _OVERLAP_SHARE * min(first.duration_s, second.duration_s))
    limits, last = robot.limits, spline_of(second)
    for overlap_s, hard in _overlaps(limits, first, last, longest, scale, hasten=hasten):
        early = first
        if hard.any():
            early = _hastened(first, hard, first.duration_s / (first.duration_s - overlap_s))
            if excess(robot, early, scale=scale) > 1.0:
                continue
        if _overlap_legal(limits, spline_of(early), last, overlap_s, scale):
            return early, _overlapped(early, second, overlap_s), overlap_s
    return first, _overlapped(first, second, 0.0), 0.0


def amended(move: JointTrajectory, shift: Array, start_s: float, end_s: float) -> JointTrajectory:
    """
    Shift a motion by joint angles, shape (7,) [rad], that grow between two times before its end.

    Until the first nothing changes, from the second on all of it is shifted. They grow as a
    quintic, from rest to rest; whether the sum is legal is to be checked, see `excess`.
    """
    time_s = np.array([0.0, end_s - start_s, move.duration_s - start_s])
    grown = move.position_rad[-1] + np.array([[0.0], [1.0], [1.0]]) * shift
    still = np.zeros_like(grown)
    return _overlapped(
        move, JointTrajectory(time_s, grown, still, still), move.duration_s - start_s
    )


def backwards(robot: RobotModel, move: JointTrajectory, *, scale: float = 1.0) -> JointTrajectory:
    """Return a legal motion back the same way, slower where that direction has a lower limit."""
    parts = (move.position_rad, -move.velocity_rad_s, move.acceleration_rad_s2)
    back = JointTrajectory(move.duration_s - move.time_s[::-1], *(part[::-1] for part in parts))
    # Only the limits of velocity depend on the direction.
    position, velocity, _ = _checked_states(move)
    return slowed(back, _too_fast(robot.limits, position, -velocity) / scale / _SAFE)


def ruckig_profile(distance: float, speed: float, acceleration: float, jerk: float) -> Knots:
    """Return ruckig's fastest way over a distance, from rest to rest, at its phase borders."""
    asked = ruckig.InputParameter(1)
    asked.current_position, asked.target_position = [0.0], [distance]
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = [speed], [acceleration], [jerk]
    answer = ruckig.Trajectory(1)
    result = ruckig.Ruckig(1).calculate(asked, answer)
    if result != ruckig.Result.Working:
        raise NoPathError(f'ruckig found no timing for a distance of {distance:.3g}: {result}.')
    profile = answer.profiles[0][0]
    time_s = np.concatenate([[0.0], np.cumsum(profile.t)])
    return Knots.cleaned(
        time_s, np.array(profile.p), np.array(profile.v), np.array(profile.a), distance
    )


def _check_goal(limits: JointLimits, q: Array) -> None:
    lower, upper = limits.lower_rad, limits.upper_rad
    outside = (q < lower) | (q > upper)
    if outside.any():
        i = int(np.argmax(outside))
        raise NoPathError(
            f'Joint {i + 1} would have to go to {q[i]:.3f} rad; '
            f'it can from {lower[i]:.3f} to {upper[i]:.3f}.'
        )


def _on_line(q_start: Array, q_goal: Array, knots: Knots) -> JointTrajectory:
    span = q_goal - q_start
    position, velocity, acceleration = (
        values[:, None] * span for values in (knots.s, knots.ds, knots.dds)
    )
    position += q_start
    position[-1] = q_goal
    return JointTrajectory(knots.time_s, position, velocity, acceleration)


def _overlaps(
    limits: JointLimits,
    move: JointTrajectory,
    second: Spline,
    longest_s: float,
    scale: float,
    *,
    hasten: bool,
) -> Iterator[tuple[float, NDArray[np.bool_]]]:
    """
    Yield overlaps up to a longest one that are legal by a coarse look, longest first [s].

    With each comes which joints have to be through the first motion before, shape (7,).
    """
    time_s = np.linspace(0.0, longest_s, _OVERLAP_STEPS + 1)
    ending = spline_of(move).at(time_s + (move.duration_s - longest_s))
    beginning = second.at(time_s)
    highest = (scale * limits.velocity_rad_s, scale * limits.acceleration_rad_s2)
    fastest, hardest = (
        np.abs(part).max(axis=0) for part in (move.velocity_rad_s, move.acceleration_rad_s2)
    )
    for count in range(_OVERLAP_STEPS, 0, -1):  # mostly, the longest will do
        ends = (part[_OVERLAP_STEPS - count :] for part in ending[1:])
        begins = (part[: count + 1] for part in beginning[1:])
        speed, acceleration = (
            (np.abs(end + begin) <= most).all(axis=0)
            for end, begin, most in zip(ends, begins, highest)
        )
        fits = able = np.asarray(speed & acceleration)
        if hasten:
            factor = move.duration_s / (move.duration_s - time_s[count])
            able = (fastest * factor <= highest[0]) & (hardest * factor**2 <= highest[1])
        if (fits | able).all():
            yield float(time_s[count]), ~fits


def _hastened(move: JointTrajectory, joints: NDArray[np.bool_], factor: float) -> JointTrajectory:
    """Play some joints faster by a factor; they rest until the others have arrived."""
    time_s = np.unique(np.round(np.concatenate([move.time_s, move.time_s / factor]), 9))
    time_s = time_s[np.diff(time_s, prepend=-1.0) > _SHORTEST_S]
    time_s[-1] = move.duration_s
    usual, fast = sample(move, time_s), sample(move, time_s * factor)
    parts = (np.where(joints, b * factor**i, a) for i, (a, b) in enumerate(zip(usual, fast)))
    return JointTrajectory(time_s, *parts)


def _overlap_legal(
    limits: JointLimits, first: Spline, second: Spline, overlap_s: float, scale: float
) -> bool:
    """Whether the sum of both is legal while they overlap; outside, nothing changes."""
    start = first.duration_s - overlap_s
    knots = np.concatenate([first.time_s, second.time_s + start])
    within = knots[(knots >= start) & (knots <= first.duration_s)]
    # Piecewise cubic: acceleration peaks at knots; velocity is looked at between them as well.
    time_s = np.concatenate([within, np.linspace(start, first.duration_s, 32)])
    position, velocity, acceleration = (
        a + b for a, b in zip(first.at(time_s), second.at(time_s - start))
    )
    position -= second.coefficients[0, 0]
    legal = scale * _SAFE * limits.speed_limits(position, velocity)
    hardest = scale * _SAFE * limits.acceleration_rad_s2 + 1e-9
    return bool(
        (np.abs(acceleration) <= hardest).all()
        and (np.abs(velocity) <= legal).all()
        and (position >= limits.lower_rad).all()
        and (position <= limits.upper_rad).all()
    )


def _overlapped(
    first: JointTrajectory, second: JointTrajectory, overlap_s: float
) -> JointTrajectory:
    """Add up two motions; a sum of quintics with the knots of both is exact."""
    start = round(first.duration_s - overlap_s, 9)
    time_s = np.unique(np.round(np.concatenate([first.time_s, second.time_s + start]), 9))
    end = time_s[-1]
    time_s = time_s[:-1][np.concatenate([[True], np.diff(time_s[:-1]) > _SHORTEST_S])]
    time_s = np.append(time_s[time_s < end - _SHORTEST_S], end)
    position, velocity, acceleration = (
        a + b for a, b in zip(sample(first, time_s), sample(second, time_s - start))
    )
    position = position - second.position_rad[0]
    position[-1] = second.position_rad[-1]
    velocity[[0, -1]] = acceleration[[0, -1]] = 0.0
    return JointTrajectory(time_s, position, velocity, acceleration)
