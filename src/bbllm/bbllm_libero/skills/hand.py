"""
The Panda Gripper of robosuite as boxes, in the frame of its fingertips.

That frame has its origin between the ends of the fingers, its z axis out of them, and its y axis
along which they open, as bbllm's tool frames have it. Source: `panda_gripper.xml` of robosuite 1.4
with its finger meshes: the fingers end 106.3 mm below the gripper's frame, 9.3 mm beyond the grip
site (whose x axis is the opening direction); the middle of the pads, 16 x 16 mm, is 12.9 mm above
the ends, the lower side of the palm 40.3 mm.
"""

import numpy as np

from bbllm_libero.panda import Placement, State
from bbllm_libero.skills.solids import Array, Solids, matrix, together

OPEN_M = 0.08
"""Distance between the fingers of an open hand [m]."""
PAD_M = 0.008
"""Half width of the pads, across the direction in which they close [m]."""
PAD_MIDDLE_M = 0.0129
"""Height of the middle of the pads above the fingertips [m]."""

_SITE_TIPS = np.array(
    [[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0093], [0.0, 0.0, 0.0, 1.0]]
)
"""Frame of the fingertips in that of the grip site."""
_TIP = (0.0105, 0.0078, 0.0092)
_UPPER = (0.0105, 0.0132, 0.0180)
"""Half extents of a finger's lower and upper part [m]."""


def tips(state: State) -> Array:
    """Return the pose of the fingertips, shape (4, 4)."""
    return tips_at(state.tool)


def tips_at(tool: Placement) -> Array:
    """Return the pose of the fingertips where the grip site is there, shape (4, 4)."""
    pose: Array = matrix(tool) @ _SITE_TIPS
    return pose


def _box(centre_m: tuple[float, float, float], half_m: tuple[float, float, float]) -> Solids:
    return Solids(np.array([centre_m]), np.eye(3)[None], np.array([half_m]))


def hand_at(T: Array, width_m: float = OPEN_M) -> Solids:
    """Return fingers, palm and flange of a hand whose fingertips are at a pose, shape (4, 4)."""
    boxes = []
    for side in (1.0, -1.0):
        inner = width_m / 2
        boxes.append(_box((0.0, side * (inner + _TIP[1]), -0.0092), _TIP))
        boxes.append(_box((0.0, side * (inner + _UPPER[1]), -0.0358), _UPPER))
    boxes.append(_box((0.0, 0.0, -0.0862), (0.0316, 0.104, 0.0460)))  # the palm
    boxes.append(_box((0.0, 0.0, -0.1900), (0.0600, 0.060, 0.0520)))  # flange and link 7
    return together(boxes).moved(T)
