"""Whether a tool pose is inside the workspace, answered by closed-form inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CollisionChecker

Array = NDArray[np.float64]


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
    raise NotImplementedError


def reachable(T_base_tcp: Array) -> bool:
    """Tell whether some joint position within limits puts the tool there."""
    raise NotImplementedError


def reachable_top_down(
    position_m: Sequence[float] | Array,
    yaws_rad: Sequence[float],
    *,
    hover_m: float = 0.1,
    checker: CollisionChecker | None = None,
    ignore: Sequence[str] = (),
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
        ignore: Names of objects whose contact does not count.
    """
    raise NotImplementedError
