"""What makes pictures of a simulated table harder to use, by the words of `scene.sources`."""

import math
from typing import get_args

import numpy as np

from bbllm.core.errors import UnknownNameError
from bbllm.scene.object_models import ObjectPart
from bbllm.scene.scene_file import SceneFile
from bbllm.scene.sources import TroubleName
from bbllm.sim.camera_settings import Light, Trouble, UnknownObject
from bbllm.skills.shapes import yaw_pose

MOVED_M = 0.005
"""How far a moved camera is beside where its calibration has it [m]."""
CLUTTER = 4
"""Number of unknown objects."""
CLUTTER_X_M, CLUTTER_Y_M = (0.30, 0.90), (-0.60, 0.60)
"""Where they lie, the part of the table that the camera over it shows [m]."""
TRIES = 1000
"""Where a table is full, there are fewer of them."""
CLEAR_M = 0.12
"""Least distance of unknown objects from objects and locations at the start [m]."""


def trouble_of(name: str, file: SceneFile, seed: int) -> Trouble:
    """
    Return what makes pictures of a scene harder to use; *seed* places unknown objects.

    Raises UnknownNameError.
    """
    match name:
        case 'light':
            return Trouble(light=Light.SIDE)
        case 'moved':
            return Trouble(camera_offset_m=(MOVED_M, 0.0, 0.0))
        case 'clutter':
            return Trouble(unknown_objects=_clutter(file, np.random.default_rng(seed)))
        case 'none':
            return Trouble()
        case _:
            raise UnknownNameError('trouble', name, get_args(TroubleName))


def _clutter(file: SceneFile, dice: np.random.Generator) -> tuple[UnknownObject, ...]:
    """Return pens and mugs that lie clear of everything else, and with which nothing collides."""
    taken = [item.pose.position_m[:2] for item in (*file.movables, *file.places)]
    found: list[UnknownObject] = []
    for _ in range(TRIES):
        x, y = (float(dice.uniform(*side)) for side in (CLUTTER_X_M, CLUTTER_Y_M))
        if len(found) == CLUTTER:
            break
        if any(math.dist((x, y), other) < CLEAR_M for other in taken):
            continue
        taken.append((x, y))
        parts, height_m = (_MUG, 0.045) if len(found) % 2 else (_PEN, 0.006)
        turn_rad = float(dice.uniform(0.0, math.pi))
        found.append(UnknownObject(pose=yaw_pose((x, y, height_m), turn_rad), parts=parts))
    return tuple(found)


_PEN = (ObjectPart(shape='box', half_m=(0.07, 0.006, 0.006), color='navy'),)
_MUG = (
    ObjectPart(shape='cylinder', half_m=(0.04, 0.045, 0.0), color='teal'),
    ObjectPart(shape='box', half_m=(0.006, 0.03, 0.02), at_m=(0.0, 0.05, 0.0), color='teal'),
)
