"""Which posture to take for a tool pose: among all directions and all solutions, the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CollisionChecker, Ignore

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """A way to come straight down (or along the tool) on a pose: where to hover, where to end."""

    T_base_tcp: Array
    """Tool pose at the end, shape (4, 4)."""
    q_hover: Array
    """Joint position at the hover pose, shape (7,) [rad]."""
    q_end: Array
    """Joint position at the end, on the same straight line and branch, shape (7,) [rad]."""
    cost: float
    """Smaller is better; only good for comparing."""


def choose_grasp_configuration(
    poses: Sequence[Array],
    q_now: Array,
    *,
    hover_m: float = 0.1,
    checker: CollisionChecker | None = None,
    ignore: Ignore = (),
    count: int = 3,
    check_transit: bool = True,
) -> list[Approach]:
    """
    Choose postures for a pick or a place: the best few, best first.

    Every pose of *poses* (a grasp in several directions, say) with every solution of inverse
    kinematics is ranked by how near it is to a comfortable posture and to *q_now* and how far
    from the limits. Kept are those whose straight descent is within limits and, with a checker,
    whose hover, descent and direct transit from *q_now* touch nothing. Where no transit is
    direct, those that need a detour are returned.

    Args:
        poses: T_base_tcp that would all do, each of shape (4, 4), in order of liking.
        q_now: Where the arm is, shape (7,) [rad].
        hover_m: Height of the hover pose above the end pose, along base z [m].
        checker: Collision model, or None to look at limits only.
        ignore: What may be touched on the descent (not on the transit).
        count: How many to return at most.
        check_transit: Whether to prefer those with a direct transit.

    Raises:
        NoPathError: Nothing is left; says whether reach or contact was the reason.
    """
    raise NotImplementedError
