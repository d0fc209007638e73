"""Pictures of tables seen from straight above, without a renderer: a depth for each top."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from bbllm.core.types import Pose
from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm.scene.catalogue import Catalogue, CatalogueEntry
from bbllm.scene.transforms import compose, inverse

CAMERA = Intrinsics(width_px=640, height_px=480, fx_px=600.0, fy_px=600.0, cx_px=320, cy_px=240)
HEIGHT_M = 1.2
T_WORLD_CAMERA = Pose(
    position_m=(0.5, 0.0, HEIGHT_M), quat_xyzw=(math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
)
"""Looks straight down; x of the world points up in the picture, y to the left."""
RED = CatalogueEntry(name='red_cube', kind='cube', size=0.04, color='red', class_id='cube_red')
BRICK = CatalogueEntry(name='brick', kind='cube', size=(0.08, 0.03, 0.02), color='orange')
CAN = CatalogueEntry(name='can', kind='cylinder', size=(0.06, 0.10), color='blue')
CATALOGUE = Catalogue((RED, BRICK, CAN))


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """An object of the table."""

    entry: CatalogueEntry
    x_m: float
    y_m: float
    yaw_rad: float = 0.0
    base_m: float = 0.0

    @property
    def top_m(self) -> float:
        return self.base_m + self.entry.size_m[2]

    @property
    def outline_px(self) -> np.ndarray:
        """The corners of its top in the picture, or of a polygon in place of a circle."""
        length, width, _ = self.entry.size_m
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2 * (length, width)
        if self.entry.kind == 'cylinder':
            angles = np.linspace(0.0, 2 * np.pi, 90, endpoint=False)
            corners = length / 2 * np.stack((np.cos(angles), np.sin(angles)), axis=1)
        c, s = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        xy = corners @ np.array([[c, s], [-s, c]]) + (self.x_m, self.y_m)
        return np.array([pixel_of((x, y, self.top_m)) for x, y in xy])

    @property
    def box_px(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        low, high = self.outline_px.min(axis=0), self.outline_px.max(axis=0)
        return (*low, *high)


def pixel_of(point_m: tuple[float, float, float]) -> tuple[float, float]:
    x, y, z = compose(inverse(T_WORLD_CAMERA), Pose(position_m=point_m)).position_m
    return (CAMERA.fx_px * x / z + CAMERA.cx_px, CAMERA.fy_px * y / z + CAMERA.cy_px)


def drawn(*objects: Drawn, noise_m: float = 0.0) -> RgbdImage:
    """Return the picture of objects, the lower ones first."""
    shape = (CAMERA.height_px, CAMERA.width_px)
    depth_m = np.full(shape, HEIGHT_M, np.float32)
    rgb = np.full((*shape, 3), 200, np.uint8)
    for item in objects:
        corners = np.round(item.outline_px * 16).astype(np.int32)
        cv2.fillPoly(depth_m, [corners], HEIGHT_M - item.top_m, shift=4)
        cv2.fillPoly(rgb, [corners], (220, 30, 30), shift=4)
    dice = np.random.default_rng(7)
    depth_m += dice.normal(0.0, noise_m, shape).astype(np.float32) if noise_m else 0.0
    return RgbdImage(rgb=rgb, depth_m=depth_m, intrinsics=CAMERA, stamp_s=1.0, frame='optical')
