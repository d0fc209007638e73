"""
Where a camera is mounted, from views of a board at several postures of the arm.

Two set-ups, one equation. Let X be the pose of the camera (in the base for a camera on a stand, in
the hand for one on the hand), Z that of the board (in the hand, or in the base), B_i what the
camera measures, T_camera_board, and A_i = inv(T_base_hand) or T_base_hand. Then A_i X B_i = Z for
each view i. Park and Martin's closed form gives X (OpenCV); then X and Z are refined together, so
that the corners of the board fall on those in the pictures, all views at once.

Each view is also compared with what all others predict (leave-one-out), which finds a view that
does not belong to the others. How much the solution changes without a single view is the
jackknife's estimate of its standard error (Efron and Stein, 1981).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import Array
from bbllm.core.errors import BbllmError
from bbllm.core.text import listed
from bbllm.scene.camera import Intrinsics
from bbllm_vision.board import BoardSighting, project, transformed

LEAST_VIEWS = 6
"""With fewer, leaving one out leaves too little; OpenCV itself takes 3."""
LEAST_TURN_RAD = np.radians(5.0)
"""
The hand must have turned about two axes by this much, root mean square. Turns about one axis leave
the translation along it undetermined (Tsai and Lenz, 1989).
"""
OUTLIER_FACTOR = 5.0
"""A view whose residual is larger than the median of all by this factor is left out ..."""
OUTLIER_M, OUTLIER_RAD = 0.003, np.radians(1.0)
"""... where it is also larger than this: what a noisy picture alone does not reach [m], [rad]."""
MOST_LEFT_OUT = 0.25
"""Share of the views that may be left out; with more, no part of them can be trusted."""


class CalibrationError(BbllmError):
    """Views from which no calibration follows; has the numbers, and what would do."""


class Mount(StrEnum):
    """Where the camera is, and with it where the board is."""

    STAND = 'stand'
    """The camera beside the arm, the board in the hand (eye to hand)."""
    HAND = 'hand'
    """The camera on the hand, the board on the table (eye in hand)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """What the arm and a picture measured at one posture."""

    name: str
    T_base_hand: Array
    """Pose of fr3_hand in fr3_link0, shape (4, 4)."""
    sighting: BoardSighting


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """How far a view's board is from where all other views predict it."""

    name: str
    distance_m: float
    angle_rad: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a calibration must keep to be used."""

    residual_m: float = 0.003
    residual_rad: float = np.radians(1.0)
    error_m: float = 0.002
    """Standard error of where a point at the distance of the board is placed [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandEye:
    """A calibration, and how good it is by the views themselves."""

    mount: Mount
    T_parent_camera: Array
    """Pose of the optical frame in fr3_link0 (stand) or fr3_hand (hand), shape (4, 4)."""
    T_carrier_board: Array
    """Pose of the board in fr3_hand (stand) or fr3_link0 (hand), shape (4, 4)."""
    residuals: tuple[Residual, ...]
    """Of the views that were used, in their order."""
    left_out: tuple[Residual, ...]
    """Views that contradict the others."""
    turns_rad: tuple[float, float, float]
    """By how much the hand turned about its main axes, root mean square, largest first [rad]."""
    reprojection_px: float
    """Root mean square distance of all corners from their pictures [px]."""
    error_m: float
    """Standard error of where a point at the distance of the board is placed [m]."""
    error_rad: float
    """Standard error of the camera's orientation [rad]."""

    @property
    def residual_m(self) -> float:
        """Root mean square over the views that were used [m]."""
        return float(np.sqrt(np.mean([one.distance_m**2 for one in self.residuals])))

    @property
    def residual_rad(self) -> float:
        """Root mean square over the views that were used [rad]."""
        return float(np.sqrt(np.mean([one.angle_rad**2 for one in self.residuals])))


def solve(views: Sequence[BoardView], mount: Mount, intrinsics: Intrinsics) -> HandEye:
    """
    Return the calibration that fits the views best; outliers are left out, and named in it.

    Raises:
        CalibrationError: There are too few views, they turn too little, or too many of them
            contradict each other.
    """
    used, left_out = list(views), list[Residual]()
    while True:
        _need(used, len(views))
        turns_rad = turned(used)
        X, Z = fit(used, mount, intrinsics)
        others = [
            fit([*used[:i], *used[i + 1 :]], mount, intrinsics, start=(X, Z))
            for i in range(len(used))
        ]
        residuals = [
            _residual(view, mount, *solution) for view, solution in zip(used, others, strict=True)
        ]
        worst = _outlier(residuals)
        if worst is None:
            break
        left_out.append(residuals[worst])
        if len(left_out) > MOST_LEFT_OUT * len(views):
            raise CalibrationError(
                f'The views contradict each other: {listed([one.name for one in left_out])} of '
                f'{len(views)} are {_far(left_out)} from where the others predict the board. '
                f'Check that {_fixed(mount)}, and that joint states and pictures have the same '
                'clock; then take all views again.'
            )
        del used[worst]
    off_px = _misses(_packed(X, Z), _stacked(used, mount), intrinsics).reshape(-1, 2)
    error_m, error_rad = _standard_error(X, [x for x, _ in others], used)
    return HandEye(
        mount=mount,
        T_parent_camera=X,
        T_carrier_board=Z,
        residuals=tuple(residuals),
        left_out=tuple(left_out),
        turns_rad=turns_rad,
        reprojection_px=float(np.sqrt((off_px**2).sum(axis=1).mean())),
        error_m=error_m,
        error_rad=error_rad,
    )


def check(found: HandEye, bounds: Bounds) -> None:
    """Raise CalibrationError where a calibration is outside of its bounds."""
    faults = []
    if found.residual_m > bounds.residual_m or found.residual_rad > bounds.residual_rad:
        faults.append(
            f'its residual is {in_mm(found.residual_m)} and {in_degrees(found.residual_rad)}, and '
            f'at most {in_mm(bounds.residual_m)} and {in_degrees(bounds.residual_rad)} are allowed'
        )
    if found.error_m > bounds.error_m:
        faults.append(
            f'its standard error at the distance of the board is {in_mm(found.error_m)}, and at '
            f'most {in_mm(bounds.error_m)} is allowed'
        )
    if faults:
        worst = max(found.residuals, key=lambda one: one.distance_m)
        raise CalibrationError(
            f'The calibration is refused: {"; ".join(faults)}. The largest residual is that of '
            f'{worst.name}: {in_mm(worst.distance_m)}, {in_degrees(worst.angle_rad)}. Measure a '
            f'square of the print and give its length, check that {_fixed(found.mount)}, bring '
            'the board nearer to the camera, or take more views.'
        )


def in_mm(length_m: float) -> str:
    """Return a length for people."""
    return f'{length_m * 1e3:.2f} mm'


def in_degrees(angle_rad: float) -> str:
    """Return an angle for people."""
    return f'{np.degrees(angle_rad):.2f} degrees'


def turned(views: Sequence[BoardView]) -> tuple[float, float, float]:
    """
    Return by how much the hand turned about its main axes, root mean square [rad].

    Raises:
        CalibrationError: The second of them is below `LEAST_TURN_RAD`.
    """
    rotations = Rotation.from_matrix(np.stack([view.T_base_hand[:3, :3] for view in views]))
    vectors = (rotations.mean().inv() * rotations).as_rotvec()
    first, second, third = np.linalg.svd(vectors, compute_uv=False) / np.sqrt(len(views))
    if second < LEAST_TURN_RAD:
        raise CalibrationError(
            f'The views turn the hand too little: by {in_degrees(first)} about one axis and '
            f'{in_degrees(second)} about a second (root mean square), and at least '
            f'{in_degrees(LEAST_TURN_RAD)} about each of two axes are needed. Tilt the hand by 15 '
            'to 30 degrees in different directions between the views.'
        )
    return float(first), float(second), float(third)


def fit(
    views: Sequence[BoardView],
    mount: Mount,
    intrinsics: Intrinsics,
    *,
    start: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Return T_parent_camera and T_carrier_board, refined from a start or a closed form."""
    start = start or closed_form(views, mount)
    return _unpacked(_refined(_packed(*start), views, mount, intrinsics))


def square_scale(found: HandEye, views: Sequence[BoardView], intrinsics: Intrinsics) -> float:
    """
    Return how much larger the print is than it is taken for, as the arm's motions measure it.

    A calibration with a wrong length of the squares places the camera too near or too far by the
    same share: only the arm measures in metres, the board is the scale of the pictures.
    """
    names = {one.name for one in found.left_out}
    used = [view for view in views if view.name not in names]
    start = np.append(_packed(found.T_parent_camera, found.T_carrier_board), 1.0)
    return float(_refined(start, used, found.mount, intrinsics)[12])


def closed_form(views: Sequence[BoardView], mount: Mount) -> tuple[Array, Array]:
    """Return T_parent_camera by Park's method, and the mean T_carrier_board with it."""
    carriers = [_carrier(view, mount) for view in views]
    boards = [view.sighting.T_camera_board for view in views]
    turn, shift = cv2.calibrateHandEye(
        [A[:3, :3] for A in carriers],
        [A[:3, 3] for A in carriers],
        [B[:3, :3] for B in boards],
        [B[:3, 3] for B in boards],
        method=cv2.CALIB_HAND_EYE_PARK,
    )
    X, Z = np.eye(4), np.eye(4)
    X[:3, :3], X[:3, 3] = turn, np.ravel(shift)
    placed = np.stack([A @ X @ B for A, B in zip(carriers, boards, strict=True)])
    Z[:3, :3] = Rotation.from_matrix(placed[:, :3, :3]).mean().as_matrix()
    Z[:3, 3] = placed[:, :3, 3].mean(axis=0)
    return X, Z


def predicted(T_base_hand: Array, mount: Mount, X: Array, Z: Array) -> Array:
    """Return T_camera_board at a pose of the hand, for T_parent_camera X, T_carrier_board Z."""
    A = np.linalg.inv(T_base_hand) if mount is Mount.STAND else T_base_hand
    return np.asarray(np.linalg.inv(A @ X) @ Z)


def angle_of(T: Array) -> float:
    """Return by how much a transform turns, from 0 to pi [rad]."""
    return float(Rotation.from_matrix(T[:3, :3]).magnitude())


def _carrier(view: BoardView, mount: Mount) -> Array:
    return np.asarray(
        np.linalg.inv(view.T_base_hand) if mount is Mount.STAND else view.T_base_hand
    )


def _packed(X: Array, Z: Array) -> Array:
    parts = [
        part for T in (X, Z) for part in (Rotation.from_matrix(T[:3, :3]).as_rotvec(), T[:3, 3])
    ]
    return np.concatenate(parts)


def _unpacked(parameters: Array) -> tuple[Array, Array]:
    X, Z = np.eye(4), np.eye(4)
    for i, T in enumerate((X, Z)):
        part = parameters[6 * i : 6 * i + 6]
        T[:3, :3], T[:3, 3] = Rotation.from_rotvec(part[:3]).as_matrix(), part[3:]
    return X, Z


def _refined(
    start: Array, views: Sequence[BoardView], mount: Mount, intrinsics: Intrinsics
) -> Array:
    """Minimize `_misses`; a start of 13 parameters has the scale of the board as the last one."""
    found = least_squares(
        partial(_misses, corners=_stacked(views, mount), intrinsics=intrinsics),
        start,
        method='trf',
        loss='soft_l1',  # a view that does not belong to the others pulls less
        x_scale='jac',
    )
    return np.asarray(found.x)


@dataclass(frozen=True, slots=True)
class _Corners:
    """The corners of all views in a row."""

    T_carrier: Array
    """inv(A_i) of each view, shape (views, 4, 4)."""
    view: NDArray[np.intp]
    """Which view each corner is of, shape (n,)."""
    points_m: Array
    corners_px: Array


def _stacked(views: Sequence[BoardView], mount: Mount) -> _Corners:
    counts = [len(view.sighting.points_m) for view in views]
    return _Corners(
        np.stack([np.linalg.inv(_carrier(view, mount)) for view in views]),
        np.repeat(np.arange(len(views)), counts),
        np.concatenate([view.sighting.points_m for view in views]),
        np.concatenate([view.sighting.corners_px for view in views]),
    )


def _misses(parameters: Array, corners: _Corners, intrinsics: Intrinsics) -> Array:
    """Return how far all corners are from their pictures, shape (2 n,) [px]."""
    X, Z = _unpacked(parameters)
    scale = parameters[12] if len(parameters) > 12 else 1.0
    T_camera_board = (np.linalg.inv(X) @ corners.T_carrier @ Z)[corners.view]
    points_m = np.einsum('nij,nj->ni', T_camera_board[:, :3, :3], scale * corners.points_m)
    points_m += T_camera_board[:, :3, 3]
    return np.asarray((project(points_m, intrinsics) - corners.corners_px).ravel())


def _residual(view: BoardView, mount: Mount, X: Array, Z: Array) -> Residual:
    expected, measured = predicted(view.T_base_hand, mount, X, Z), view.sighting.T_camera_board
    return Residual(
        name=view.name,
        distance_m=float(np.linalg.norm(expected[:3, 3] - measured[:3, 3])),
        angle_rad=angle_of(np.linalg.inv(expected) @ measured),
    )


def _outlier(residuals: Sequence[Residual]) -> int | None:
    """Return which view fits the others worst, None where all fit."""
    distances_m = np.array([one.distance_m for one in residuals])
    angles_rad = np.array([one.angle_rad for one in residuals])
    far = distances_m / max(OUTLIER_M, OUTLIER_FACTOR * float(np.median(distances_m)))
    askew = angles_rad / max(OUTLIER_RAD, OUTLIER_FACTOR * float(np.median(angles_rad)))
    worst = int(np.argmax(np.maximum(far, askew)))
    return worst if max(far[worst], askew[worst]) > 1.0 else None


def _standard_error(
    X: Array, others: Sequence[Array], views: Sequence[BoardView]
) -> tuple[float, float]:
    """Return the jackknife's standard errors: of a point at the board [m], of the turn [rad]."""
    point_m = np.mean([view.sighting.T_camera_board[:3, 3] for view in views], axis=0)[None]
    shifts_m = np.concatenate([transformed(one, point_m) for one in others])
    angles_rad = np.array([angle_of(np.linalg.inv(X) @ one) for one in others])
    share = (len(others) - 1) / len(others)
    around = ((shifts_m - shifts_m.mean(axis=0)) ** 2).sum()
    return float(np.sqrt(share * around)), float(np.sqrt(share * (angles_rad**2).sum()))


def _need(views: Sequence[BoardView], taken: int) -> None:
    if len(views) < LEAST_VIEWS:
        out = '' if len(views) == taken else f' ({taken - len(views)} were left out)'
        raise CalibrationError(
            f'There are {len(views)} views of the board{out}, and at least {LEAST_VIEWS} are '
            'needed; 15 are a good number.'
        )


def _far(residuals: Sequence[Residual]) -> str:
    nearest, farthest = (f([one.distance_m for one in residuals]) for f in (min, max))
    return in_mm(nearest) if len(residuals) == 1 else f'{in_mm(nearest)} to {in_mm(farthest)}'


def _fixed(mount: Mount) -> str:
    if mount is Mount.STAND:
        return 'the board does not move in the hand, nor the camera on its stand'
    return 'the camera does not move on the hand, nor the board on the table'
