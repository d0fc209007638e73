"""
Colours of faces, as they would be in white light, and how far they are from colours in words.

The table is the white card: where its colour is known, the light at each place of the picture is
what the table there shows, over what it would show (von Kries).
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.sim.build import rgba_of

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
Light = NDArray[np.float32]
LIGHTNESS_WEIGHT = 0.6
"""Lightness counts for less than hue and chroma: it depends on how a face is turned."""
SHRINK = 8
"""The light is a smooth field: it is computed in a picture smaller by this."""
LEAST_GAIN = 0.05


def light_of(picture: Picture, table: NDArray[np.bool_], table_color: str) -> Light:
    """
    Return how much of each colour a white face would show, of 255; shape (h / 8, w / 8, 3).

    Without any pixel of the table it is white light of full strength.
    """
    small = picture[SHRINK // 2 :: SHRINK, SHRINK // 2 :: SHRINK].astype(np.float32)
    mask = table[SHRINK // 2 :: SHRINK, SHRINK // 2 :: SHRINK].astype(np.float32)
    nominal = np.array(rgba_of(table_color)[:3], dtype=np.float32)
    if mask.sum() < 20:
        return np.full(small.shape, 255.0, np.float32)
    overall = (small * mask[..., None]).sum(axis=(0, 1)) / mask.sum()
    size = (15, 15)
    weight = cv2.blur(mask, size)[..., None]
    local = cv2.blur(small * mask[..., None], size)
    # Far from the table, its mean counts.
    shown = (local + 0.02 * overall) / (weight + 0.02)
    return np.asarray(np.maximum(shown / np.maximum(nominal, 0.1), 255.0 * LEAST_GAIN), np.float32)


def in_white_light(color: NDArray[Any], light: Light, pixel: Array) -> Array:
    """Return the colour of a face at a pixel as white light would show it, from 0 to 1."""
    row = min(max(int(pixel[1]) // SHRINK, 0), light.shape[0] - 1)
    column = min(max(int(pixel[0]) // SHRINK, 0), light.shape[1] - 1)
    return np.asarray(np.clip(color / light[row, column], 0.0, 1.0), dtype=np.float64)


def lab_of(colors: Array) -> Array:
    """Return CIE L*a*b* of sRGB colours from 0 to 1, shape (n, 3)."""
    row = np.asarray(colors, dtype=np.float32).reshape(1, -1, 3)
    return np.asarray(cv2.cvtColor(row, cv2.COLOR_RGB2Lab)[0], dtype=np.float64)


def lab_of_words(colors: list[str]) -> Array:
    """Return CIE L*a*b* of colour words, as the simulation paints them; shape (n, 3)."""
    return lab_of(np.array([rgba_of(color)[:3] for color in colors]))


def color_distances(seen_lab: Array, known_lab: Array) -> Array:
    """Return distances, shape (n, m), of colours (n, 3) from known ones (m, 3)."""
    weights = np.array([LIGHTNESS_WEIGHT, 1.0, 1.0])
    difference = (seen_lab[:, None] - known_lab[None]) * weights
    return np.asarray(np.linalg.norm(difference, axis=-1))
