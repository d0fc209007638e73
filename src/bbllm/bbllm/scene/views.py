"""What a prompt says of a camera: its name, and how the axes of the world lie in its picture."""

import math
import re

from bbllm.core.types import Pose
from bbllm.scene.transforms import conjugate, rotate
from bbllm.skills.shapes import Vector

X, Y, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_STEEP = 0.35
"""Share of an axis in the picture's plane below which it points along the line of sight: 20
degrees."""
_SIDES = ('to the right', 'down and to the right', 'down', 'down and to the left')
_OTHERS = ('to the left', 'up and to the left', 'up', 'up and to the right')
_LOW_RAD = math.radians(30.0)
"""A camera that looks down less steeply is beside the table, not above it."""
_NAME = re.compile(r'[A-Za-z0-9_/.-]{1,64}')
"""A camera's name as a prompt may contain it: over ROS it is the `frame_id` of any publisher."""


def view_of(camera: str, T_world_camera: Pose | None) -> str:
    """
    Return where a picture is taken from, in the words of `ScenePicture.view`.

    Args:
        camera: The camera's name; left out where it is no name of a frame.
        T_world_camera: Pose of its optical frame (REP 103); None where it is not known.
    """
    by = f'by the camera {camera}' if _NAME.fullmatch(camera) else 'by a camera'
    if T_world_camera is None:
        return f'{by}, whose pose is not known'
    sight = rotate(T_world_camera.quat_xyzw, UP)
    place = 'from above' if sight[2] < -math.sin(_LOW_RAD) else 'from the side'
    x, y = (_direction(axis, T_world_camera) for axis in (X, Y))
    return f'{place}, {by}; in it, x points {x} and y {y}'


def _direction(axis: Vector, T_world_camera: Pose) -> str:
    right, down, ahead = rotate(conjugate(T_world_camera.quat_xyzw), axis)
    if math.hypot(right, down) < _STEEP:
        return 'away from the camera' if ahead > 0 else 'towards the camera'
    eighth = round(math.atan2(down, right) / (math.pi / 4)) % 8
    return (*_SIDES, *_OTHERS)[eighth]
