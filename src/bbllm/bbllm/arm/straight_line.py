"""
Straight motions of the tool: approach, retreat, and whatever must not swing sideways.

A line is a pose for every s in [0, 1]. Closed-form inverse kinematics turns it into joint
positions that lie on it to rounding: the posture stays on one branch, and joint 7 stays what it
was, or drifts evenly where that is what keeps the others within limits. First and second
derivatives by s come from the Jacobian; they turn limits of joints into limits of ds/dt, for
which ruckig has the fastest timing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.braking import Knots
from bbllm.arm.driver import JointTrajectory
from bbllm.arm.kinematics import forward, inverse_branches, jacobian
from bbllm.arm.limits import DDDQ_MAX, DDQ_MAX, Q_MAX, Q_MIN, velocity_limits, within_limits
from bbllm.arm.trajectory import (
    JERK_SHARE,
    NoPathError,
    excess,
    joint_move,
    ruckig_profile,
    slowed,
)

Array = NDArray[np.float64]

LINE_SPEED_M_S = 0.5
"""Tool speed at scale 1; the robot allows 3 [m/s]."""
LINE_ACCELERATION_M_S2 = 5.0
"""Tool acceleration at scale 1; the robot allows 9 [m/s^2]."""
TURN_SPEED_RAD_S = 1.5
"""Turning speed at scale 1; the robot allows 2.5 [rad/s]."""
TURN_ACCELERATION_RAD_S2 = 10.0
"""Turning acceleration at scale 1; the robot allows 17 [rad/s^2]."""

_MARGIN_RAD = 0.01
"""What the way keeps from the position limits; less than at postures that are chosen [rad]."""
_DRIFTS: Array = np.array([0, 0.2, -0.2, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2, 1.8, -1.8, 2.5, -2.5])
"""Turns of joint 7 along the line that are tried, least first [rad]."""
_COARSE = 17
"""Points at which a line is first looked at."""
_KNOT_S = 0.02
"""Longest time between knots [s]."""
_LARGEST_STEP_RAD = 0.6
"""A larger change between two of the coarse points is no longer one posture."""
_SAFE = 0.995
"""Share of the joints' limits that is used: they are only looked at in the coarse points."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The tool's way, and where joint 7 is on it."""

    T_start: Array
    shift: Array
    """Way of the TCP, shape (3,) [m]."""
    turn: Array
    """Rotation vector in base axes, shape (3,) [rad]."""
    q7: float
    drift: float
    """Change of joint 7 along the whole line [rad]."""

    def poses(self, s: Array) -> Array:
        """Return T_base_tcp at s, shape (n, 4, 4)."""
        poses = np.empty((len(s), 4, 4))
        poses[:] = self.T_start
        poses[:, :3, :3] = _rotation(self.turn, s) @ self.T_start[:3, :3]
        poses[:, :3, 3] += s[:, None] * self.shift
        return poses

    def branches(self, s: Array) -> Array:
        """Return joint positions at s, limits or not, shape (8, n, 7); NaN: out of reach."""
        return inverse_branches(self.poses(s), self.q7 + self.drift * s, margin_rad=-np.inf)

    def derivatives(self, q: Array) -> tuple[Array, Array]:
        """Return the first and second derivative of the joints by s, each (n, 7)."""
        rows = jacobian(q)
        inner = np.linalg.inv(rows[:, :, :6])
        twist = np.concatenate([self.shift, self.turn]) - rows[:, :, 6] * self.drift
        first = np.full_like(q, self.drift)
        first[:, :6] = (inner @ twist[..., None])[..., 0]
        # The tool's twist stays the same along s, so that J q'' = -J' q'.
        step = 1e-5
        ahead, behind = jacobian(np.stack([q + step * first, q - step * first]))
        bent = ((ahead - behind) / (2 * step)) @ first[..., None]
        second = np.zeros_like(q)
        second[:, :6] = -(inner @ bent)[..., 0]
        return first, second


def line_path(q_start: Array, T_goal: Array) -> tuple[Array, Array]:
    """
    Find joint positions that keep the tool on the straight line to a pose.

    Args:
        q_start: Joint position at the start of the line, shape (7,) [rad].
        T_goal: T_base_tcp at its end, shape (4, 4).

    Returns:
        Path parameters from 0 to 1, shape (n,), and joint positions, shape (n, 7) [rad].

    Raises:
        NoPathError: The line leaves the joint limits, or the posture would have to jump.
    """
    _, _, s, q = _followed(np.asarray(q_start, dtype=np.float64), T_goal)
    return s, q


def line_move(
    q_start: Array,
    T_goal: Array,
    *,
    scale: float = 1.0,
    speed_m_s: float = LINE_SPEED_M_S,
) -> JointTrajectory:
    """
    Move the tool along a straight line to a pose, from rest to rest.

    The position is interpolated linearly, the orientation by slerp; less than 0.1 mm off.

    Args:
        q_start: Joint position at the start of the line, shape (7,) [rad].
        T_goal: T_base_tcp at its end, shape (4, 4).
        scale: Share of the speed and of the joint limits to use, in (0, 1].
        speed_m_s: Tool speed at scale 1 [m/s].

    Raises:
        NoPathError: The line leaves the joint limits, or the posture would have to jump.
    """
    q_start = np.array(q_start, dtype=np.float64)
    line, branch, s, q = _followed(q_start, T_goal)
    length, turn = np.linalg.norm(line.shift), np.linalg.norm(line.turn)
    if length < 1e-7 and turn < 1e-7:
        return joint_move(q_start, q_start)
    speed = scale * _smaller(speed_m_s / max(length, 1e-9), TURN_SPEED_RAD_S / max(turn, 1e-9))
    acceleration = scale * _smaller(
        LINE_ACCELERATION_M_S2 / max(length, 1e-9), TURN_ACCELERATION_RAD_S2 / max(turn, 1e-9)
    )
    first, second = line.derivatives(q)
    knots = _timed(q, first, second, speed, acceleration, scale)
    q = line.branches(knots.s)[branch]
    q[0] = q_start  # the same to rounding; exact for whoever compares
    first, second = line.derivatives(q)
    move = JointTrajectory(
        time_s=knots.time_s,
        position_rad=q,
        velocity_rad_s=first * knots.ds[:, None],
        acceleration_rad_s2=first * knots.dds[:, None] + second * knots.ds[:, None] ** 2,
    )
    return slowed(move, excess(move) / _SAFE)  # for what happened between the coarse points


def _followed(q_start: Array, T_goal: Array) -> tuple[_Line, int, Array, Array]:
    """Find the smallest drift of joint 7 with which one branch reaches along the whole line."""
    T_start = forward(q_start)
    shift = T_goal[:3, 3] - T_start[:3, 3]
    turn = _rotation_vector(T_goal[:3, :3] @ T_start[:3, :3].T)
    s = np.linspace(0.0, 1.0, _COARSE)
    reason = ''
    for drift in _DRIFTS:
        line = _Line(T_start, shift, turn, float(q_start[6]), float(drift))
        branches = line.branches(s)
        branch = int(np.nanargmin(np.abs(branches[:, 0] - q_start).max(axis=1)))
        q = branches[branch]
        q[0] = q_start
        # The start may stand nearer to a limit than the way should.
        if within_limits(q[1:], _MARGIN_RAD).all() and _steady(q):
            return line, branch, s, q
        reason = reason or _reason(line, s, q)
    raise NoPathError(reason)


def _steady(q: Array) -> bool:
    """Tell whether it is one posture all along: no joint jumps."""
    return bool(np.abs(np.diff(q, axis=0)).max() < _LARGEST_STEP_RAD)


def _timed(
    q: Array, first: Array, second: Array, speed: float, acceleration: float, scale: float
) -> Knots:
    """
    Time a line so that no joint exceeds its limits.

    With s(t) of velocity v, acceleration a and jerk j the joints have velocity q'v,
    acceleration q'a + q''v^2 and jerk q'j + 3 q''va + q'''v^3. Half of the acceleration is
    kept for the bend, whose share falls with v^2.
    """
    steep, bend = np.maximum(np.abs(first), 1e-9), np.maximum(np.abs(second), 1e-9)
    lower, upper = velocity_limits(q)
    legal = np.where(first > 0, upper, -lower)
    speed = _smaller(speed, (_SAFE * legal / steep).min())
    budget = _SAFE * scale * DDQ_MAX
    speed = _smaller(speed, np.sqrt((budget / 2 / bend).min()))
    acceleration = _smaller(acceleration, ((budget - bend * speed**2) / steep).min())
    spacing = 1.0 / (len(q) - 1)
    third = np.maximum(np.abs(np.gradient(second, spacing, axis=0)), 1e-9)
    spent = 3 * bend * speed * acceleration + third * speed**3
    jerk = float(((JERK_SHARE * DDDQ_MAX) / steep).min())
    left = ((_SAFE * DDDQ_MAX - spent) / steep).min()
    if left < jerk / 4:  # a sharp bend: slower, so that its own jerk shrinks
        return _timed(q, first, second, speed / 2, acceleration / 4, scale)
    return _dense(ruckig_profile(1.0, speed, acceleration, _smaller(jerk, left)))


def _dense(knots: Knots) -> Knots:
    """Add knots, because the joints are no cubics of time where the tool's way is straight."""
    parts = np.maximum(np.ceil(np.diff(knots.time_s) / _KNOT_S).astype(int), 1)
    i = np.repeat(np.arange(len(parts)), parts)
    within = np.concatenate([np.arange(n) / n for n in parts])
    h = np.diff(knots.time_s)[i]
    t = within * h
    jerk = np.diff(knots.dds)[i] / h
    s0, v0, a0 = knots.s[i], knots.ds[i], knots.dds[i]
    return Knots(
        np.append(knots.time_s[i] + t, knots.time_s[-1]),
        np.append(s0 + t * (v0 + t * (a0 / 2 + t * jerk / 6)), knots.s[-1]),
        np.append(v0 + t * (a0 + t * jerk / 2), knots.ds[-1]),
        np.append(a0 + t * jerk, knots.dds[-1]),
    )


def _reason(line: _Line, s: Array, q: Array) -> str:
    """Say where the line ends and which joint is to blame."""
    bad = ~within_limits(q, _MARGIN_RAD)
    bad[0] = False
    if not bad.any():
        return 'The tool cannot go straight there: the arm would have to change its posture.'
    i = int(np.argmax(bad))
    way = f'after {float(s[i] * np.linalg.norm(line.shift)):.3f} m'
    if np.isnan(q[i]).any():
        return f'The tool cannot go straight there: the arm can reach no further {way}.'
    over = np.maximum(Q_MIN + _MARGIN_RAD - q[i], q[i] - Q_MAX + _MARGIN_RAD)
    joint = int(np.argmax(over)) + 1
    return f'The tool cannot go straight there: joint {joint} is at its limit {way}.'


def _rotation(turn: Array, s: Array) -> Array:
    """Return the rotations by s times a rotation vector, shape (n, 3, 3)."""
    angle = float(np.linalg.norm(turn))
    if angle < 1e-12:
        return np.broadcast_to(np.eye(3), (len(s), 3, 3))
    x, y, z = turn / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(s * angle)[:, None, None], np.cos(s * angle)[:, None, None]
    return np.asarray(np.eye(3) + sine * cross + (1 - cosine) * (cross @ cross))


def _rotation_vector(rotation: Array) -> Array:
    """Return axis times angle of a rotation, shape (3,) [rad]."""
    skew = np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    sine, cosine = np.linalg.norm(skew) / 2, (np.trace(rotation) - 1) / 2
    angle = float(np.arctan2(sine, cosine))
    if sine > 1e-6:
        return np.asarray(skew / (2 * sine) * angle)
    if cosine > 0:
        return np.asarray(skew / 2)
    values, vectors = np.linalg.eigh((rotation + rotation.T) / 2)  # half a turn
    return np.asarray(vectors[:, np.argmax(values)] * angle)


def _smaller(a: float, b: float | np.floating) -> float:
    return float(min(a, b))
