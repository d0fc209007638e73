"""Pictures of a printed board that need no graphics library, and views made of numbers alone."""

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import Array
from bbllm.scene.camera import Intrinsics, Pixels
from bbllm_vision.board import (
    BoardSighting,
    NotSeen,
    TagBoard,
    camera_matrix,
    locate_board,
    project,
    transformed,
)
from bbllm_vision.hand_eye import BoardView, Mount

INTRINSICS = Intrinsics(
    width_px=640, height_px=480, fx_px=615.0, fy_px=615.0, cx_px=319.5, cy_px=239.5
)
BOARD = TagBoard()
_PX = 60
_FINER = 4


def pose(position_m: tuple[float, float, float], rotation_deg: tuple[float, ...]) -> Array:
    """Return a transform, shape (4, 4), turned by a rotation vector."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotation_deg, degrees=True).as_matrix()
    T[:3, 3] = position_m
    return T


def picture_of(T_camera_board: Array, noise_sd: float = 2.0, seed: int = 0) -> Pixels:
    """Draw a board on a grey ground, four times finer than the picture."""
    margin = _PX // 2
    print_px = cv2.copyMakeBorder(
        BOARD.picture(_PX), margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=[255.0]
    )
    scale_m = BOARD.square_m / _PX
    x_m, y_m = ((0.5 - margin) * scale_m - length / 2 for length in BOARD.size_m)
    board_from_print = np.array([[scale_m, 0, x_m], [0, scale_m, y_m], [0, 0, 1]])
    finer = np.array([[_FINER, 0, (_FINER - 1) / 2], [0, _FINER, (_FINER - 1) / 2], [0, 0, 1.0]])
    plane = camera_matrix(INTRINSICS) @ T_camera_board[:3][:, [0, 1, 3]]
    size = (INTRINSICS.width_px, INTRINSICS.height_px)
    fine = cv2.warpPerspective(
        print_px,
        finer @ plane @ board_from_print,
        (size[0] * _FINER, size[1] * _FINER),
        borderValue=[120.0],
    )
    grey = cv2.resize(fine, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    grey += np.random.default_rng(seed).normal(0.0, noise_sd, grey.shape)
    return np.repeat(np.clip(grey, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


def sighting_of(T_camera_board: Array, noise_px: Array | float = 0.0) -> BoardSighting | NotSeen:
    """Return what a camera without a lens would find, off by a noise."""
    corners_px = project(transformed(T_camera_board, BOARD.corners_m), INTRINSICS)
    return locate_board(corners_px + noise_px, BOARD.corners_m, INTRINSICS)


def views_of(
    mount: Mount,
    X: Array,
    Z: Array,
    *,
    count: int = 15,
    noise_px: float = 0.0,
    axes: tuple[float, float, float] = (20.0, 20.0, 20.0),
    seed: int = 3,
) -> list[BoardView]:
    """Return views of a camera at X and a board at Z; turned about *axes* (sd) [deg]."""
    dice = np.random.default_rng(seed)
    views: list[BoardView] = []
    while len(views) < count:
        x, y, z = dice.uniform((-0.08, -0.08, 0.6), (0.08, 0.08, 0.9))
        turn = pose((0.0, 0.0, 0.0), tuple(dice.normal(size=3) * axes))
        seen = pose((x, y, z), (25.0, 10.0, 0.0)) @ turn
        A = Z @ np.linalg.inv(X @ seen)
        sighting = sighting_of(seen, dice.normal(size=(BOARD.corner_count, 2)) * noise_px)
        if isinstance(sighting, BoardSighting):
            T_base_hand = np.linalg.inv(A) if mount is Mount.STAND else A
            name = f'view {len(views) + 1}'
            views.append(BoardView(name=name, T_base_hand=T_base_hand, sighting=sighting))
    return views
