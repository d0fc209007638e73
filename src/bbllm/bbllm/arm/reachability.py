"""Whether a tool pose is inside the workspace, answered by closed-form inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CLEARANCE_M, CollisionChecker, Ignore
from bbllm.arm.kinematics import inverse, inverse_branches, q7_grid

Array = NDArray[np.float64]

_SHOULDER_M: Array = np.array([0.0, 0.0, 0.333])
_FARTHEST_M = 1.085
"""No tool pose is farther from the shoulder: flange at 0.858, hand 0.107 + 0.1034 beyond, and a
little; what is farther is refused without solving anything [m]."""


def top_down(position_m: Sequence[float] | Array, yaw_rad: float) -> Array:
    """
    Return a tool pose that points straight down.

    Args:
        position_m: Where the TCP is, base frame, shape (3,) [m].
        yaw_rad: Turn about the base z axis; at 0 the tool's x axis is the base's x axis, and
            the fingers open along the base's y axis [rad].

    Returns:
        T_base_tcp, shape (4, 4).
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


def reachable(T_base_tcp: Array) -> bool:
    """Tell whether some joint position within limits puts the tool there."""
    return not _too_far(T_base_tcp) and len(inverse(T_base_tcp)) > 0


def reachable_top_down(
    position_m: Sequence[float] | Array,
    yaws_rad: Sequence[float],
    *,
    hover_m: float = 0.1,
    checker: CollisionChecker | None = None,
    ignore: Ignore = (),
) -> bool:
    """
    Tell whether the tool can come down on a point from above in one of some directions.

    The grasp pose and the hover pose above it must be within limits with the same posture;
    with a checker, also free of contact with the arm itself, the table and what else it holds.

    Args:
        position_m: Where the TCP goes, base frame, shape (3,) [m].
        yaws_rad: Directions that would do [rad].
        hover_m: Height above from where the tool comes down [m].
        checker: Collision model, or None to look at limits only.
        ignore: What may be touched.
    """
    for yaw_rad in yaws_rad:
        ends, hovers = approach_postures(top_down(position_m, yaw_rad), hover_m)
        if len(ends) and (checker is None or _some_clear(ends, hovers, checker, ignore)):
            return True
    return False


def approach_postures(T_base_tcp: Array, hover_m: float) -> tuple[Array, Array]:
    """
    Return every posture at a pose that the same branch also has at a hover pose above.

    Returns:
        Joint positions at the pose and above it, row by row, each of shape (n, 7) [rad].
    """
    above = raised(T_base_tcp, hover_m)
    if _too_far(T_base_tcp) or _too_far(above):
        return np.empty((0, 7)), np.empty((0, 7))
    grid = q7_grid()
    poses = np.repeat(np.stack([T_base_tcp, above]), len(grid), axis=0)
    both = inverse_branches(poses, np.concatenate([grid, grid])).reshape(8, 2, -1, 7)
    ends, hovers = both[:, 0].reshape(-1, 7), both[:, 1].reshape(-1, 7)
    legal = ~np.isnan(ends[:, 0]) & ~np.isnan(hovers[:, 0])
    return ends[legal], hovers[legal]


def _too_far(T_base_tcp: Array) -> bool:
    """
    Tell whether no posture can reach, without solving anything.

    The wrist is at least this near to the shoulder: the tool's way from wrist to TCP is known.
    """
    away = T_base_tcp[:3, 3] - _SHOULDER_M
    return float(away @ away) > _FARTHEST_M**2


def _some_clear(
    ends: Array, hovers: Array, checker: CollisionChecker, ignore: Ignore
) -> bool:
    for end, hover in zip(ends, hovers, strict=True):
        if not checker.clear(end, ignore, clearance_m=CLEARANCE_M / 5) and not checker.clear(
            hover, ignore
        ):
            return True
    return False
