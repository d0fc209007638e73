"""What the objects of a catalogue look like to a camera above: forms, and the classes of looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Kind, Quat
from bbllm.scene.catalogue import Catalogue, CatalogueEntry
from bbllm.scene.transforms import IDENTITY, multiply
from bbllm.skills.shapes import Vector

Array = NDArray[np.float64]
CIRCLE_POINTS = 32
SAME_M = 5e-4
"""Sizes that differ by less are the same [m]."""
_HALF = 0.5**0.5
_QUARTER: Quat = (0.0, 0.0, _HALF, _HALF)
"""A quarter turn about z."""
_UPS: tuple[tuple[tuple[int, int, int], Quat], ...] = (
    ((0, 1, 2), IDENTITY.quat_xyzw),
    ((0, 2, 1), (_HALF, 0.0, 0.0, _HALF)),  # its y axis up
    ((2, 1, 0), (0.0, _HALF, 0.0, _HALF)),  # its x axis down
)
"""For each axis that may be upright: which of its own axes are x, y and z then, and the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppearanceClass:
    """Objects that look the same: one class of a detector."""

    name: str
    """Class that detections have as their name."""
    names: tuple[str, ...]
    """Of its objects, in the order of the catalogue."""
    kind: Kind
    size_m: Vector
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A class of objects, resting on one of its sides."""

    of: AppearanceClass
    round: bool
    """Whether its top is a circle; else it is a rectangle."""
    top_m: tuple[float, float]
    """Extent of its top along x and y at yaw 0 [m]."""
    height_m: float
    quat_xyzw: Quat
    """Of the object at yaw 0."""

    def corners(self, x_m: float, y_m: float, yaw_rad: float, z_m: float) -> Array:
        """Return the corners of its top, counter-clockwise from above, shape (n, 3) [m]."""
        a, b = self.top_m[0] / 2, self.top_m[1] / 2
        if self.round:
            angle = np.linspace(0.0, 2 * np.pi, CIRCLE_POINTS, endpoint=False)
            local = np.stack((a * np.cos(angle), a * np.sin(angle)), axis=-1)
        else:
            local = np.array([[a, b], [-a, b], [-a, -b], [a, -b]])
        c, s = np.cos(yaw_rad), np.sin(yaw_rad)
        flat = local @ np.array([[c, s], [-s, c]]) + np.array([x_m, y_m])
        return np.concatenate((flat, np.full((len(flat), 1), z_m)), axis=1)

    def silhouette(self, x_m: float, y_m: float, yaw_rad: float, z_m: float) -> Array:
        """Return the corners of its top and its bottom, shape (n, 3) [m]."""
        top = self.corners(x_m, y_m, yaw_rad, z_m)
        return np.concatenate((top, top - np.array([0.0, 0.0, self.height_m])))


def classes_of(catalogue: Catalogue) -> tuple[AppearanceClass, ...]:
    """Return the classes of a catalogue, in its order; objects of equal looks are one class."""
    found: dict[tuple[object, ...], list[CatalogueEntry]] = {}
    for entry in catalogue.entries:
        size = tuple(round(length / SAME_M) for length in entry.size_m)
        found.setdefault((entry.kind, size, entry.color), []).append(entry)
    return tuple(
        AppearanceClass(
            name=first.class_id or first.name,
            names=(first.name, *(entry.name for entry in others)),
            kind=Kind(first.kind),
            size_m=first.size_m,
            color=first.color,
        )
        for first, *others in found.values()
    )


def forms_of(classes: Iterable[AppearanceClass]) -> tuple[Form, ...]:
    """Return how boxes and cylinders may rest with a flat top; each distinct way once."""
    found: list[Form] = []
    for of in classes:
        if of.kind is Kind.CYLINDER:
            d, _, h = of.size_m
            found.append(
                Form(of=of, round=True, top_m=(d, d), height_m=h, quat_xyzw=IDENTITY.quat_xyzw)
            )
        elif of.kind is Kind.CUBE:
            known: list[tuple[int, ...]] = []
            for order, quat in _UPS:
                a, b, height = (of.size_m[axis] for axis in order)
                if a < b:  # the longer side is along x, so that equal tops are equal
                    a, b, quat = b, a, multiply(_QUARTER, quat)
                key = tuple(round(length / SAME_M) for length in (a, b, height))
                if key not in known:
                    known.append(key)
                    found.append(
                        Form(of=of, round=False, top_m=(a, b), height_m=height, quat_xyzw=quat)
                    )
    return tuple(found)
