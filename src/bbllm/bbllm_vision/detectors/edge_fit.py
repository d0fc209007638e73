"""
Fits the outline of a face with known corners to the picture, to a fraction of a pixel.

Along the normal of every point of the outline, the colour of the face ends where it is half of
the way to the colour behind. A displacement of (x, y, yaw) that moves the outline there is found
by least squares with Huber's weights: RAPID (Harris and Stennett, 1990), with the colour of the
face in place of the gradient, so that a neighbour two pixels away does not attract the outline.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
STEP_PX = 0.5
"""Distance of the samples along a normal [px]."""
CONTRAST, LEAST_CONTRAST = 14.0, 6.0
"""Least difference between a face and what is behind it: in full light, and in any; of 255."""
BEHIND_PX = 1.0
"""So far behind its end pixels are free of a face; further on may be another one [px]."""
HUBER_PX = 0.5
CORNER_SHARE = 0.12
"""The share of each side that is left out at each of its ends: corners are rounded by pixels."""
REACHES_PX = (4.5, 2.5, 2.0, 2.0)
"""How far from the outline the end of the face is looked for, in each step [px]."""
SETTLED_M = 1e-4
ANGULAR = 8
"""Outlines with at most so many corners have straight sides."""
LEAST_POINTS = 6
LOOSE = 0.06
"""Least ratio of what is measured in the direction that is measured worst and best."""

Outline = Callable[[float, float, float], Array]
"""Returns points at x, y and yaw, shape (n, 3), whose convex hull in the picture counts [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFit:
    """Where an outline was found."""

    x_m: float
    y_m: float
    yaw_rad: float
    measured: float
    """Share of the points of the outline where the face ends within a pixel."""
    rms_px: float
    color: Array
    """Of the face: red, green, blue, shape (3,)."""


def fit_outline(
    picture: Picture,
    hidden: NDArray[np.bool_],
    view: CameraView,
    outline: Outline,
    start: tuple[float, float, float],
    *,
    turns: bool,
    strength: float = 1.0,
) -> EdgeFit | None:
    """
    Move an outline onto the edges of a face; None where it is outside of the picture.

    Args:
        picture: Colours, shape (height, width, 3).
        hidden: Whether a pixel shows something that may be before the face.
        view: Of the picture.
        outline: Of the face.
        start: x, y and yaw at first [m, m, rad].
        turns: Whether yaw changes the outline.
        strength: Of the light, 1 where a white face is nearly white in the picture.
    """
    x, y, yaw = start
    measured, rms = 0.0, np.inf
    color: Array | None = None
    contrast = max(LEAST_CONTRAST, CONTRAST * strength)
    size = np.array([picture.shape[1], picture.shape[0]])
    for reach in REACHES_PX:
        points_m = outline(x, y, yaw)
        projected = view.project(points_m)
        hull = cv2.convexHull(projected[:, :2].astype(np.float32), returnPoints=False)[:, 0]
        pixels = projected[hull, :2]
        if pixels.min() < 2 or (pixels > size - 3).any():
            return None
        if color is None:
            color = face_color(picture, pixels)
        points, normals, side, share = _samples(pixels)
        offsets = np.arange(-reach, reach + 2.01, STEP_PX)
        grid = (points[:, None, :] + offsets[None, :, None] * normals[:, None, :]).astype(
            np.float32
        )
        seen = cv2.remap(
            picture, grid[..., 0], grid[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        ends, good = _face_ends(seen, color, offsets, reach, contrast)
        for beside_px in (-1.0, 2.0):  # what hides a face must not pass for it, nor for its end
            beside = np.rint(points + (ends + beside_px)[:, None] * normals).astype(int)
            beside = np.clip(beside, 0, size - 1)
            good &= ~hidden[beside[:, 1], beside[:, 0]]
        if good.sum() < LEAST_POINTS:
            return None
        motions = _motions(view, points_m[hull], projected[hull], (x, y))[: 3 if turns else 2]
        following = np.roll(motions, -1, axis=1)
        along = (1 - share[:, None]) * motions[:, side] + share[:, None] * following[:, side]
        jacobian = np.einsum('knd,nd->nk', along, normals)
        if _is_loose(jacobian[good, :2]):
            return None
        step = _solve(jacobian[good], ends[good])
        x, y, yaw = x + step[0], y + step[1], yaw + (step[2] if turns else 0.0)
        left = ends[good] - jacobian[good] @ step
        near = np.abs(left) < 1.0
        measured = float(near.sum()) / len(ends)
        rms = float(np.sqrt(np.mean(left[near] ** 2))) if near.any() else np.inf
        if reach == REACHES_PX[-1] and np.hypot(step[0], step[1]) < SETTLED_M:
            break
    assert color is not None
    return EdgeFit(x_m=x, y_m=y, yaw_rad=yaw, measured=measured, rms_px=rms, color=color)


def face_color(picture: Picture, pixels: Array) -> Array:
    """Return the median colour of the middle of a polygon, shape (3,)."""
    middle = pixels.mean(axis=0)
    inner = middle + 0.6 * (pixels - middle)
    low, high = np.floor(inner.min(axis=0)).astype(int), np.ceil(inner.max(axis=0)).astype(int)
    part = picture[low[1] : high[1] + 1, low[0] : high[0] + 1]
    mask = np.zeros(part.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner - low).astype(np.int32), 1)
    return np.asarray(np.median(part[mask > 0], axis=0), dtype=np.float64)


def _samples(pixels: Array) -> tuple[Array, Array, NDArray[np.int64], Array]:
    """Return points of an outline, their outward normals, the side of each and its share of it."""
    along = np.roll(pixels, -1, axis=0) - pixels
    lengths = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-6)
    area = np.sum(pixels[:, 0] * along[:, 1] - pixels[:, 1] * along[:, 0])
    side_normals = np.stack((along[:, 1], -along[:, 0]), axis=-1) / lengths[:, None]
    side_normals *= np.sign(area)
    edge = CORNER_SHARE if len(pixels) <= ANGULAR else 0.0
    counts = np.maximum(np.rint(lengths * (1 - 2 * edge)), 1).astype(np.int64)
    side = np.repeat(np.arange(len(pixels)), counts)
    number = np.arange(len(side)) - np.repeat(np.cumsum(counts) - counts, counts)
    share = edge + (1 - 2 * edge) * (number + 0.5) / counts[side]
    return pixels[side] + share[:, None] * along[side], side_normals[side], side, share


def _face_ends(
    seen: NDArray[Any], color: Array, offsets: Array, reach: float, contrast: float
) -> tuple[Array, NDArray[np.bool_]]:
    """Return where along each normal the face ends [px], and whether it does; shape (n,)."""
    difference = seen - color.astype(np.float32)
    distance = np.sqrt(np.einsum('ijk,ijk->ij', difference, difference))  # (n, offsets)
    beyond = round(BEHIND_PX / STEP_PX)
    n = len(offsets) - beyond
    # The colour behind each place is that of a little further on.
    level = distance[:, beyond:]
    here = distance[:, :n]
    half = np.maximum(level, contrast) / 2
    following = distance[:, 1 : n + 1]
    crossing = (here < half) & (following >= half) & (level >= contrast)
    first = np.argmax(crossing, axis=1)
    row = np.arange(len(distance))
    found = crossing[row, first] & (distance[row, 0] < half[row, first])
    a, b, h = here[row, first], following[row, first], half[row, first]
    share = np.clip((h - a) / np.maximum(b - a, 1e-6), 0.0, 1.0)
    ends = offsets[first] + share * STEP_PX
    return ends, found & (np.abs(ends) <= reach)


def _motions(
    view: CameraView, points_m: Array, projected: Array, at_m: tuple[float, float]
) -> Array:
    """Return by how much pixels move with x, y [px/m] and yaw [px/rad], shape (3, n, 2)."""
    k = view.intrinsics
    turn = np.zeros_like(points_m)
    turn[:, 0], turn[:, 1] = at_m[1] - points_m[:, 1], points_m[:, 0] - at_m[0]
    unit = np.zeros((2, len(points_m), 3))
    unit[0, :, 0] = unit[1, :, 1] = 1.0
    local = np.concatenate((unit, turn[None])) @ view.rotation
    depth = projected[:, 2]
    u = k.fx_px * local[..., 0] - (projected[:, 0] - k.cx_px) * local[..., 2]
    v = k.fy_px * local[..., 1] - (projected[:, 1] - k.cy_px) * local[..., 2]
    return np.stack((u / depth, v / depth), axis=-1)


def _is_loose(jacobian: Array) -> bool:
    """Return whether points only bind a face in one direction, as two parallel sides do."""
    (a, b), (_, c) = (jacobian.T @ jacobian).tolist()
    middle, half = (a + c) / 2, math.hypot((a - c) / 2, b)  # its eigenvalues: middle +- half
    return bool(middle - half < LOOSE * (middle + half))


def _solve(jacobian: Array, ends: Array) -> Array:
    scale = np.array([1e-3, 1e-3, 1e-2])[: jacobian.shape[1]]
    scaled = jacobian * scale
    step = np.zeros(jacobian.shape[1])
    for _ in range(3):
        left = np.abs(ends - scaled @ step)
        weight = np.minimum(1.0, HUBER_PX / np.maximum(left, 1e-9))
        normal = scaled.T @ (scaled * weight[:, None]) + 1e-4 * np.eye(len(step))
        step = np.linalg.solve(normal, scaled.T @ (weight * ends))
    return np.asarray(step * scale)
