"""
Containers and everyday objects, each put together from a few plain shapes.

An object's own frame has its origin where a hand takes it: in the middle of the box of its size,
and of the part that is between the fingers. Parts may lean out of that box by millimetres. All
that is round has some rolling friction, as fruit has, since it would never come to rest otherwise.
"""

import itertools
import math
from dataclasses import dataclass

from bbllm.core.types import Kind, Quat, SceneObject
from bbllm.skills.containers import FLOOR_M
from bbllm.skills.shapes import Vector

RING_PARTS = 16
WALL_M = 0.006


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPart:
    """One plain shape of an object, in the object's own frame."""

    shape: str
    """`box`, `cylinder`, `ellipsoid` or `capsule`."""
    half_m: Vector
    """Half extents; of a cylinder and capsule radius, half length and nothing [m]."""
    at_m: Vector = (0.0, 0.0, 0.0)
    quat_xyzw: Quat = (0.0, 0.0, 0.0, 1.0)
    color: str = ''
    """That of the object where empty."""
    painted: bool = False
    """Whether it is there for the eye only: it weighs nothing and touches nothing."""


@dataclass(frozen=True, slots=True)
class ObjectModel:
    """A kind of object that scene files can name."""

    kind: Kind
    size_m: Vector
    """Extents of the box that hands and planners use [m]."""
    mass_kg: float
    color: str
    parts: tuple[ObjectPart, ...]


def turned(axis: Vector, angle_rad: float) -> Quat:
    s = math.sin(angle_rad / 2)
    return (axis[0] * s, axis[1] * s, axis[2] * s, math.cos(angle_rad / 2))


def between(start_m: Vector, end_m: Vector, radius_m: float, **more: object) -> ObjectPart:
    """Return a capsule from one point to another; its round ends reach beyond them."""
    way = [b - a for a, b in zip(start_m, end_m, strict=True)]
    length = math.hypot(*way)
    across = math.hypot(way[0], way[1])
    axis = (-way[1] / across, way[0] / across, 0.0) if across > 1e-9 else (1.0, 0.0, 0.0)
    x, y, z = ((a + b) / 2 for a, b in zip(start_m, end_m, strict=True))
    return ObjectPart(
        shape='capsule',
        half_m=(radius_m, length / 2, 0.0),
        at_m=(x, y, z),
        quat_xyzw=turned(axis, math.acos(max(-1.0, min(1.0, way[2] / length)))),
        **more,  # type: ignore[arg-type]  # other fields of a Part
    )


def _ring(foot_m: float, rim_m: float, height_m: float) -> tuple[ObjectPart, ...]:
    """Return a round floor and a wall of flat pieces that leans outwards; radii at both ends."""
    rise = height_m - FLOOR_M
    lean = math.atan2(rim_m - foot_m, rise)
    middle = (foot_m + rim_m) / 2
    half = (
        WALL_M / 2,
        rim_m * math.tan(math.pi / RING_PARTS),
        math.hypot(rise, rim_m - foot_m) / 2,
    )
    walls = []
    for index in range(RING_PARTS):
        angle = 2 * math.pi * index / RING_PARTS
        sz, cz = math.sin(angle / 2), math.cos(angle / 2)
        sy, cy = math.sin(lean / 2), math.cos(lean / 2)
        walls.append(
            ObjectPart(
                shape='box',
                half_m=half,
                at_m=(middle * math.cos(angle), middle * math.sin(angle), FLOOR_M / 2),
                quat_xyzw=(-sz * sy, cz * sy, sz * cy, cz * cy),  # about z after about y
            )
        )
    below = -height_m / 2 + FLOOR_M / 2
    floor = ObjectPart(
        shape='cylinder', half_m=(foot_m + 0.003, FLOOR_M / 2, 0.0), at_m=(0, 0, below)
    )
    return (floor, *walls)


def _open_box(x_m: float, y_m: float, height_m: float) -> tuple[ObjectPart, ...]:
    a, b, h = x_m / 2, y_m / 2, height_m / 2
    t = WALL_M / 2
    return (
        ObjectPart(shape='box', half_m=(a, b, FLOOR_M / 2), at_m=(0, 0, FLOOR_M / 2 - h)),
        *(ObjectPart(shape='box', half_m=(t, b, h), at_m=(s * (a - t), 0, 0)) for s in (-1, 1)),
        *(ObjectPart(shape='box', half_m=(a, t, h), at_m=(0, s * (b - t), 0)) for s in (-1, 1)),
    )


def _banana() -> tuple[ObjectPart, ...]:
    """Return a bow of capsules; it lies on its side on three spots, two of them near its ends."""
    solid = (
        between((-0.013, 0, 0), (0.013, 0, 0), 0.018),
        between((0.016, 0.001, -0.002), (0.050, 0.013, -0.006), 0.012),
        between((-0.016, 0.001, -0.002), (-0.050, 0.013, -0.006), 0.012),
    )
    skin = []
    xs = [0.012 + 0.0045 * i for i in range(12)]
    for side in (-1, 1):
        for x, onward in itertools.pairwise(xs):
            radius = 0.018 - 4.3 * (x - 0.012) ** 2
            ends = [(side * at, 7.0 * (at - 0.008) ** 2, radius - 0.018) for at in (x, onward)]
            skin.append(between(ends[0], ends[1], radius, painted=True))
    stem = between(
        (0.061, 0.020, -0.010), (0.074, 0.033, -0.012), 0.0045, color='saddlebrown', painted=True
    )
    tip = between(
        (-0.064, 0.022, -0.010), (-0.068, 0.026, -0.011), 0.005, color='saddlebrown', painted=True
    )
    return (*solid, *skin, stem, tip)


def _part(shape: str, half_m: Vector, at_m: Vector, color: str = '') -> ObjectPart:
    return ObjectPart(shape=shape, half_m=half_m, at_m=at_m, color=color)


def _paint(shape: str, half_m: Vector, at_m: Vector, color: str) -> ObjectPart:
    return ObjectPart(shape=shape, half_m=half_m, at_m=at_m, color=color, painted=True)


_PEAR = (
    _part('ellipsoid', (0.030, 0.028, 0.028), (0, 0, 0)),
    between((0.010, 0, 0), (0.040, 0, -0.011), 0.017),
    between((0.055, 0, -0.012), (0.070, 0.004, -0.008), 0.0025, color='saddlebrown', painted=True),
)
_STRAWBERRY = (
    # As long as its box to the millimetre: it is so short that it can be gripped lengthwise too.
    _part('ellipsoid', (0.018, 0.017, 0.017), (-0.0045, 0, 0)),
    between((0.0015, 0, 0), (0.0135, 0, -0.008), 0.009),
    _paint('ellipsoid', (0.004, 0.013, 0.013), (-0.0190, 0, 0), 'forestgreen'),
    between((-0.021, 0, 0.002), (-0.029, 0, 0.005), 0.002, color='forestgreen', painted=True),
)
_ORANGE = (
    _part('ellipsoid', (0.030, 0.030, 0.030), (0, 0, 0)),
    _paint('ellipsoid', (0.004, 0.004, 0.002), (0, 0, 0.0295), 'darkgreen'),
)
# Bottles: body, neck, cap, and a label just outside.
_BOTTLE = (
    _part('cylinder', (0.024, 0.034, 0), (0, 0, -0.011)),
    between((0, 0, 0.023), (0, 0, 0.030), 0.011),
    _part('cylinder', (0.012, 0.006, 0), (0, 0, 0.039), 'white'),
    _paint('cylinder', (0.0243, 0.014, 0), (0, 0, -0.011), 'lightyellow'),
)
_KETCHUP_BOTTLE = (
    _part('cylinder', (0.022, 0.030, 0), (0, 0, -0.020)),
    between((0, 0, 0.008), (0, 0, 0.016), 0.018),
    _part('cylinder', (0.011, 0.012, 0), (0, 0, 0.038), 'white'),
    _paint('cylinder', (0.0223, 0.012, 0), (0, 0, -0.020), 'ivory'),
)
_CAN = (
    _part('cylinder', (0.028, 0.040, 0), (0, 0, 0)),
    _paint('cylinder', (0.0283, 0.022, 0), (0, 0, 0), 'white'),
)
_DRILL = (
    _part('box', (0.035, 0.026, 0.015), (0, 0, -0.055), 'black'),
    between((0, 0, -0.045), (0, 0, 0.030), 0.017),
    between((-0.040, 0, 0.044), (0.040, 0, 0.044), 0.026),
    between((0.055, 0, 0.045), (0.075, 0, 0.045), 0.008, color='black'),
)

_IN, _OTHER = Kind.CONTAINER, Kind.OTHER
OBJECT_MODELS: dict[str, ObjectModel] = {
    'plate': ObjectModel(_IN, (0.28, 0.28, 0.014), 0.5, 'ivory', _ring(0.112, 0.137, 0.014)),
    'bowl': ObjectModel(_IN, (0.20, 0.20, 0.045), 0.5, 'steelblue', _ring(0.072, 0.097, 0.045)),
    'box': ObjectModel(_IN, (0.26, 0.20, 0.05), 0.5, 'peru', _open_box(0.26, 0.20, 0.05)),
    'banana': ObjectModel(_OTHER, (0.124, 0.036, 0.036), 0.12, 'gold', _banana()),
    'pear': ObjectModel(_OTHER, (0.11, 0.056, 0.056), 0.15, 'yellowgreen', _PEAR),
    'strawberry': ObjectModel(_OTHER, (0.045, 0.034, 0.034), 0.03, 'crimson', _STRAWBERRY),
    'orange': ObjectModel(_OTHER, (0.06, 0.06, 0.06), 0.15, 'darkorange', _ORANGE),
    'bottle': ObjectModel(_OTHER, (0.048, 0.048, 0.09), 0.15, 'seagreen', _BOTTLE),
    'ketchup_bottle': ObjectModel(_OTHER, (0.044, 0.044, 0.1), 0.2, 'tomato', _KETCHUP_BOTTLE),
    'can': ObjectModel(_OTHER, (0.056, 0.056, 0.08), 0.2, 'firebrick', _CAN),
    'drill': ObjectModel(_OTHER, (0.16, 0.052, 0.14), 0.6, 'goldenrod', _DRILL),
}
"""Every kind of container and object that a scene file can name beside cube and cylinder."""
SAME_M = 1e-4


def model_like(item: SceneObject) -> ObjectModel | None:
    """Return the kind of object that has an object's size: no two have the same."""
    for good in OBJECT_MODELS.values():
        pairs = zip(good.size_m, item.size_m, strict=True)
        if good.kind is item.kind and all(abs(a - b) < SAME_M for a, b in pairs):
            return good
    return None
