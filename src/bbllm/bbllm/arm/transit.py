"""Getting from one posture to another without touching anything."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.collision import CollisionChecker, Ignore
from bbllm.arm.driver import JointTrajectory

Array = NDArray[np.float64]


def plan_transit(
    q_start: Array,
    q_goal: Array,
    checker: CollisionChecker,
    *,
    scale: float = 1.0,
    ignore: Ignore = (),
) -> JointTrajectory:
    """
    Move to a joint position around what stands in the way, from rest to rest.

    Tries the straight joint move, then raised ways over, then a random search (seeded, so the
    same question has the same answer).

    Args:
        q_start: Where the arm stands, shape (7,) [rad].
        q_goal: Where it goes, shape (7,) [rad].
        checker: The things around, and what is held.
        scale: Share of the velocity and acceleration limits to use, in (0, 1].
        ignore: What may be touched.

    Raises:
        NoPathError: An end touches something, or no way was found; names what is in the way.
    """
    raise NotImplementedError
