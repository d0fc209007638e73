"""
Straight motions of the tool: approach, retreat, and all that must not swing sideways.

A line is a pose for every s in [0, 1]. Closed-form inverse kinematics gives joint positions
that lie on it, for joint 7 kept still or drifting evenly by several amounts; the drift that
moves the joints least is taken. Where none stays within limits, or all make the arm whirl (near
a singularity of the other six joints), `mink` tracks the line with all seven. A cubic spline
through these points is the joint path, which `time_optimal` times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import mink
import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PPoly
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.trajectory import NoPathError, joint_move, time_optimal
from bbllm.robots.robot_model import TCP_SITE, RobotModel

_ITERATIONS = 8
_TOLERANCE = 1e-5
"""Pose error at which mink has done its part [m, rad]."""
_POLISH = 3
_EXACT = 1e-9
"""Pose error of the result [m, rad]."""
_EXTRA_MARGIN_RAD = 0.005


def track_line(robot: RobotModel, poses: Array, q_start: Array, margin_rad: float) -> Array | None:
    """
    Follow tool poses one after the other, within limits, with the smallest joint motions.

    The poses are near to each other, shape (n, 4, 4), the first at *q_start*. Returns joint
    positions, shape (n, 7) [rad], or None where the line cannot be followed.
    """
    model = _limited_model(robot, margin_rad + _EXTRA_MARGIN_RAD)
    configuration = mink.Configuration(model, q=np.clip(q_start, *model.jnt_range.T))
    tool = mink.FrameTask(TCP_SITE, 'site', position_cost=1.0, orientation_cost=1.0)
    posture = mink.PostureTask(model, cost=1e-4)
    limits = [mink.ConfigurationLimit(model)]
    path = np.empty((len(poses), 7))
    path[0] = q_start
    for i, pose in enumerate(poses[1:], start=1):
        tool.set_target(mink.SE3.from_matrix(pose))
        posture.set_target(configuration.q)  # of all ways to get there, the nearest
        for _ in range(_ITERATIONS):
            if np.abs(tool.compute_error(configuration)).max() < _TOLERANCE:
                break
            try:
                velocity = mink.solve_ik(
                    configuration, [tool, posture], 1.0, 'daqp', damping=1e-8, limits=limits
                )
            except mink.NoSolutionFound:
                return None
            configuration.integrate_inplace(velocity, 1.0)
        path[i] = _polished(robot, configuration.q, pose)
        legal = robot.limits.within(path[i], margin_rad)
        if _pose_error(robot, path[i], pose) > _EXACT or not legal:
            return None
    return path


@lru_cache(maxsize=2)
def _limited_model(robot: RobotModel, margin_rad: float) -> mujoco.MjModel:
    model, limits = robot.arm_model(), robot.limits
    model.jnt_range[:, 0] = limits.lower_rad + margin_rad
    model.jnt_range[:, 1] = limits.upper_rad - margin_rad
    return model


def _polished(robot: RobotModel, q: Array, pose: Array) -> Array:
    q = np.array(q)
    for _ in range(_POLISH):
        q = q + np.linalg.pinv(robot.kinematics.jacobian(q)) @ _error_twist(robot, q, pose)
    return q


def _error_twist(robot: RobotModel, q: Array, pose: Array) -> Array:
    """Return how the tool would have to move, small, base axes, shape (6,) [m, rad]."""
    now = robot.kinematics.forward(q)
    turn = pose[:3, :3] @ now[:3, :3].T
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return np.concatenate([pose[:3, 3] - now[:3, 3], skew / 2])


def _pose_error(robot: RobotModel, q: Array, pose: Array) -> float:
    return float(np.abs(_error_twist(robot, q, pose)).max())


_UNTURNED = 1e-12
"""What rounding alone turns a tool by; SciPy's rotations would take half of a line's time."""
_SAME: Array = np.eye(3)


@dataclass(frozen=True, slots=True)
class CartesianLine:
    """The tool's way: straight, turning evenly."""

    T_start: Array
    shift: Array
    """Way of the TCP in the base frame, shape (3,) [m]."""
    turn: Array
    """Rotation vector in base axes, shape (3,) [rad]."""

    @classmethod
    def between(cls, T_start: Array, T_goal: Array) -> CartesianLine:
        turned = T_goal[:3, :3] @ T_start[:3, :3].T
        if np.abs(turned - _SAME).max() < _UNTURNED:
            turn = np.zeros(3)
        else:
            turn = Rotation.from_matrix(turned).as_rotvec()
        return cls(T_start, T_goal[:3, 3] - T_start[:3, 3], turn)

    def poses(self, s: Array) -> Array:
        """Return T_base_tcp at s, shape (n, 4, 4)."""
        poses = np.empty((len(s), 4, 4))
        poses[:] = self.T_start
        if self.turn.any():
            turned = Rotation.from_rotvec(s[:, None] * self.turn).as_matrix()
            poses[:, :3, :3] = turned @ self.T_start[:3, :3]
        poses[:, :3, 3] += s[:, None] * self.shift
        return poses


LINE_MARGIN_RAD = 0.01
"""What the way keeps from the position limits; less than at postures that are chosen [rad]."""
WHIRL_RAD = 2.5
"""A joint that would turn faster than this per whole line is whirling [rad]."""

_DRIFTS: Array = np.array([0, 0.2, -0.2, 0.4, -0.4, 0.7, -0.7, 1.1, -1.1, 1.6, -1.6, 2.2, -2.2])
"""Turns of joint 7 along the line that are tried [rad]."""
_QUIET_RAD = 0.8
"""Where joint 7 may stay still and no joint turns faster than this, nothing else is tried."""
_DRIFT_PRICE = 0.3
"""What drift costs, in terms of the speed of the fastest joint."""
_POINTS = (25, 97)
"""Points of the spline; the second number where the first does not keep it on the line."""
_STRAY_M = 5e-5
"""How far the tool may be off the line [m], or off its orientation [rad]."""
_LONGEST_S = 5.0
"""A line that takes longer than at full speed by more than this is refused [s]."""


def line_path(robot: RobotModel, q_start: Array, T_goal: Array) -> Array:
    """
    Find joint positions that keep the tool on the straight line to a pose T_base_tcp.

    They are evenly spaced along the line, shape (n, 7) [rad]; a cubic spline through them keeps
    the tool within 0.05 mm of the line.

    Raises:
        NoPathError: The line leaves the joint limits, or the posture would have to jump.
    """
    q_start = np.array(q_start, dtype=np.float64)
    line = CartesianLine.between(robot.kinematics.forward(q_start), T_goal)
    for n in _POINTS:
        points = _best_points(robot, line, np.linspace(0.0, 1.0, n), q_start)
        if _strays(robot, points, line) < _STRAY_M:
            return points
    raise NoPathError('The tool cannot go straight there: the arm would whirl on the way.')


def rising_path(robot: RobotModel, q_start: Array, rise_m: float) -> Array:
    """Return `line_path` to the pose straight above the start [m]."""
    T_goal = robot.kinematics.forward(q_start)
    T_goal[2, 3] += rise_m
    return line_path(robot, q_start, T_goal)


def posture_beside(robot: RobotModel, q: Array, shift_m: tuple[float, float, float]) -> Array:
    """
    Return the nearest joint positions, shape (7,) [rad], with the tool shifted a little.

    The shift is along the tool's own axes [m]; the tool is not turned.

    Raises:
        NoPathError: There are none within the limits.
    """
    T_goal = robot.kinematics.forward(q)
    T_goal[:3, 3] += T_goal[:3, :3] @ shift_m
    posture = _polished(robot, q, T_goal)
    legal = robot.limits.within(posture, LINE_MARGIN_RAD)
    if _pose_error(robot, posture, T_goal) > _TOLERANCE or not legal:
        raise NoPathError('The arm cannot reach there within its limits.')
    return posture


def quiet_path(robot: RobotModel, q_start: Array, T_goal: Array, q7_goal: float) -> Array | None:
    """
    Try one path only, with joint 7 drifting evenly to a value; for choosing among many.

    Returns what `line_path` returns, or None beyond a joint limit or where a joint whirls.
    """
    line = CartesianLine.between(robot.kinematics.forward(q_start), T_goal)
    drifts = np.array([q7_goal - q_start[6]])
    paths = _candidates(robot, line, np.linspace(0.0, 1.0, _POINTS[0]), q_start, drifts)
    if _pace(paths)[0] > WHIRL_RAD or not robot.limits.within(paths[0, 1:], LINE_MARGIN_RAD).all():
        return None
    return paths[0] if _strays(robot, paths[0], line) < _STRAY_M else None


def path_move(
    robot: RobotModel, points: Array, *, scale: float = 1.0, speed_m_s: float = math.inf
) -> JointTrajectory:
    """
    Move along what `line_path` found, shape (n, 7) [rad]; reversed, it leads back.

    *scale* is the share of the speed and of the joint limits to use, *speed_m_s* the tool speed at
    scale 1, at most what the robot allows.

    Raises:
        NoPathError: A joint is so near to its limit that it may hardly move.
    """
    first_pose, last_pose = robot.kinematics.forward(points[[0, -1]])
    line = CartesianLine.between(first_pose, last_pose)
    length, turn = float(np.linalg.norm(line.shift)), float(np.linalg.norm(line.turn))
    if length < 1e-7 and turn < 1e-7:
        return joint_move(robot, points[0], points[0])
    tool, length, turn = robot.tool, max(length, 1e-9), max(turn, 1e-9)
    speed_m_s = min(speed_m_s, tool.speed_m_s)
    speed = scale * min(speed_m_s / length, tool.turn_speed_rad_s / turn)
    acceleration = scale * min(
        tool.acceleration_m_s2 / length, tool.turn_acceleration_rad_s2 / turn
    )
    move = time_optimal(robot, cubic(points), scale=scale, speed=speed, acceleration=acceleration)
    if move.duration_s > _LONGEST_S + length / (scale * speed_m_s):
        raise NoPathError('The tool cannot go straight there: a joint is too near to its limit.')
    return move


def time_before_end(robot: RobotModel, move: JointTrajectory, left_m: float) -> float:
    """Return when a straight motion has so much of its way left; 0 where it is shorter [s]."""
    tool_m = robot.kinematics.forward(move.position_rad)[:, :3, 3]
    distance_m = np.linalg.norm(tool_m - tool_m[-1], axis=1)
    return float(np.interp(-left_m, -distance_m, move.time_s))


def cubic(points: Array) -> PPoly:
    """Return the cubic spline over s in [0, 1] through evenly spaced points, shape (n, 7)."""
    basis = _basis(len(points))
    return PPoly.construct_fast(basis.c @ points, basis.x)


@lru_cache(maxsize=8)
def _basis(n: int) -> CubicSpline:
    """Return the spline through the unit vectors: splines are linear in their points."""
    return CubicSpline(np.linspace(0.0, 1.0, n), np.eye(n))


def _best_points(robot: RobotModel, line: CartesianLine, s: Array, q_start: Array) -> Array:
    """Return joint positions on the line at s, shape (n, 7) [rad]."""
    still = _candidates(robot, line, s, q_start, _DRIFTS[:1])
    if _legal(robot, still)[0] and _pace(still)[0] < _QUIET_RAD:
        return np.asarray(still[0])
    paths = np.concatenate([still, _candidates(robot, line, s, q_start, _DRIFTS[1:])])
    price = _pace(paths) + _DRIFT_PRICE * np.abs(_DRIFTS)
    price[~_legal(robot, paths)] = np.inf
    best = int(np.argmin(price))
    if price[best] < WHIRL_RAD:
        return np.asarray(paths[best])
    tracked = track_line(robot, line.poses(s), q_start, LINE_MARGIN_RAD)
    if tracked is not None and _pace(tracked[None])[0] < min(price[best], 4 * WHIRL_RAD):
        return tracked
    if np.isfinite(price[best]):
        return np.asarray(paths[best])
    raise NoPathError(_reason(robot, line, s, still[0]))


def _strays(robot: RobotModel, points: Array, line: CartesianLine) -> float:
    """Return how far the tool is off the line in the middle between points [m]."""
    s, between = _middles(len(points))
    return float(np.abs(robot.kinematics.forward(between @ points) - line.poses(s)).max())


@lru_cache(maxsize=8)
def _middles(n: int) -> tuple[Array, Array]:
    """Return s in the middle between n points, and what each point adds there to `cubic`."""
    s = (np.arange(n - 1) + 0.5) / (n - 1)
    return s, _basis(n)(s)


def _candidates(
    robot: RobotModel, line: CartesianLine, s: Array, q_start: Array, drifts: Array
) -> Array:
    """
    Return joint paths along a line, one for each drift of joint 7, shape (m, n, 7).

    From point to point the nearest solution is taken, on whichever branch, because branches
    change names where the shoulder passes through upright. NaN where there is none.
    """
    q7 = q_start[6] + drifts[:, None] * s  # (m, n)
    poses = np.broadcast_to(line.poses(s), (len(drifts), len(s), 4, 4)).reshape(-1, 4, 4)
    branches = robot.kinematics.inverse_branches(poses, q7.ravel(), margin_rad=-np.inf)
    branches = branches.reshape(8, len(drifts), len(s), 7)
    branches[np.isnan(branches)] = np.inf
    if len(drifts) == 1 and (path := _one_branch(branches[:, 0], q_start)) is not None:
        return path[None]
    paths = np.empty((len(drifts), len(s), 7))
    paths[:, 0] = q_start
    each = np.arange(len(drifts))
    for i in range(1, len(s)):
        with np.errstate(invalid='ignore'):  # inf - inf, where a path has ended already
            away = np.abs(branches[:, :, i] - paths[:, i - 1]).max(axis=-1)  # (8, m)
        paths[:, i] = branches[np.argmin(away, axis=0), each, i]
    paths[~np.isfinite(paths)] = np.nan
    return paths


def _one_branch(branches: Array, q_start: Array) -> Array | None:
    """
    Return the path of `_candidates` where it stays on one branch, as most do, and None elsewhere.

    *branches* has shape (8, n, 7), infinite where there is none; the result (n, 7) [rad].
    """
    with np.errstate(invalid='ignore'):
        branch = np.abs(branches[:, 1] - q_start).max(axis=-1).argmin()
        path = branches[branch].copy()
        path[0] = q_start
        away = np.abs(branches[:, 1:] - path[:-1]).max(axis=-1)  # (8, n - 1)
    stays = np.isfinite(path).all() and (away.argmin(axis=0) == branch).all()
    return path if stays else None


def _legal(robot: RobotModel, paths: Array) -> NDArray[np.bool_]:
    """Return which paths keep within limits; the start may stand nearer than the way should."""
    legal = robot.limits.within(paths[:, 1:], LINE_MARGIN_RAD).all(axis=1)
    return np.asarray(legal & (_pace(paths) < 4 * WHIRL_RAD))


def _pace(paths: Array) -> Array:
    """Return the highest speed of any joint on each path, per whole line, shape (m,) [rad]."""
    with np.errstate(invalid='ignore'):
        steps = np.abs(np.diff(paths, axis=1)).max(axis=(1, 2))
    return np.asarray(np.nan_to_num(steps * (paths.shape[1] - 1), nan=np.inf))


def _reason(robot: RobotModel, line: CartesianLine, s: Array, q: Array) -> str:
    limits = robot.limits
    bad = ~limits.within(q, LINE_MARGIN_RAD)
    bad[0] = False
    if not bad.any():
        return 'The tool cannot go straight there: the arm would have to change its posture.'
    i = int(np.argmax(bad))
    way = f'after {float(s[i] * np.linalg.norm(line.shift)):.3f} m'
    if np.isnan(q[i]).any():
        return f'The tool cannot go straight there: the arm can reach no further {way}.'
    beyond = np.maximum(limits.lower_rad - q[i], q[i] - limits.upper_rad)
    joint = int(np.argmax(beyond)) + 1
    return f'The tool cannot go straight there: joint {joint} is at its limit {way}.'
