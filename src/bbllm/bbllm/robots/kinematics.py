"""
Forward and closed-form inverse kinematics of an arm of Franka's chain, by its lengths.

Frames: base = the first link = world, tcp = between the finger tips. Poses are homogeneous
matrices `T_base_tcp`, shape (4, 4), metres.

The inverse. Joints 1 to 3 meet in one point (the shoulder), joints 5 and 6 in another (the
wrist), but joint 7 is 88 mm off the wrist, so seven joints have no closed form. With joint 7
given, they have: its value and the tool pose fix the wrist; shoulder, elbow and wrist are a
triangle, which gives joint 4; the direction wrist to shoulder, seen from link 6, gives joints 5
and 6; what is left is a rotation about the shoulder, whose Euler angles are joints 1 to 3. Each
of the three stages has two answers, hence eight branches.
"""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from bbllm.core.types import Pose
from bbllm.robots.joint_limits import Q_MARGIN_RAD, Array

_ROUNDING = 1e-12
"""What a sine or cosine may have beyond 1 by rounding."""
Q7_GRID = 49
"""Values of joint 7 that find all but one of 600 reachable poses."""
TCP, FLANGE, HAND = 9, 7, 8
"""Rows of `link_frames`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLengths:
    """The numbers of the chain: seven joints, offsets at elbow and wrist, a hand at the flange."""

    shoulder_m: float
    """Height of the shoulder over the base."""
    upper_arm_m: float
    forearm_m: float
    elbow_m: float
    """Offset of the elbow from upper arm and forearm."""
    wrist_m: float
    """Offset of joint 7 from the wrist."""
    flange_m: float
    """From joint 7 to the flange, along its axis."""
    hand_turn_rad: float
    """Turn of the hand about the axis of the flange."""
    tcp_m: float
    """From the flange to the tool's centre point."""


class ArmKinematics:
    """Forward and inverse kinematics of one arm, within its position limits."""

    def __init__(self, lengths: ChainLengths, lower_rad: Array, upper_rad: Array) -> None:
        """Take the lengths, and the position limits of the joints, shape (7,) each [rad]."""
        self.lengths = lengths
        self._lower, self._upper = lower_rad, upper_rad
        upper, fore, elbow = lengths.upper_arm_m, lengths.forearm_m, lengths.elbow_m
        self._shoulder_m = np.array([0.0, 0.0, lengths.shoulder_m])
        self._length_upper = float(np.hypot(upper, elbow))
        self._length_fore = float(np.hypot(fore, elbow))
        # The wrist from the shoulder, at most, and what rounding may add [m].
        self._farthest_m = self._length_upper + self._length_fore + 1e-6
        # Angle between upper arm and forearm, seen from the elbow, where joint 4 is 0 [rad]; in
        # terms of the axes of link 4, from the shoulder's direction to the wrist's.
        beside = float(np.arctan2(upper, elbow)), float(np.arctan2(fore, elbow))
        self._angle_at_zero = 2 * np.pi - beside[0] - beside[1]
        self.stretched_rad = np.pi - self._angle_at_zero
        """Joint 4 where the arm is fully extended: the elbow flips there [rad]."""
        # Joint 6 is written as an angle from here on: below 0 only where its limit is.
        self._q6_from = min(0.0, float(lower_rad[5]))
        quarter = math.pi / 2
        self._joint_origins = np.array(
            [
                _fixed(0, 0, lengths.shoulder_m, 0),
                _fixed(0, 0, 0, -quarter),
                _fixed(0, -upper, 0, quarter),
                _fixed(elbow, 0, 0, quarter),
                _fixed(-elbow, fore, 0, -quarter),
                _fixed(0, 0, 0, quarter),
                _fixed(lengths.wrist_m, 0, 0, quarter),
            ]
        )
        c, s = np.cos(lengths.hand_turn_rad), np.sin(lengths.hand_turn_rad)
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        link7_flange = _fixed(0, 0, lengths.flange_m, 0)
        hand_tcp = _fixed(0, 0, lengths.tcp_m, 0)
        self._fixed_frames = link7_flange, turn, hand_tcp
        self._link7_tcp = link7_flange @ turn @ hand_tcp
        self._tcp_link7 = np.linalg.inv(self._link7_tcp)
        self.coarse_q7 = self.q7_grid()
        """The values of joint 7 that are tried first, shape (n,) [rad]."""

    def forward(self, q: Array) -> Array:
        """Return tool poses T_base_tcp, shape (..., 4, 4), of joint positions (..., 7) [rad]."""
        steps = self._joint_steps(q)
        pose = steps[..., 0, :, :]
        for i in range(1, 7):
            pose = pose @ steps[..., i, :, :]
        return np.asarray(pose @ self._link7_tcp)

    def link_frames(self, q: Array) -> Array:
        """
        Return the frames of links 1 to 7, of flange and hand, and of the tool between the fingers.

        *q* has shape (..., 7) [rad], T_base_link (..., 10, 4, 4), in the order above.
        """
        steps = self._joint_steps(q)
        frames = np.empty((*steps.shape[:-3], 10, 4, 4))
        frames[..., 0, :, :] = steps[..., 0, :, :]
        for i in range(1, 7):
            frames[..., i, :, :] = frames[..., i - 1, :, :] @ steps[..., i, :, :]
        for i, fixed in enumerate(self._fixed_frames, FLANGE):
            frames[..., i, :, :] = frames[..., i - 1, :, :] @ fixed
        return frames

    def jacobian(self, q: Array) -> Array:
        """
        Return the tool's Jacobian in the base frame, linear rows first [m/rad, rad/rad].

        *q* has shape (..., 7) [rad], the result (..., 6, 7).
        """
        frames = self.link_frames(q)
        axes = frames[..., :7, :3, 2]  # (..., 7, 3)
        arms = frames[..., TCP, None, :3, 3] - frames[..., :7, :3, 3]
        rows = np.empty((*axes.shape[:-1], 6))  # (..., 7, 6); cross products by hand: 4 x faster
        for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
            rows[..., i] = axes[..., j] * arms[..., k] - axes[..., k] * arms[..., j]
        rows[..., 3:] = axes
        return np.swapaxes(rows, -1, -2)

    def q7_grid(self, n: int = Q7_GRID) -> Array:
        """Return n values of joint 7, evenly over its range less the margin, shape (n,) [rad]."""
        return np.linspace(self._lower[6] + Q_MARGIN_RAD, self._upper[6] - Q_MARGIN_RAD, n)

    def out_of_reach(self, T_base_tcp: Array) -> bool:
        """
        Return whether a tool pose, shape (4, 4), has no solution at any joint 7; solves nothing.

        Turned about the axis of joint 7, the wrist moves on a circle. No point of it may be
        farther from the shoulder than upper arm and forearm reach; what `False` means is left to
        the inverse.
        """
        (_, _, ax, x), (_, _, ay, y), (_, _, az, z), _ = T_base_tcp.tolist()
        lengths = self.lengths
        back = lengths.flange_m + lengths.tcp_m
        x, y, z = x - back * ax, y - back * ay, z - back * az - lengths.shoulder_m
        along = x * ax + y * ay + z * az
        aside = math.sqrt(max(x * x + y * y + z * z - along * along, 0.0))
        return math.hypot(along, aside - lengths.wrist_m) > self._farthest_m

    def inverse_branches(
        self, T_base_tcp: Array, q7: Array, *, margin_rad: float = Q_MARGIN_RAD
    ) -> Array:
        """
        Solve for joints 1 to 6 on each of the eight branches, many poses at once.

        Closed form: nothing to start from, nothing to converge, so no answer means out of reach
        (for these values of q7), never a bad seed. A branch is continuous in the pose and in q7
        wherever it exists, so following one index along a line follows one posture.

        Args:
            T_base_tcp: Tool poses, shape (m, 4, 4) or (4, 4).
            q7: Joint 7 for each, shape (n,) [rad]; each pose has the same number of them, in turn.
            margin_rad: What to keep from the position limits; -inf to ignore them [rad].

        Returns:
            Joint positions, shape (8, n, 7) [rad]; NaN where a branch does not exist or leaves the
            limits less the margin.
        """
        low, high = self._lower + margin_rad, self._upper - margin_rad
        with np.errstate(invalid='ignore', divide='ignore'):
            axes, (q4, q5, q6), beyond = self._wrist_branches(T_base_tcp, q7)
            legal = (beyond <= _ROUNDING) & (q7 >= low[6]) & (q7 <= high[6])
            for i, angle in ((3, q4), (4, q5), (5, q6)):
                legal = legal & (angle >= low[i]) & (angle <= high[i])
        # Most combinations of elbow and wrist end here, before the costly half.
        elbow, wrist, column = np.nonzero(legal)
        q = np.empty((2, len(column), 7))
        q4, q5, q6 = q4[elbow, 0, column], q5[elbow, wrist, column], q6[elbow, wrist, column]
        q1, q2, q3 = _shoulder(axes[..., column], q4, q5, q6)
        for i, angle in enumerate((q1, q2, q3, q4, q5, q6, q7[column])):
            q[..., i] = angle
        q[~((q[..., :3] >= low[:3]) & (q[..., :3] <= high[:3])).all(axis=-1)] = np.nan
        solutions = np.full((2, 2, 2, len(q7), 7), np.nan)
        solutions[elbow, wrist, :, column] = q.swapaxes(0, 1)
        return solutions.reshape(8, -1, 7)

    def _wrist_branches(
        self, T_base_tcp: Array, q7: Array
    ) -> tuple[Array, tuple[Array, Array, Array], Array]:
        """
        Solve for joints 4 to 6, two answers of the elbow by two of the wrist.

        Returns the three axes of link 6 in the base frame, shape (3, 3, n); joints 4, (2, 1, n), 5
        and 6, (2, 2, n) [rad], of sines and cosines that are cut off at 1; and what the largest of
        these has beyond 1, (2, 1, n).
        """
        link7 = T_base_tcp @ self._tcp_link7  # as joint 7 has turned it
        link7 = link7.reshape(-1, 4, 4)
        if len(link7) > 1:  # a single pose serves all values of q7
            link7 = link7.repeat(len(q7) // len(link7), axis=0)
        x, y, z, origin = (np.ascontiguousarray(link7[:, :3, i].T) for i in range(4))  # (3, n)
        c7, s7 = np.cos(q7), np.sin(q7)
        x6, z6 = c7 * x - s7 * y, s7 * x + c7 * y
        y6 = np.broadcast_to(-z, x6.shape)
        wrist_shoulder = self._shoulder_m[:, None] - (origin - self.lengths.wrist_m * x6)
        axes = np.stack([x6, y6, z6])
        q4, vx, vy, too_far = self._elbow((wrist_shoulder * wrist_shoulder).sum(0))
        q5, q6, too_wide = self._wrist(vx, vy, *(axes * wrist_shoulder).sum(1))
        return axes, (q4, q5, q6), np.maximum(too_far, too_wide)

    def _joint_steps(self, q: Array) -> Array:
        """Return each joint's transform from its parent link, shape (..., 7, 4, 4)."""
        q = np.asarray(q, dtype=np.float64)
        c, s = np.cos(q)[..., None], np.sin(q)[..., None]
        steps = np.empty((*q.shape, 4, 4))
        x, y = self._joint_origins[:, :, 0], self._joint_origins[:, :, 1]
        steps[..., 0] = c * x + s * y
        steps[..., 1] = c * y - s * x
        steps[..., 2:] = self._joint_origins[:, :, 2:]
        return steps

    def _elbow(self, distance2: Array) -> tuple[Array, Array, Array, Array]:
        """
        Solve the triangle of shoulder, elbow and wrist, by wrist to shoulder squared, (n,) [m^2].

        Returns joint 4 [rad], and the vector from wrist to shoulder in the axes of link 4 before
        joint 5 turns: its parts across and along the forearm [m]; each of shape (2, 1, n); and
        what the cosine has beyond 1, shape (n,).
        """
        a, b = self._length_upper, self._length_fore
        cosine = (a**2 + b**2 - distance2) / (2 * a * b)
        angle = np.arccos(_cut(cosine))
        q4 = (np.stack([angle, 2 * np.pi - angle]) - self._angle_at_zero)[:, None]
        c4, s4 = np.cos(q4), np.sin(q4)
        upper_arm_m, elbow_m = self.lengths.upper_arm_m, self.lengths.elbow_m
        vx = elbow_m - elbow_m * c4 - upper_arm_m * s4
        vy = -self.lengths.forearm_m + elbow_m * s4 - upper_arm_m * c4
        return q4, vx, vy, np.abs(cosine) - 1

    def _wrist(
        self, vx: Array, vy: Array, x: Array, y: Array, z: Array
    ) -> tuple[Array, Array, Array]:
        """
        Turn the vector of `_elbow` into its twin (x, y, z) in link 6: joints 5, 6, (2, 2, n).

        The last is what the sine of joint 5 has beyond 1, shape (2, 1, n).
        """
        sine = z / vx
        turn = np.arcsin(_cut(sine))
        q5 = np.concatenate([turn, _wrap(np.pi - turn)], axis=1)
        q6 = np.arctan2(vy, vx * np.cos(q5)) - np.arctan2(y, x)
        return q5, q6 + 2 * np.pi * (q6 < self._q6_from), np.abs(sine) - 1


def _fixed(x: float, y: float, z: float, roll: float) -> Array:
    """Return a shift followed by a turn about x."""
    c, s = np.round(np.cos(roll)), np.round(np.sin(roll))  # quarter turns only
    return np.array([[1, 0, 0, x], [0, c, -s, y], [0, s, c, z], [0, 0, 0, 1]], dtype=np.float64)


def pose_of_matrix(T: Array) -> Pose:
    """Return the pose of a homogeneous matrix, shape (4, 4); the quaternion has w >= 0."""
    quat_wxyz = np.empty(4)
    mujoco.mju_mat2Quat(quat_wxyz, T[:3, :3].ravel())  # without SciPy, 35 MB in two nodes
    w, x, y, z = quat_wxyz.tolist()
    if (w, x, y, z) < (0.0, 0.0, 0.0, 0.0):
        w, x, y, z = -w, -x, -y, -z
    px, py, pz = T[:3, 3].tolist()
    return Pose(position_m=(px, py, pz), quat_xyzw=(x, y, z, w))


def _shoulder(axes: Array, q4: Array, q5: Array, q6: Array) -> tuple[Array, Array, Array]:
    """
    Undo joints 6, 5 and 4, and read joints 1, 2, 3 off what is left.

    Angles have one shape, (...), and *axes* (3, 3, ...); returns two answers of each, (2, ...).
    """
    x6, y6, z6 = axes
    c4, s4, c5, s5 = np.cos(q4), np.sin(q4), np.cos(q5), np.sin(q5)
    c6, s6 = np.cos(q6), np.sin(q6)

    def axis(i: int) -> tuple[Array, Array, Array]:
        """Return the i-th base coordinate of the axes of link 3."""
        across, along = c6 * x6[i] - s6 * y6[i], s6 * x6[i] + c6 * y6[i]
        x, y = c5 * across + s5 * z6[i], s5 * across - c5 * z6[i]
        return c4 * x - s4 * along, y, s4 * x + c4 * along

    (_, y_x, z_x), (_, y_y, z_y), (x_z, y_z, z_z) = axis(0), axis(1), axis(2)
    tilt = np.hypot(z_x, z_y)
    upright = tilt < 1e-9  # only q1 + q3 is defined there: each gets half of it
    half = np.arctan2(-y_x, y_y) / 2
    q1 = np.where(upright, half, np.arctan2(z_y, z_x))
    q2 = np.arctan2(tilt, z_z)
    q3 = np.where(upright, half, np.arctan2(y_z, -x_z))
    return (
        np.stack([q1, _wrap(q1 + np.pi)]),
        np.stack([q2, -q2]),
        np.stack([q3, _wrap(q3 + np.pi)]),
    )


def _cut(value: Array) -> Array:
    """Return a value cut off at -1 and 1; `np.clip` takes three times as long."""
    return np.asarray(np.minimum(np.maximum(value, -1.0), 1.0))


def _wrap(angle: Array) -> Array:
    """Return an angle of [-pi, 3 pi) in [-pi, pi) [rad]; `np.mod` takes five times as long."""
    turned = angle + np.pi
    return np.asarray(turned - 2 * np.pi * (turned >= 2 * np.pi) - np.pi)
