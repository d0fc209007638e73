"""In what a simulation differs from a table as it was observed, and how differences are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bbllm.core.types import MOVABLE, Kind, Pose, Scene
from bbllm.scene.scene_file import overlap
from bbllm.scene.transforms import compose, conjugate, rotate
from bbllm.skills.shapes import Vector, yaw_pose

POSE_SD_M = 0.001
"""Standard deviation of where objects are drawn from, along x and y each: what camera and tracking
leave, docs/results.md "Scenes from pictures" [m]."""
MOST_OFF_M = 0.002
"""No object is drawn further off than this along an axis [m]."""
YAW_SD_RAD = 0.01
"""The same of turns about the vertical [rad]."""
FACTOR_SD = 0.2
"""Standard deviation of the logarithm of the factors of mass and friction."""
LOOSE = MOVABLE | {Kind.CONTAINER}
NOT_OFF = Pose(position_m=(0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """In what a simulation differs from what was observed."""

    offsets: Mapping[str, Pose] = field(default_factory=dict)
    """Where objects really are, each in the frame of its observed pose."""
    shift_m: Vector = (0.0, 0.0, 0.0)
    """How far all objects really are from their observed poses, world frame [m]."""
    mass: float = 1.0
    """Factor of all masses, which are those of `scene.scene_file` without it."""
    friction: float = 1.0
    """Factor of the friction of all surfaces."""


def of_objects(scene: Scene, deviation: Deviation) -> Deviation:
    """Return a deviation with the offset of each object of a scene, in place of a shift."""
    offsets = {
        item.name: Pose(position_m=rotate(conjugate(item.pose.quat_xyzw), deviation.shift_m))
        for item in scene.objects
        if item.kind in LOOSE and item.name != scene.held and any(deviation.shift_m)
    }
    return replace(deviation, offsets={**offsets, **deviation.offsets}, shift_m=(0.0, 0.0, 0.0))


def drawn(scene: Scene, dice: np.random.Generator, *, around: Deviation) -> Deviation:
    """
    Draw a deviation: poses off by `POSE_SD_M` and `YAW_SD_RAD`, mass and friction by `FACTOR_SD`.

    An object that would overlap with another one stays where it was observed, as what is in the
    hand does. *around* is a deviation that all draws have in common.
    """
    offsets = dict(around.offsets)
    free = [item for item in scene.objects if item.kind in MOVABLE and item.name != scene.held]
    now = {item.name: item for item in scene.objects if item.kind in LOOSE}
    for item in free:
        x, y = np.clip(dice.normal(0.0, POSE_SD_M, 2), -MOST_OFF_M, MOST_OFF_M)
        off = yaw_pose((float(x), float(y), 0.0), float(dice.normal(0.0, YAW_SD_RAD)))
        off = compose(offsets.get(item.name, NOT_OFF), off)
        moved = replace(item, pose=compose(item.pose, off))
        if not any(overlap(moved, now[name]) for name in now if name != item.name):
            offsets[item.name], now[item.name] = off, moved
    mass, friction = np.exp(dice.normal(0.0, FACTOR_SD, 2))
    return Deviation(
        offsets=offsets, mass=around.mass * float(mass), friction=around.friction * float(friction)
    )
