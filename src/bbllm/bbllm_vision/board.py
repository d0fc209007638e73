"""
The printed board of calibration: how it is drawn, and where a camera sees it.

A ChArUco board: a chessboard whose white squares contain tags. The tags name the corners of the
chessboard, so that a board of which only a part is visible can be used too; the corners between
two black squares can be located to a fraction of a pixel, unlike those of tags alone (OpenCV,
tutorial "Detection of ChArUco Boards").

The frame of the board lies in its middle: x to the right of the print, y down, z into the paper.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import Array
from bbllm.scene.camera import Intrinsics, Pixels

LEAST_CORNERS = 8
"""Fewer say too little about where the board is."""
AMBIGUOUS = 1.5
"""
A flat board has two poses that look nearly alike (Schweighofer and Pinz, 2006). The error of the
second must be larger than that of the first by this factor, else the view is not used.
"""
WORST_PX = 1.5
"""Root mean square of the distances of corners from a flat board in a sharp picture, at most."""
FLOOR_PX = 0.02
"""Errors below this are rounding of synthetic pictures."""


@dataclass(frozen=True, kw_only=True)
class TagBoard:
    """A ChArUco board with tags of OpenCV's dictionary DICT_4X4_50."""

    columns: int = 6
    rows: int = 4
    square_m: float = 0.042
    """Edge of a square of the chessboard [m]."""
    tag_m: float = 0.032
    """Edge of a tag, its black border included [m]."""

    def measured(self, square_m: float) -> 'TagBoard':
        """Return the board whose squares have another length, as a printer made them [m]."""
        return replace(self, square_m=square_m, tag_m=self.tag_m * square_m / self.square_m)

    @property
    def size_m(self) -> tuple[float, float]:
        """Width and height of all squares [m]."""
        return (self.columns * self.square_m, self.rows * self.square_m)

    @property
    def corner_count(self) -> int:
        """Return how many inner corners the chessboard has."""
        return (self.columns - 1) * (self.rows - 1)

    @cached_property
    def corners_m(self) -> Array:
        """Inner corners in the frame of the board, shape (n, 3) [m]; row i is corner i."""
        width_m, height_m = self.size_m
        middle = np.array([width_m / 2, height_m / 2, 0.0])
        corners_m: Array = np.asarray(_charuco(self).getChessboardCorners(), dtype=np.float64)
        return np.asarray(corners_m - middle)

    def picture(self, px_per_square: int) -> NDArray[np.uint8]:
        """Draw the squares without a margin, shape (height, width), 0 black to 255 white."""
        size = (self.columns * px_per_square, self.rows * px_per_square)
        return np.asarray(_charuco(self).generateImage(size, marginSize=0), dtype=np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSighting:
    """Where a picture shows the board."""

    corners_px: Array
    """Corners in the picture, shape (n, 2) [px]."""
    points_m: Array
    """The same corners in the frame of the board, shape (n, 3) [m]."""
    T_camera_board: Array
    """Pose of the board in the optical frame, shape (4, 4)."""
    error_px: float
    """Root mean square distance of the corners from those of that pose [px]."""


@dataclass(frozen=True, slots=True)
class NotSeen:
    """Why a picture cannot be used; a part of a sentence."""

    reason: str


def camera_matrix(intrinsics: Intrinsics) -> Array:
    """Return OpenCV's matrix of a camera, shape (3, 3) [px]."""
    fx, fy = intrinsics.fx_px, intrinsics.fy_px
    return np.array([[fx, 0.0, intrinsics.cx_px], [0.0, fy, intrinsics.cy_px], [0.0, 0.0, 1.0]])


def project(points_m: Array, intrinsics: Intrinsics) -> Array:
    """Return where points of the optical frame appear, shape (..., 3) [m] to (..., 2) [px]."""
    scaled = points_m[..., :2] / points_m[..., 2:]
    focal = np.array([intrinsics.fx_px, intrinsics.fy_px])
    return np.asarray(scaled * focal + np.array([intrinsics.cx_px, intrinsics.cy_px]))


def transformed(T_a_b: Array, points_m: Array) -> Array:
    """Return points of frame b, shape (n, 3) [m], in frame a."""
    return np.asarray(points_m @ T_a_b[:3, :3].T + T_a_b[:3, 3])


def find_board(rgb: Pixels, intrinsics: Intrinsics, board: TagBoard) -> BoardSighting | NotSeen:
    """Find a board in a rectified picture, shape (height, width, 3)."""
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    corners, ids, _, _ = _detector(board).detectBoard(grey)
    count = 0 if ids is None else len(ids)
    if count < LEAST_CORNERS:
        return NotSeen(
            f'{count} of {board.corner_count} corners of the board are visible, and at least '
            f'{LEAST_CORNERS} are needed'
        )
    corners_px = np.asarray(corners, dtype=np.float64).reshape(-1, 2)
    points_m = board.corners_m[np.asarray(ids).ravel()]
    return locate_board(corners_px, points_m, intrinsics)


def locate_board(
    corners_px: Array, points_m: Array, intrinsics: Intrinsics
) -> BoardSighting | NotSeen:
    """
    Return the pose of which the corners are the picture, or why there is not exactly one.

    Infinitesimal plane-based pose estimation (Collins and Bartoli, 2014), which returns both poses
    of a flat board; the better one is refined by Levenberg and Marquardt's method.

    Args:
        corners_px: Corners in the picture, shape (n, 2), at least `LEAST_CORNERS` [px].
        points_m: The same corners in the frame of the board, shape (n, 3) [m].
        intrinsics: Of the camera.
    """
    if np.linalg.matrix_rank(points_m - points_m.mean(axis=0), tol=1e-6) < 2:
        return NotSeen('all corners that are visible are on one line')
    matrix = camera_matrix(intrinsics)
    # Points must be in the plane z = 0 for this method, which those of a board are.
    count, turns, shifts, _ = cv2.solvePnPGeneric(
        points_m, corners_px, matrix, None, flags=cv2.SOLVEPNP_IPPE
    )
    found: list[BoardSighting] = []
    for turn, shift in zip(turns[:count], shifts[:count], strict=True):
        vectors = cv2.solvePnPRefineLM(points_m, corners_px, matrix, None, turn, shift)
        T_camera_board = np.eye(4)
        T_camera_board[:3, :3] = cv2.Rodrigues(vectors[0])[0]
        T_camera_board[:3, 3] = np.ravel(vectors[1])
        off_px = project(transformed(T_camera_board, points_m), intrinsics) - corners_px
        found.append(
            BoardSighting(
                corners_px=corners_px,
                points_m=points_m,
                T_camera_board=T_camera_board,
                error_px=float(np.sqrt((off_px**2).sum(axis=1).mean())),
            )
        )
    found = [one for one in found if one.T_camera_board[2, 3] > 0.0]
    if not found:
        return NotSeen('the corners fit no board in front of the camera')
    found.sort(key=lambda one: one.error_px)
    best = found[0]
    if best.error_px > WORST_PX:
        return NotSeen(
            f'the corners are {best.error_px:.1f} px off those of a flat board, and at most '
            f'{WORST_PX:g} px are allowed; a flatter print or a sharper picture is needed'
        )
    turned = found[1:] and not _same_turn(found[1].T_camera_board, best.T_camera_board)
    if turned and found[1].error_px < AMBIGUOUS * max(best.error_px, FLOOR_PX):
        return NotSeen(
            'two poses of the board cannot be distinguished; a board that is nearer to the '
            'camera, or tilted by 20 degrees or more, shows which it is'
        )
    return best


def _same_turn(first: Array, second: Array) -> bool:
    cosine = (np.trace(first[:3, :3].T @ second[:3, :3]) - 1.0) / 2.0
    return bool(cosine > np.cos(np.radians(0.5)))


# cv2's classes have no types.
@cache
def _charuco(board: TagBoard) -> Any:
    tags = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    size = (board.columns, board.rows)
    return cv2.aruco.CharucoBoard(size, board.square_m, board.tag_m, tags)


@cache
def _detector(board: TagBoard) -> Any:
    return cv2.aruco.CharucoDetector(_charuco(board))
