"""
Poses of the hand from which a board may be seen: around a pose from which it is seen.

The board turns about its own middle, in front of the camera. For a camera on a stand it is the
board that turns, for one on the hand the camera, which comes to the same: in both cases a point
that is fixed to the hand (the board's middle, or the middle of what the camera sees) stays where
it is, but for a shift.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import Array
from bbllm.scene.camera import Intrinsics
from bbllm_vision.board import TagBoard, project, transformed
from bbllm_vision.hand_eye import Mount, predicted

SHARE_OF_TURN = 0.3
"""What a metre of shift counts against a radian of turn, where views shall be spread [rad/m]."""
EDGE_SHARE = 0.04
"""The board keeps this share of the picture's height from its edges."""
LEAST_TILT_RAD, MOST_TILT_RAD = np.radians((8.0, 50.0))
"""Between the board's normal and the line of sight: less is ambiguous, more is blurred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseRange:
    """How far poses are drawn from the first one."""

    turn_rad: float
    shift_m: float


NEAR = PoseRange(turn_rad=np.radians(14.0), shift_m=0.03)
"""While it is not known where the camera is."""
FAR = PoseRange(turn_rad=np.radians(38.0), shift_m=0.12)
"""Once it is known which poses the camera sees."""


def candidates(
    T_base_hand: Array, pivot_m: Array, within: PoseRange, count: int, dice: np.random.Generator
) -> Array:
    """
    Draw poses of the hand, shape (count, 4, 4), turned about a point and shifted.

    Args:
        T_base_hand: The first pose, shape (4, 4).
        pivot_m: The point, in the frame of the hand, shape (3,) [m].
        within: The largest turn, about any axis, and the largest shift along each axis.
        count: How many.
        dice: Where the numbers come from.
    """
    axes = dice.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = Rotation.from_rotvec(
        axes * within.turn_rad * np.sqrt(dice.uniform(0.1, 1.0, (count, 1)))
    ).as_matrix()
    shifts_m = dice.uniform(-within.shift_m, within.shift_m, (count, 3))
    middle_m = transformed(T_base_hand, pivot_m[None])[0]
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = turns @ T_base_hand[:3, :3]
    poses[:, :3, 3] = middle_m + shifts_m + turns @ (T_base_hand[:3, 3] - middle_m)
    return poses


def farthest_first(poses: Array, earlier: Sequence[Array]) -> Array:
    """Return poses, shape (n, 4, 4), with those first that differ most from all earlier ones."""
    if not len(earlier):
        return poses
    before = np.stack(earlier)
    cosines = (np.einsum('nij,mij->nm', poses[:, :3, :3], before[:, :3, :3]) - 1.0) / 2.0
    shifts_m = np.linalg.norm(poses[:, None, :3, 3] - before[None, :, :3, 3], axis=2)
    apart = np.arccos(np.clip(cosines, -1.0, 1.0)) + SHARE_OF_TURN * shifts_m
    return poses[np.argsort(-apart.min(axis=1), kind='stable')]


def is_in_view(
    T_base_hand: Array,
    mount: Mount,
    solution: tuple[Array, Array],
    board: TagBoard,
    intrinsics: Intrinsics,
) -> bool:
    """Return whether all of the board would be in the picture, and neither flat nor askew."""
    T_camera_board = predicted(T_base_hand, mount, *solution)
    outline_m = transformed(T_camera_board, board.outline_m)
    if outline_m[:, 2].min() <= 0.1:
        return False
    corners_px = project(outline_m, intrinsics)
    edge_px = EDGE_SHARE * intrinsics.height_px
    size_px = np.array([intrinsics.width_px, intrinsics.height_px])
    if (corners_px < edge_px).any() or (corners_px > size_px - edge_px).any():
        return False
    sight = T_camera_board[:3, 3] / np.linalg.norm(T_camera_board[:3, 3])
    # The board's z axis points into the paper, as the camera looks.
    tilt_rad = np.arccos(np.clip(float(T_camera_board[:3, 2] @ sight), -1.0, 1.0))
    return bool(LEAST_TILT_RAD <= tilt_rad <= MOST_TILT_RAD)
