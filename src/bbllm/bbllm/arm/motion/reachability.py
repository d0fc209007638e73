"""Reachability of tool poses, by closed-form inverse kinematics."""

from collections.abc import Sequence

import numpy as np

from bbllm.arm.driver import Array
from bbllm.arm.kinematics import Q7_GRID, branch_excess, inverse_branches, q7_grid
from bbllm.arm.motion.collision import CLEARANCE_M, CollisionChecker

_SHOULDER_M: Array = np.array([0.0, 0.0, 0.333])
Q7_GRIDS = (Q7_GRID, 241)
"""Values of joint 7 that are tried; at the rim of the workspace some poses need a fine grid, so
nothing is refused before both have been tried (26 of 15090 reachable poses need the second), nor
before the second was refined where a branch comes near to existing."""
_REFINED = 16
"""By how much each of two refinements divides the distance of the values of joint 7."""
_STEEPEST = 4.0
"""Largest slope of `branch_excess` at which a minimum between two values can reach 0."""
_NEAR_RAD = 2.0
"""Postures above and at a pose that differ by more are not joined by a straight line [rad]."""
_FARTHEST_M = 1.085
"""No tool pose is farther from the shoulder: flange at 0.858, hand 0.107 + 0.1034 beyond, and a
little; what is farther is refused without solving anything [m]."""


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
    for n_q7 in Q7_GRIDS:
        for yaw_rad in yaws_rad:
            ends, hovers = approach_postures(top_down(position_m, yaw_rad), hover_m, n_q7)
            if len(ends) and (checker is None or _some_clear(ends, hovers, checker)):
                return True
    return False


def approach_postures(
    T_base_tcp: Array, hover_m: float, n_q7: int = Q7_GRID
) -> tuple[Array, Array]:
    """
    Return every posture *hover_m* above a pose together with the nearest posture at the pose.

    Joint positions at the pose and above it, row by row, each of shape (n, 7) [rad].
    """
    above = raised(T_base_tcp, hover_m)
    none = np.empty((0, 7))
    if _too_far(T_base_tcp) or _too_far(above):
        return none, none
    q7 = np.concatenate([q7_grid(n_q7), _upright_q7(T_base_tcp)])
    if n_q7 <= Q7_GRID:
        return _paired(T_base_tcp, above, q7)
    # Most poses that need the fine grid are out of reach: half of it shows that.
    excesses = []
    for pose in (T_base_tcp, above):
        excess = branch_excess(pose, q7)
        if not (excess == 0.0).any() and not len(_refined_q7(pose, q7[:n_q7], excess)):
            return none, none
        excesses.append(excess)
    ends, hovers = _paired(T_base_tcp, above, q7)
    if len(ends):
        return ends, hovers
    more = [
        _refined_q7(pose, q7[:n_q7], excess)
        for pose, excess in zip((T_base_tcp, above), excesses, strict=True)
    ]
    return _paired(T_base_tcp, above, np.concatenate([q7, *more]))


def _paired(T_base_tcp: Array, above: Array, q7: Array) -> tuple[Array, Array]:
    """Return the postures at two poses that a straight line joins, as `approach_postures`."""
    none = np.empty((0, 7))
    poses = np.repeat(np.stack([T_base_tcp, above]), len(q7), axis=0)
    both = inverse_branches(poses, np.concatenate([q7, q7])).reshape(8, 2, -1, 7)
    ends, hovers = both[:, 0].reshape(-1, 7), both[:, 1].reshape(-1, 7)
    ends, hovers = ends[~np.isnan(ends[:, 0])], hovers[~np.isnan(hovers[:, 0])]
    if not len(ends) or not len(hovers):
        return none, none
    away = np.zeros((len(hovers), len(ends)))
    for above_angle, angle in zip(hovers.T, ends.T, strict=True):
        np.maximum(away, np.abs(above_angle[:, None] - angle), out=away)
    nearest = away.argmin(axis=1)
    near = away[np.arange(len(hovers)), nearest] < _NEAR_RAD
    return ends[nearest[near]], hovers[near]


def _refined_q7(T_base_tcp: Array, q7: Array, excess: Array) -> Array:
    """
    Return values of joint 7 between those of a grid at which a branch exists, (n,) [rad].

    Looked for where the excess of a branch, shape (8, n), has a small minimum that is not 0.
    """
    found = [np.empty(0)]
    excess = excess[:, : len(q7)]
    step = q7[1] - q7[0]
    for _ in range(2):
        inner = excess[:, 1:-1]
        least = (inner <= excess[:, :-2]) & (inner <= excess[:, 2:])
        near = least & (inner > 0.0) & (inner < _STEEPEST * step)
        around = q7[1:-1][near.any(axis=0)]
        if not len(around):
            break
        q7 = np.unique(around[:, None] + np.linspace(-step, step, 2 * _REFINED + 1))
        excess = branch_excess(T_base_tcp, q7)
        found.append(q7[(excess == 0.0).any(axis=0)])
        step /= _REFINED
    return np.concatenate(found)


def _upright_q7(T_base_tcp: Array) -> Array:
    """
    Return the values of joint 7 with which the arm stays in the vertical plane of the tool, (2,).

    They are the only ones that descend near the base without turning the shoulder.
    """
    x, y = T_base_tcp[:2, 3] / max(float(np.hypot(*T_base_tcp[:2, 3])), 1e-9)
    along = T_base_tcp[:2, :2].T @ np.array([-y, x])  # tangent, in the tool's x and y
    q7 = np.arctan2(along[0], along[1]) + np.pi / 4
    return np.asarray(np.mod(np.array([q7, q7 + np.pi]) + np.pi, 2 * np.pi) - np.pi)


def _too_far(T_base_tcp: Array) -> bool:
    """Return whether no posture can reach; the wrist is nearer to the shoulder than the TCP."""
    away = T_base_tcp[:3, 3] - _SHOULDER_M
    return float(away @ away) > _FARTHEST_M**2


def _some_clear(ends: Array, hovers: Array, checker: CollisionChecker) -> bool:
    return any(
        not checker.clear(end, clearance_m=CLEARANCE_M / 5) and not checker.clear(hover)
        for end, hover in zip(ends, hovers, strict=True)
    )
