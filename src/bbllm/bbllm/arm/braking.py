"""
Timing of a straight motion towards the stops, where the legal velocity falls on the way.

In the plane of position s and squared velocity, constant acceleration is a straight line. The
bound on the velocity is replaced by a chain of such lines below it; the fastest motion under
the chain speeds up, follows it, and brakes. Its acceleration jumps, so it is averaged over a
short window: the jumps become ramps of limited jerk. Averages do not exceed what they average,
and the legal velocity is a concave function of the position, so by Jensen's inequality the
average still obeys it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LINES = 8
"""Lines that stand for the falling part of the bound."""
_GRID = 24
"""Points on each at which it is held below the bound."""
_SHORTEST_PHASE_S = 1e-4
"""Corners of the chain nearer to each other than this are one [s]."""
_SHORTEST_S = 1e-5
"""Knots nearer to each other than this are one [s]."""


@dataclass(frozen=True, slots=True)
class Knots:
    """A motion in one dimension, a cubic between any two neighbours."""

    time_s: Array
    """Shape (n,), from 0 [s]."""
    s: Array
    """Way travelled, shape (n,)."""
    ds: Array
    """Velocity, 0 at both ends [1/s]."""
    dds: Array
    """Acceleration, 0 at both ends [1/s^2]."""

    @classmethod
    def at_rest(cls, duration_s: float) -> Knots:
        """Return a motion that stays where it is."""
        zero = np.zeros(2)
        return cls(np.array([0.0, duration_s]), zero, zero, zero)

    @classmethod
    def cleaned(cls, time_s: Array, s: Array, ds: Array, dds: Array, end: float) -> Knots:
        """Drop knots that coincide, and put the last one exactly at rest at the end."""
        keep = np.concatenate([[True], np.diff(time_s) > _SHORTEST_S])
        keep[-1] = True
        if len(time_s) > 2 and time_s[-1] - time_s[keep][-2] < _SHORTEST_S:
            keep[np.flatnonzero(keep)[-2]] = False
        time_s, s, ds, dds = time_s[keep], s[keep], ds[keep], dds[keep]
        s[-1], ds[0], ds[-1], dds[0], dds[-1] = end, 0.0, 0.0, 0.0, 0.0
        return cls(time_s, s, ds, dds)


def braking_profile(
    speed_bound: Callable[[Array], Array], acceleration: float, jerk: float
) -> Knots:
    """
    Travel from s = 0 to s = 1, from rest to rest, below a velocity that falls on the way.

    Args:
        speed_bound: Legal ds/dt at s, positive, falling and concave; shape (n,) to (n,).
        acceleration: Limit of both signs, constant [1/s^2].
        jerk: Limit of both signs, constant [1/s^3].
    """
    s, square = _chain(speed_bound, acceleration)
    speed = np.sqrt(square)
    duration = 2 * np.diff(s) / (speed[1:] + speed[:-1])
    lasting = duration > _SHORTEST_PHASE_S
    apart = np.concatenate([[True], lasting[:-1], [True]])
    apart[-2] &= lasting[-1]
    s, speed = s[apart], speed[apart]
    duration = 2 * np.diff(s) / (speed[1:] + speed[:-1])
    return _averaged(duration, s, speed, window_s=2 * acceleration / jerk)


def _chain(speed_bound: Callable[[Array], Array], acceleration: float) -> tuple[Array, Array]:
    """Return corners (s, ds^2) of the fastest motion without a jerk limit."""
    scan = np.linspace(0.0, 1.0, 65)
    bound = speed_bound(scan)
    falls = int(np.argmax(bound < bound[0] * (1 - 1e-9))) - 1  # last point of the plateau
    first = scan[max(falls, 0)]
    s = np.concatenate([[0.0], np.linspace(first, 1.0, _LINES + 1)[int(first == 0.0) :]])
    share = np.linspace(0.0, 1.0, _GRID)
    dense = s[:-1, None] + np.diff(s)[:, None] * share
    square = speed_bound(s) ** 2
    chord = square[:-1, None] + np.diff(square)[:, None] * share
    above = (chord - speed_bound(dense.ravel()).reshape(dense.shape) ** 2).max(axis=1)
    above = np.maximum(above, 0.0)
    square = square - np.maximum(np.append(above, 0.0), np.append(0.0, above))
    square = np.maximum(square, 1e-9)

    for i in range(len(s) - 2, -1, -1):  # never steeper than the brakes
        square[i] = min(square[i], square[i + 1] + 2 * acceleration * (s[i + 1] - s[i]))
    s, square = _below(s, square, 2 * acceleration, 0.0)
    s, square = _below(s, square, -2 * acceleration, 2 * acceleration)
    square[0] = square[-1] = 0.0
    return s, square


def _below(s: Array, square: Array, slope: float, offset: float) -> tuple[Array, Array]:
    """Cut a chain of lines by one more line, with a corner where they cross."""
    gap = square - (slope * s + offset)
    crossed = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossed] / (gap[crossed] - gap[crossed + 1])
    corner = s[crossed] + share * (s[crossed + 1] - s[crossed])
    merged = np.sort(np.concatenate([s, corner]))
    merged = merged[np.concatenate([[True], np.diff(merged) > 1e-12])]
    return merged, np.minimum(np.interp(merged, s, square), slope * merged + offset)


def _averaged(duration: Array, s: Array, speed: Array, window_s: float) -> Knots:
    """Average a motion of constant accelerations over the last *window_s* of time."""
    start = np.concatenate([[0.0], np.cumsum(duration)])
    acceleration = np.append(np.diff(speed) / duration, 0.0)  # 0: at rest beyond the end
    area = np.concatenate(  # integral of s at each corner
        [[0.0], np.cumsum(duration * (s[:-1] + duration * (2 * speed[:-1] + speed[1:]) / 6))]
    )

    def at(time_s: Array) -> tuple[Array, Array, Array]:
        """Return the integral of s, s and ds/dt; at rest before the start and after the end."""
        time_s = np.maximum(time_s, 0.0)
        i = np.searchsorted(start, time_s, side='right') - 1
        t, a, v = time_s - start[i], acceleration[i], speed[i]
        way = s[i] + t * (v + t * a / 2)
        return area[i] + t * (s[i] + t * (v / 2 + t * a / 6)), way, v + t * a

    time_s = np.sort(np.concatenate([start, start + window_s]))
    now, before = at(time_s), at(time_s - window_s)
    way, velocity, accel = ((a - b) / window_s for a, b in zip(now, before))
    return Knots.cleaned(time_s, way, velocity, accel, 1.0)
