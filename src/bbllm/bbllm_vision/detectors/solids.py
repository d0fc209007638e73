"""
Plain solids, and the points of their outlines.

A solid is a box, a cylinder, an ellipsoid or a capsule, as in `scene.object_models`; objects are
unions of solids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROUND = 24
"""Number of points on each circle of an outline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solid:
    """One convex shape."""

    shape: str
    """`box`, `cylinder`, `ellipsoid` or `capsule`; the axis of the round ones is z."""
    half_m: tuple[float, float, float]
    """As `scene.object_models.ObjectPart.half_m` [m]."""
    rotation: Array
    """Of its axes in the frame it is given in, shape (3, 3)."""
    at_m: Array
    """Its middle in that frame, shape (3,) [m]."""

    def moved(self, rotation: Array, position_m: Array) -> Solid:
        """Return it in the frame in which its own frame has that rotation and position."""
        return Solid(
            shape=self.shape,
            half_m=self.half_m,
            rotation=rotation @ self.rotation,
            at_m=rotation @ self.at_m + position_m,
        )


def outline_points(solid: Solid) -> Array:
    """Return points of its surface whose convex hull is the solid, nearly; shape (n, 3) [m]."""
    a, b, c = solid.half_m
    angle = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False)
    circle = np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    if solid.shape == 'box':
        local = np.stack(np.meshgrid((-a, a), (-b, b), (-c, c)), axis=-1).reshape(-1, 3)
    elif solid.shape == 'cylinder':
        rim = np.concatenate((circle * a, np.full((ROUND, 1), b)), axis=1)
        local = np.concatenate((rim, rim * (1.0, 1.0, -1.0)))
    else:
        circle = circle[::2]
        tilt = np.linspace(-np.pi / 2, np.pi / 2, 6)
        ball = np.stack(
            (
                np.outer(np.cos(tilt), circle[:, 0]),
                np.outer(np.cos(tilt), circle[:, 1]),
                np.outer(np.sin(tilt), np.ones(len(circle))),
            ),
            axis=-1,
        ).reshape(-1, 3)
        if solid.shape == 'ellipsoid':
            local = ball * (a, b, c)
        else:
            local = ball * a + np.sign(ball[:, 2:]) * (0.0, 0.0, b)
    return np.asarray(local @ solid.rotation.T + solid.at_m)
