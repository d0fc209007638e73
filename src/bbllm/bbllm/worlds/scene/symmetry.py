"""Equivalent orientations: 24 of a cube, a whole circle of a cylinder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

from bbllm.core.types import Kind, Quat
from bbllm.skills.shapes import Vector
from bbllm.worlds.scene.transforms import angle_between, multiply, normalized, rotate

SAME_EDGE_M = 0.002
"""Edges that differ by less are taken for equal [m]."""
_HALF = math.sqrt(0.5)
_NEAREST_RAD = math.radians(45.0)
"""Alike orientations of a box are a quarter turn apart or more: one that is nearer than half of
that is the nearest."""


def nearest_alike(quat: Quat, reference: Quat, kind: Kind, size_m: Vector) -> Quat:
    """
    Return the orientation nearest to a reference among those that cannot be distinguished.

    A box and a cylinder of full extent *size_m* [m] have symmetries; other kinds count as none.
    """
    if kind is Kind.CYLINDER:
        return _turned_onto(quat, reference)
    if kind is not Kind.CUBE or angle_between(quat, reference) < _NEAREST_RAD:
        return quat
    a, b, c = size_m
    equal = (_same(b, c), _same(a, c), _same(a, b))
    alike = (multiply(quat, turn) for turn in _box_turns(equal))
    return min(alike, key=lambda turned: angle_between(turned, reference))


def difference(quat: Quat, reference: Quat, kind: Kind, size_m: Vector) -> float:
    """Return by how much an object has turned, as far as that can be seen [rad]."""
    return angle_between(nearest_alike(quat, reference, kind, size_m), reference)


def mean(quats: Sequence[Quat]) -> Quat:
    """Return the mean of orientations that are near to each other."""
    first = quats[0]
    sums = [0.0, 0.0, 0.0, 0.0]
    for quat in quats:
        sign = 1.0 if sum(p * q for p, q in zip(quat, first, strict=True)) >= 0.0 else -1.0
        for i, part in enumerate(quat):
            sums[i] += sign * part
    return normalized(sums)


def shortest_turn(a: Vector, b: Vector) -> Quat:
    """Return the smallest rotation that turns one unit vector onto another."""
    x, y, z = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    dot = sum(p * q for p, q in zip(a, b, strict=True))
    if dot < -1.0 + 1e-9:  # opposite: half a turn about anything that stands across
        across = (0.0, -a[2], a[1]) if abs(a[0]) < 0.9 else (-a[1], a[0], 0.0)
        return normalized((*across, 0.0))
    return normalized((x, y, z, 1.0 + dot))


def _turned_onto(quat: Quat, reference: Quat) -> Quat:
    """Turn the reference by as little as makes its z axis that of *quat*, or its opposite."""
    axis, wanted = rotate(reference, (0.0, 0.0, 1.0)), rotate(quat, (0.0, 0.0, 1.0))
    if sum(p * q for p, q in zip(axis, wanted, strict=True)) < 0.0:
        wanted = (-wanted[0], -wanted[1], -wanted[2])
    return normalized(multiply(shortest_turn(axis, wanted), reference))


def _same(a: float, b: float) -> bool:
    return abs(a - b) < SAME_EDGE_M


@cache
def _box_turns(equal: tuple[bool, bool, bool]) -> tuple[Quat, ...]:
    """Return the rotations that map a box onto itself; *equal[i]*: the other two edges agree."""
    generators: list[Quat] = [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)]
    for axis, quarter in enumerate(equal):
        if quarter:
            x, y, z = (_HALF if i == axis else 0.0 for i in range(3))
            generators.append((x, y, z, _HALF))
    found: list[Quat] = [(0.0, 0.0, 0.0, 1.0)]
    for turn, generator in ((t, g) for t in found for g in generators):
        new = multiply(turn, generator)
        if all(angle_between(new, known) > 0.01 for known in found):
            found.append(new)  # the loop goes on over what it finds
    return tuple(found)


def axes_of(quat: Quat) -> tuple[Vector, ...]:
    """Return the six directions of an object's own axes."""
    units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    signs = itertools.product((1.0, -1.0), units)
    return tuple(rotate(quat, (sign * u[0], sign * u[1], sign * u[2])) for sign, u in signs)
