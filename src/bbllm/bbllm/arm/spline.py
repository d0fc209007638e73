"""A cubic spline through evenly spaced points, with derivatives."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Spline:
    """
    A curve over s in [0, 1] through points, twice differentiable.

    At both ends the third derivative does not jump (not-a-knot), so that nothing needs to be
    known about the curve beyond its points.
    """

    def __init__(self, points: Array) -> None:
        """Take the points, shape (n, k), n >= 4; the first is at s = 0, the last at s = 1."""
        self.points = points
        h = 1.0 / (len(points) - 1)
        self._h = h
        self.second = _second_derivatives(len(points)) @ points
        """Second derivatives in the points, shape (n, k)."""
        slope = np.diff(points, axis=0) / h
        after = slope - h / 6 * (2 * self.second[:-1] + self.second[1:])
        last = slope[-1:] + h / 6 * (self.second[-2:-1] + 2 * self.second[-1:])
        self.first = np.concatenate([after, last])
        """First derivatives in the points, shape (n, k)."""
        self.third = np.diff(self.second, axis=0) / h
        """Third derivatives between the points, shape (n - 1, k)."""

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """Return value, first and second derivative at s, each of shape (m, k)."""
        i = np.clip((s / self._h).astype(int), 0, len(self.points) - 2)
        t = (s - i * self._h)[:, None]
        p, d1, d2, d3 = self.points[i], self.first[i], self.second[i], self.third[i]
        value = p + t * (d1 + t * (d2 / 2 + t * d3 / 6))
        return value, d1 + t * (d2 + t * d3 / 2), d2 + t * d3


@lru_cache(maxsize=8)
def _second_derivatives(n: int) -> Array:
    """Return the matrix that turns points into second derivatives, shape (n, n)."""
    h = 1.0 / (n - 1)
    left, right = np.zeros((n, n)), np.zeros((n, n))
    for i in range(1, n - 1):
        left[i, i - 1 : i + 2] = h / 6, 2 * h / 3, h / 6
        right[i, i - 1 : i + 2] = 1 / h, -2 / h, 1 / h
    left[0, :3] = left[-1, -3:] = 1.0, -2.0, 1.0
    matrix = np.asarray(np.linalg.solve(left, right), dtype=np.float64)
    matrix.setflags(write=False)
    return matrix
