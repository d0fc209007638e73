"""Regions of one colour in a picture, and the table among them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
EDGE, LEAST_EDGE = 15.0, 7.0
"""Where the colour changes by more within three pixels there is an edge: in full light, and at
least, because of the noise of a camera; of 255."""
LEAST_PX = 12
"""Smaller regions are no faces [px]."""
TABLE_SHARE = 0.04
"""A part of the table without edges is at least so much of the picture, or it may be an object."""
TABLE_BAND_M = 0.025
"""How far from its height the depth of the table may be, for the mean of a large region [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColorRegion:
    """Connected pixels of nearly one colour, without those at its rim."""

    label: int
    area_px: int
    box: tuple[int, int, int, int]
    """Left, top, width, height [px]."""
    middle: Array
    """Pixel of its centroid, shape (2,)."""
    height_m: float
    """Mean z over its pixels; nan without depth [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segmentation:
    """A picture in regions."""

    labels: NDArray[np.int32]
    """Label of each pixel, 0 at edges, shape (height, width)."""
    regions: tuple[ColorRegion, ...]
    """Without the table."""
    table: NDArray[np.bool_]
    """Whether a pixel shows the table, or what is flat on it."""


def segment(
    picture: NDArray[np.uint8],
    heights: NDArray[np.float32],
    ignored: NDArray[np.bool_],
    strength: float,
) -> Segmentation:
    """
    Split a picture, shape (h, w, 3), given the z of its pixels, nan where unknown [m].

    *strength* is that of the light, 1 where a white face is nearly white in the picture.
    """
    edge = max(LEAST_EDGE, EDGE * strength)
    smooth = cv2.GaussianBlur(picture, (3, 3), 0.7)
    kernel = np.ones((3, 3), np.uint8)
    change = cv2.subtract(cv2.dilate(smooth, kernel), cv2.erode(smooth, kernel))
    flat = cv2.inRange(change, (0, 0, 0), (edge, edge, edge))
    flat[ignored] = 0
    count, labels, stats, middles = cv2.connectedComponentsWithStats(flat, connectivity=4)
    regions = []
    is_table = np.zeros(count, bool)
    least_table = TABLE_SHARE * labels.size
    for label in range(1, count):
        left, top, width, height, area = (int(value) for value in stats[label])
        if area < LEAST_PX:
            continue
        box = np.s_[top : top + height, left : left + width]
        seen_m = heights[box][labels[box] == label]
        seen_m = seen_m[np.isfinite(seen_m)]
        height_m = float(seen_m.mean(dtype=float)) if len(seen_m) else math.nan
        if area >= least_table and abs(height_m) < TABLE_BAND_M:
            is_table[label] = True
        else:
            regions.append(
                ColorRegion(
                    label=label,
                    area_px=area,
                    box=(left, top, width, height),
                    middle=middles[label],
                    height_m=height_m,
                )
            )
    return Segmentation(
        labels=labels.astype(np.int32, copy=False),
        regions=tuple(regions),
        table=is_table[labels],
    )


def rectangle_of(
    region: ColorRegion, labels: NDArray[np.int32], view: CameraView, z_m: float
) -> tuple[Array, tuple[float, float], float]:
    """
    Return the least rectangle on the plane at *z_m* around a region: middle, sides, yaw.

    The rim that the region lacks is added [m, m, rad].
    """
    left, top, width, height = region.box
    part = (labels[top : top + height, left : left + width] == region.label).astype(np.uint8)
    contours, _ = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    pixels = max(contours, key=len)[:, 0, :].astype(np.float64) + np.array([left, top])
    points = view.on_plane(pixels, z_m)
    (x, y), (a, b), angle = cv2.minAreaRect((1e3 * points).astype(np.float32))
    pixel_m = float(np.linalg.norm(view.on_plane(region.middle + np.array([1.0, 0.0]), z_m)
                                   - view.on_plane(region.middle, z_m)))  # fmt: skip
    rim = 2 * RIM_PX * pixel_m
    middle = np.array([x, y]) * 1e-3
    return middle, (a * 1e-3 + rim, b * 1e-3 + rim), float(np.radians(angle))


RIM_PX = 1.8
"""From the outermost pixel of a region to the edge of the face [px]."""
