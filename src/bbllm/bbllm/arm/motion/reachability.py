"""Reachability of tool poses, by closed-form inverse kinematics."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from bbllm.arm.driver import Array
from bbllm.arm.motion.collision import CLEARANCE_M, CollisionChecker
from bbllm.robots.kinematics import Q7_GRID, ArmKinematics
from bbllm.robots.robot_model import RobotModel

Q7_GRIDS = (Q7_GRID, 241)
"""Values of joint 7 that are tried; at the rim of the workspace some poses need a fine grid, so
nothing is refused before both have been tried (26 of 15090 reachable poses need the second)."""
_SPARSE = 6
"""Every so many-th value of joint 7 is tried at first."""
_GLANCES = 8
"""Postures that are checked for contacts before all are looked for."""
_NEAR_RAD = 2.0
"""Postures above and at a pose that differ by more are not joined by a straight line [rad]."""


def top_down(position_m: Sequence[float] | Array, yaw_rad: float) -> Array:
    """
    Return a tool pose T_base_tcp that points straight down, at a point of the base frame.

    *yaw_rad* turns it about the base z axis; at 0 the tool's x axis is the base's x axis, and the
    fingers open along the base's y axis.
    """
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    T_base_tcp = np.eye(4)
    T_base_tcp[:3, :3] = [[cos, sin, 0.0], [sin, -cos, 0.0], [0.0, 0.0, -1.0]]
    T_base_tcp[:3, 3] = position_m
    return T_base_tcp


def raised(T_base_tcp: Array, height_m: float) -> Array:
    """Return a pose moved along the base's z axis, shape (4, 4)."""
    moved = np.array(T_base_tcp, dtype=np.float64)
    moved[2, 3] += height_m
    return moved


def reachable_top_down(
    robot: RobotModel,
    position_m: Sequence[float] | Array,
    yaws_rad: Sequence[float],
    *,
    hover_m: float = 0.1,
    checker: CollisionChecker | None = None,
) -> bool:
    """
    Return whether the tool can come down on a point of the base frame in one of some directions.

    The grasp pose and the hover pose *hover_m* above it must be within limits with the same
    posture; with a checker, also free of contact with the arm itself, the table and its obstacles.
    """
    poses = [top_down(position_m, yaw_rad) for yaw_rad in yaws_rad]
    poses = [pose for pose in poses if not robot.kinematics.out_of_reach(pose)]
    if any(_at_first_sight(robot, pose, hover_m, checker) for pose in poses):
        return True
    for n_q7 in Q7_GRIDS:
        for pose in poses:
            ends, hovers = approach_postures(robot, pose, hover_m, n_q7)
            if len(ends) and (checker is None or _some_clear(ends, hovers, checker)):
                return True
    return False


def _at_first_sight(
    robot: RobotModel, T_base_tcp: Array, hover_m: float, checker: CollisionChecker | None
) -> bool:
    """Look for a posture that stays on one branch, with joint 7 still, at a few values of it."""
    arm, above = robot.kinematics, raised(T_base_tcp, hover_m)
    if arm.out_of_reach(above):
        return False
    q7 = np.concatenate([arm.coarse_q7[::_SPARSE], _upright_q7(arm, T_base_tcp)])
    poses = np.stack([T_base_tcp, above])
    both = arm.inverse_branches(poses, np.concatenate([q7, q7])).reshape(8, 2, -1, 7)
    ends, hovers = both[:, 0].reshape(-1, 7), both[:, 1].reshape(-1, 7)
    with np.errstate(invalid='ignore'):
        joined = np.flatnonzero(np.abs(ends - hovers).max(axis=1) < _NEAR_RAD)[:_GLANCES]
    if checker is None or not len(joined):
        return len(joined) > 0
    return _some_clear(ends[joined], hovers[joined], checker)


def approach_postures(
    robot: RobotModel, T_base_tcp: Array, hover_m: float, n_q7: int = Q7_GRID
) -> tuple[Array, Array]:
    """
    Return every posture *hover_m* above a pose together with the nearest posture at the pose.

    Joint positions at the pose and above it, row by row, each of shape (n, 7) [rad].
    """
    arm, above = robot.kinematics, raised(T_base_tcp, hover_m)
    none = np.empty((0, 7))
    if arm.out_of_reach(T_base_tcp) or arm.out_of_reach(above):
        return none, none
    q7 = np.concatenate([arm.q7_grid(n_q7), _upright_q7(arm, T_base_tcp)])
    hovers, ends = (_existing(arm.inverse_branches(pose, q7)) for pose in (above, T_base_tcp))
    nearest, near = _nearest(hovers, ends)
    return ends[nearest[near]], hovers[near]


def coarse_approaches(
    robot: RobotModel, poses: Sequence[Array], hover_m: float
) -> tuple[NDArray[np.intp], Array, Array]:
    """
    Return `approach_postures` of the first grid for several poses, solved all at once.

    The pose of each, shape (n,), and joint positions at it and above it, (n, 7) each [rad].
    """
    arm, above = robot.kinematics, [raised(pose, hover_m) for pose in poses]
    near = [
        i
        for i, high in enumerate(above)
        if not (arm.out_of_reach(poses[i]) or arm.out_of_reach(high))
    ]
    found = _coarse_solutions(arm, [poses[i] for i in near], [above[i] for i in near])
    index, ends, hovers = [np.empty(0, dtype=np.intp)], [np.empty((0, 7))], [np.empty((0, 7))]
    for i, above_it, at_it in zip(near, found, found[len(near) :]):
        nearest, joined = _nearest(above_it, at_it)
        hovers.append(above_it[joined])
        ends.append(at_it[nearest[joined]])
        index.append(np.full(len(ends[-1]), i))
    return np.concatenate(index), np.concatenate(ends), np.concatenate(hovers)


def _coarse_solutions(
    arm: ArmKinematics, poses: Sequence[Array], above: Sequence[Array]
) -> list[Array]:
    """Return the postures of the first grid above each pose, then at each, (n, 7) [rad] each."""
    if not poses:
        return []
    parts = [part for pose in poses for part in (arm.coarse_q7, _upright_q7(arm, pose))]
    q7 = np.concatenate(parts)
    each = len(q7) // len(poses)
    both = np.stack([*above, *poses])
    branches = arm.inverse_branches(both, np.concatenate([q7, q7])).reshape(8, -1, each, 7)
    return [_existing(branches[:, i]) for i in range(2 * len(poses))]


def _existing(branches: Array) -> Array:
    """Return the postures of a pose, branch by branch, shape (n, 7) [rad]."""
    found = branches.reshape(-1, 7)
    return np.asarray(found[~np.isnan(found[:, 0])])


def _nearest(hovers: Array, ends: Array) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the end that is nearest to each posture above, and whether a line joins the two."""
    if not len(ends) or not len(hovers):
        none = np.zeros(len(hovers), dtype=np.intp)
        return none, none > 0
    away = cdist(hovers, ends, 'chebyshev')
    nearest = away.argmin(axis=1)
    return nearest, away[np.arange(len(hovers)), nearest] < _NEAR_RAD


def _upright_q7(arm: ArmKinematics, T_base_tcp: Array) -> Array:
    """
    Return the values of joint 7 with which the arm stays in the vertical plane of the tool, (2,).

    They are the only ones that descend near the base without turning the shoulder.
    """
    (ax, bx, _, x), (ay, by, _, y), _, _ = T_base_tcp.tolist()
    away = max(math.hypot(x, y), 1e-9)
    x, y = x / away, y / away
    # Tangent, in the tool's x and y.
    turn = arm.lengths.hand_turn_rad
    q7 = math.atan2(ay * x - ax * y, by * x - bx * y) - turn
    return np.array([(turned + math.pi) % math.tau - math.pi for turned in (q7, q7 + math.pi)])


def _some_clear(ends: Array, hovers: Array, checker: CollisionChecker) -> bool:
    return any(
        not checker.clear(end, clearance_m=CLEARANCE_M / 5) and not checker.clear(hover)
        for end, hover in zip(ends, hovers, strict=True)
    )
