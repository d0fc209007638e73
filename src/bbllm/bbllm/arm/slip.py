"""How far a held thing has slipped in the hand, as the hand has to make up for it."""

from __future__ import annotations

import math

from bbllm.core.types import Pose
from bbllm.skills.shapes import Vector, rotation_of

LEAST_SLIP_M = 0.0002
MOST_SLIP_M = 0.01
"""How far a held thing may have slipped for the descent to make up for it: less is noise, more
is something else than a slip [m]."""


def shift_for_slip(before: Vector, now: Vector, tcp: Pose) -> Vector | None:
    """
    Return how far the hand has to be moved for the thing to be where it would be without a slip.

    Args:
        before: Its centre in the frame of the TCP when it was taken up [m].
        now: The same now [m].
        tcp: Pose of the TCP in the world.

    Returns:
        A shift in the world frame [m]; None where there is nothing to make up for.
    """
    slip = [was - is_now for was, is_now in zip(before, now, strict=True)]
    if not LEAST_SLIP_M < math.hypot(*slip) < MOST_SLIP_M:
        return None
    rotation = rotation_of(tcp)
    x, y, z = (sum(rotation[row][axis] * slip[axis] for axis in range(3)) for row in range(3))
    return (x, y, z)
