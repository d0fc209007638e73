"""
Plain solids as a camera shows them: where rays meet them.

A solid is a box, a cylinder, an ellipsoid or a capsule, as in `scene.object_models`; objects are
unions of solids. Ray casting follows from the quadric of each shape.
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


def cast(solid: Solid, origin_m: Array, rays: Array) -> Array:
    """
    Return how far along rays, shape (n, 3), a solid begins, in lengths of each ray; inf: missed.

    The origin is outside of the solid.
    """
    start = (origin_m - solid.at_m) @ solid.rotation
    along = rays @ solid.rotation
    a, b, c = solid.half_m
    with np.errstate(divide='ignore', invalid='ignore'):
        if solid.shape == 'box':
            near, far = _slabs(start, along, np.array([a, b, c]))
            return np.where((near <= far) & (far > 0), near, np.inf)
        if solid.shape == 'ellipsoid':
            scale = np.array([a, b, c])
            return _sphere(start / scale, along / scale, 1.0)
        if solid.shape == 'capsule':
            up = np.array([0.0, 0.0, b])
            ends = np.minimum(_sphere(start - up, along, a), _sphere(start + up, along, a))
            return np.minimum(ends, _tube(start, along, a, b, caps=False))
        return _tube(start, along, a, b, caps=True)


def _slabs(start: Array, along: Array, half: Array) -> tuple[Array, Array]:
    one, other = (-half - start) / along, (half - start) / along
    near, far = np.fmin(one, other), np.fmax(one, other)
    return np.max(near, axis=-1), np.min(far, axis=-1)


def _sphere(start: Array, along: Array, radius: float) -> Array:
    a = np.einsum('ij,ij->i', along, along)
    b = along @ start
    root = b * b - a * (start @ start - radius * radius)
    found = (-b - np.sqrt(np.maximum(root, 0.0))) / a
    return np.where(root > 0, found, np.inf)


def _tube(start: Array, along: Array, radius: float, half: float, *, caps: bool) -> Array:
    """A cylinder about z; a cylinder without caps is open at its ends."""
    a = along[:, 0] ** 2 + along[:, 1] ** 2
    b = along[:, 0] * start[0] + along[:, 1] * start[1]
    root = b * b - a * (start[0] ** 2 + start[1] ** 2 - radius**2)
    way = np.sqrt(np.maximum(root, 0.0))
    near, far = (-b - way) / a, (-b + way) / a
    low, high = (-half - start[2]) / along[:, 2], (half - start[2]) / along[:, 2]
    enter, leave = np.fmin(low, high), np.fmax(low, high)
    if not caps:
        on_side = np.abs(start[2] + near * along[:, 2]) <= half
        return np.where((root > 0) & on_side, near, np.inf)
    first, last = np.fmax(near, enter), np.fmin(far, leave)
    return np.where((root > 0) & (first <= last), first, np.inf)


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
