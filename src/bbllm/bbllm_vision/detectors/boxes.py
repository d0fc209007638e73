"""From a box in a picture with depth to the pose of a known object in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bbllm.core.types import Pose
from bbllm.scene.camera import Mask, RgbdImage
from bbllm.scene.catalogue import CatalogueEntry
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import compose, inverse

MIDDLE = 0.5
"""Share of a box, in its middle, whose points say how high its object's top is."""
MARGIN = 0.15
"""By how much of its width and height a box is widened: models cut corners off."""
LEAST_POINTS = 12
"""Fewer points are noise."""
TOP_SHARE = 0.3
"""Points further below the top than this share of the object's height are on its sides."""
LEAST_TOP_M = 0.012
"""The same at least: depth of a D435 at 1.4 m has a noise of 7 mm [m]."""
GAP_PX = 4
"""How wide a strip without depth may be [px]."""
ALIKE = 60.0
"""Colours that differ by less count as one: length of the difference of red, green, blue."""
STANDS_M = 0.015
"""An object whose top is this near to its height above the table stands on the table [m]."""

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureBox:
    """Where a model sees an object: an upright box [px]."""

    entry: CatalogueEntry
    """What the object is."""
    left_px: float
    top_px: float
    right_px: float
    bottom_px: float
    confidence: float
    """From 0 to 1."""


def located(
    boxes: Iterable[PictureBox],
    image: RgbdImage,
    T_world_camera: Pose,
    ignored: Mask | None,
    on_warning: Callable[[str], None],
) -> tuple[Detection, ...]:
    """Return the objects in boxes; those without depth are left out with a warning."""
    found = []
    for box in boxes:
        detection = locate(box, image, T_world_camera, ignored=ignored)
        if detection is None:
            on_warning(
                f'The box of {box.entry.name} has no depth of an object, so it is left out.'
            )
        else:
            found.append(detection)
    return tuple(found)


def locate(
    box: PictureBox,
    image: RgbdImage,
    T_world_camera: Pose,
    *,
    table_m: float = 0.0,
    ignored: Mask | None = None,
) -> Detection | None:
    """
    Return the object in a box, its pose in the optical frame; None without depth in the box.

    The height of its top is the median of the points in the middle of the box. Where the top is
    as high as the object, the object stands on the table and the table decides. The outline of
    the top is the region of points near that height; it is laid on the plane of the top along the
    lines of sight, so that the noise of the depth has no part in x and y. Its smallest rectangle
    (OpenCV's minAreaRect) gives centre and yaw.

    Args:
        box: Where it is in the picture, and what it is; its size is the catalogue's.
        image: The picture.
        T_world_camera: Pose of the optical frame; z of the world is up.
        table_m: Height of the table's top in the world [m].
        ignored: Pixels that are no part of the object, such as those of the robot.
    """
    size_m = box.entry.size_m
    columns, rows = _pixels(box, image)
    depth_m = image.depth_m[np.ix_(rows, columns)].astype(np.float64)
    sight = _lines_of_sight(columns, rows, image)
    R = Rotation.from_quat(T_world_camera.quat_xyzw).as_matrix()
    origin = np.array(T_world_camera.position_m)
    height_m = depth_m * (sight @ R[2]) + origin[2] - table_m
    usable = np.ones_like(depth_m, bool) if ignored is None else ~ignored[np.ix_(rows, columns)]
    known = usable & (depth_m > 0.0)
    top_m = _top(height_m, known, box, columns, rows)
    if top_m is None:
        return None
    if abs(top_m - size_m[2]) < STANDS_M:
        top_m = size_m[2]
    near = known & (np.abs(height_m - top_m) < max(TOP_SHARE * size_m[2], LEAST_TOP_M))
    region = _largest_region(near)
    if region.sum() < LEAST_POINTS:
        return None
    region |= _same_color(region, usable & ~known, image.rgb[np.ix_(rows, columns)])
    ahead = sight[region] @ R.T
    reach = (top_m + table_m - origin[2]) / ahead[:, 2]
    xy = (origin + reach[:, np.newaxis] * ahead)[:, :2]
    x, y, yaw_rad = _outline(xy, origin[:2], size_m, round_=box.entry.kind == 'cylinder')
    half = yaw_rad / 2
    in_world = Pose(
        position_m=(x, y, top_m + table_m - size_m[2] / 2),
        quat_xyzw=(0.0, 0.0, float(np.sin(half)), float(np.cos(half))),
    )
    pose = compose(inverse(T_world_camera), in_world)
    return Detection(
        name=box.entry.class_id or box.entry.name,
        position_m=pose.position_m,
        quat_xyzw=pose.quat_xyzw,
        confidence=box.confidence,
    )


def _pixels(box: PictureBox, image: RgbdImage) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the columns and rows of a box and its margin, within the picture."""
    height_px, width_px = image.depth_m.shape
    wide = MARGIN * (box.right_px - box.left_px) + 1
    high = MARGIN * (box.bottom_px - box.top_px) + 1
    left, right = np.clip((box.left_px - wide, box.right_px + wide + 1), 0, width_px)
    top, bottom = np.clip((box.top_px - high, box.bottom_px + high + 1), 0, height_px)
    return np.arange(int(left), int(right)), np.arange(int(top), int(bottom))


def _lines_of_sight(
    columns: NDArray[np.intp], rows: NDArray[np.intp], image: RgbdImage
) -> NDArray[np.float64]:
    """Return the points one metre ahead of each pixel, optical frame, shape (rows, columns, 3)."""
    camera = image.intrinsics
    u, v = np.meshgrid(columns, rows)
    return np.stack(
        (
            (u - camera.cx_px) / camera.fx_px,
            (v - camera.cy_px) / camera.fy_px,
            np.ones(u.shape),
        ),
        axis=-1,
    )


def _top(
    height_m: NDArray[np.float64],
    known: NDArray[np.bool_],
    box: PictureBox,
    columns: NDArray[np.intp],
    rows: NDArray[np.intp],
) -> float | None:
    """Return the height of the top above the table [m]; None where there are too few points."""
    across = np.abs(2 * columns - box.left_px - box.right_px) < MIDDLE * (
        box.right_px - box.left_px + 1
    )
    down = np.abs(2 * rows - box.top_px - box.bottom_px) < MIDDLE * (
        box.bottom_px - box.top_px + 1
    )
    found = height_m[known & np.outer(down, across)]
    # What is no higher than a third of the object is the table beside it.
    found = found[found > box.entry.size_m[2] / 3]
    return float(np.median(found)) if len(found) >= LEAST_POINTS else None


def _largest_region(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    n, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    if n < 2:
        return mask
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    return np.asarray(labels == largest)


def _same_color(
    region: NDArray[np.bool_], unknown: NDArray[np.bool_], rgb: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """
    Return the pixels beside a region that have its colour, and no depth.

    A stereo camera has no depth beside a step of it: a tall object lacks a strip of its top.
    """
    color = np.median(rgb[region], axis=0)
    alike = np.linalg.norm(rgb - color, axis=-1) < ALIKE
    beside = cv2.dilate(region.astype(np.uint8), np.ones((2 * GAP_PX + 1, 2 * GAP_PX + 1)))
    return np.asarray(unknown & alike & (beside > 0))


def _outline(
    xy: Points, camera: Points, size_m: tuple[float, float, float], *, round_: bool
) -> tuple[float, float, float]:
    """
    Return centre [m] and yaw [rad] of the region of a top, points of shape (n, 2).

    Sides that face the camera at *camera*, shape (2,), make the region larger than the object:
    what is too much is taken off on the camera's side.
    """
    if round_:
        away = xy.mean(axis=0) - camera
        yaw_rad = float(np.arctan2(away[1], away[0]))
    else:
        scaled = ((xy - xy[0]) * 1000.0).astype(np.float32)
        _, (width, depth), angle_deg = cv2.minAreaRect(scaled)
        if (width < depth) != (size_m[0] < size_m[1]):
            angle_deg += 90.0
        yaw_rad = float(np.radians(angle_deg))
    axes = np.array([[np.cos(yaw_rad), np.sin(yaw_rad)], [-np.sin(yaw_rad), np.cos(yaw_rad)]])
    along = xy @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    middle = (low + high) / 2
    excess = np.maximum(high - low - size_m[:2], 0.0)
    middle -= np.sign(axes @ camera - middle) * excess / 2
    x, y = middle @ axes
    return float(x), float(y), 0.0 if round_ else yaw_rad
