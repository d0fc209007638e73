"""What makes pictures of a simulated table harder to use, by the words of `scene.sources`."""

import math
import random
from typing import get_args

from bbllm.core.errors import UnknownNameError, WorldError
from bbllm.scene.object_models import ObjectPart, between
from bbllm.scene.scene_file import BASE_RADIUS_M, SceneFile
from bbllm.scene.sources import TroubleName
from bbllm.sim.camera_settings import Light, Trouble, UnknownObject
from bbllm.skills.shapes import top_z, yaw_pose

MOVED_M = 0.005
"""How far a moved camera is beside where its calibration has it [m]."""
CLUTTER = 4
"""Number of unknown objects: what no scene, catalogue or task names, and cameras see."""
COLORS = ('navy', 'olive', 'teal', 'maroon', 'silver', 'hotpink', 'khaki', 'black', 'snow')
FREE_M = 0.03
"""Least distance to objects, locations and each other: room for an open finger [m]."""
TRIES = 500


def trouble_of(name: str, scene: SceneFile, seed: int) -> Trouble:
    """
    Return what makes pictures of a scene harder to use; *seed* places unknown objects.

    Raises UnknownNameError, and WorldError where there is no room for unknown objects.
    """
    match name:
        case 'light':
            return Trouble(light=Light.SIDE)
        case 'moved':
            return Trouble(camera_offset_m=(MOVED_M, 0.0, 0.0))
        case 'clutter':
            return Trouble(unknown_objects=unknown_objects(scene, CLUTTER, seed))
        case 'none':
            return Trouble()
        case _:
            raise UnknownNameError('trouble', name, get_args(TroubleName))


def unknown_objects(scene: SceneFile, count: int, seed: int) -> tuple[UnknownObject, ...]:
    """
    Place unknown objects on the tables of a scene, beside its objects and locations.

    Equal seeds give equal objects. Nothing collides with them; a place that is free at the start
    may be taken later by what the arm puts there.

    Raises:
        WorldError: There is no room for so many.
    """
    dice = random.Random(seed)
    taken = [(*item.pose.position_m[:2], _radius(item.size_m)) for item in scene.movables]
    taken += [(*item.pose.position_m[:2], _radius(item.size_m)) for item in scene.places]
    taken.append((0.0, 0.0, BASE_RADIUS_M))
    placed: list[UnknownObject] = []
    for _ in range(TRIES):
        if len(placed) == count:
            return tuple(placed)
        table = dice.choice(scene.fixtures)
        kind = dice.choice(tuple(KINDS))
        (half_x, half_y, half_z), parts = KINDS[kind](dice.choice(COLORS), dice.choice(COLORS))
        radius = math.hypot(half_x, half_y)
        spans = zip(table.pose.position_m[:2], table.size_m[:2], strict=True)
        x, y = (
            dice.uniform(middle - size / 2 + radius, middle + size / 2 - radius)
            for middle, size in spans
        )
        if all(math.hypot(x - a, y - b) > radius + r + FREE_M for a, b, r in taken):
            pose = yaw_pose((x, y, top_z(table) + half_z), dice.uniform(-math.pi, math.pi))
            placed.append(UnknownObject(pose=pose, parts=parts))
            taken.append((x, y, radius))
    raise WorldError(
        f'There is room for {len(placed)} unknown objects beside the objects and locations of '
        f'{scene.name}, and {count} are asked for.'
    )


def _radius(size_m: tuple[float, float, float]) -> float:
    return math.hypot(size_m[0], size_m[1]) / 2


Shape = tuple[tuple[float, float, float], tuple[ObjectPart, ...]]
"""Half extents of all parts [m], and the parts, around their middle."""


def _mug(color: str, inside: str) -> Shape:
    handle = between((0.042, 0.0, -0.02), (0.042, 0.0, 0.02), 0.007, color=color)
    return (0.05, 0.04, 0.045), (
        ObjectPart(shape='cylinder', half_m=(0.04, 0.0445, 0.0), color=color),
        ObjectPart(
            shape='cylinder', half_m=(0.035, 0.001, 0.0), at_m=(0.0, 0.0, 0.044), color=inside
        ),
        handle,
    )


def _book(color: str, title: str) -> Shape:
    return (0.075, 0.105, 0.0125), (
        ObjectPart(shape='box', half_m=(0.075, 0.105, 0.012), color=color),
        ObjectPart(shape='box', half_m=(0.04, 0.02, 0.0005), at_m=(0.0, 0.04, 0.012), color=title),
    )


def _pen(color: str, tip: str) -> Shape:
    return (0.075, 0.006, 0.006), (
        between((-0.065, 0.0, 0.0), (0.05, 0.0, 0.0), 0.006, color=color),
        between((0.05, 0.0, 0.0), (0.07, 0.0, 0.0), 0.004, color=tip),
    )


def _ball(color: str, _: str) -> Shape:
    return (0.035, 0.035, 0.035), (
        ObjectPart(shape='ellipsoid', half_m=(0.035, 0.035, 0.035), color=color),
    )


def _tape(color: str, core: str) -> Shape:
    return (0.05, 0.05, 0.0125), (
        ObjectPart(shape='cylinder', half_m=(0.05, 0.012, 0.0), color=color),
        ObjectPart(
            shape='cylinder', half_m=(0.038, 0.0005, 0.0), at_m=(0.0, 0.0, 0.012), color=core
        ),
    )


def _stapler(color: str, base: str) -> Shape:
    return (0.065, 0.018, 0.025), (
        ObjectPart(shape='box', half_m=(0.065, 0.018, 0.006), at_m=(0.0, 0.0, -0.019), color=base),
        ObjectPart(shape='box', half_m=(0.06, 0.015, 0.012), at_m=(0.0, 0.0, 0.012), color=color),
    )


KINDS = {
    'mug': _mug,
    'book': _book,
    'pen': _pen,
    'ball': _ball,
    'tape': _tape,
    'stapler': _stapler,
}
