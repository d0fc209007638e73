"""Pictures of a table, with edges that are mixed as a camera mixes them."""

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm.sim.build import rgba_of
from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
CAMERA = Intrinsics(width_px=320, height_px=240, fx_px=400, fy_px=400, cx_px=159.5, cy_px=119.5)
T_WORLD_CAMERA = Pose(
    position_m=(0.5, 0.0, 0.9),
    quat_xyzw=(-math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0),
)
"""Straight down from above, with x up in the picture."""
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.5, 0.0, -0.02)),
    size_m=(0.9, 1.2, 0.04),
    color='burlywood',
)
CAMERA_PX = (CAMERA.width_px, CAMERA.height_px)
SAMPLES = 4
"""Points along each side of a pixel."""
SIDE = 0.55
"""How bright a side is, of a top."""


def cube(
    name: str, x_m: float, y_m: float, yaw_deg: float = 0.0, *, color: str, z_m: float = 0.02,
    size_m: tuple[float, float, float] = (0.04, 0.04, 0.04), kind: Kind = Kind.CUBE,
) -> SceneObject:  # fmt: skip
    half = math.radians(yaw_deg) / 2
    pose = Pose(position_m=(x_m, y_m, z_m), quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)))
    return SceneObject(name=name, kind=kind, pose=pose, size_m=size_m, color=color)


def draw(
    items: Sequence[SceneObject], *, light: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> RgbdImage:
    """Draw boxes and cylinders on the table, lower ones first; sides are darker than tops."""
    view = CameraView.of(CAMERA, T_WORLD_CAMERA)
    shape = (CAMERA.height_px * SAMPLES, CAMERA.width_px * SAMPLES)
    colors = np.tile(np.array(rgba_of(TABLE.color)[:3]), (*shape, 1))
    depth = np.full(shape, view.position_m[2])

    def fill(points_m: Array, z_m: float, color: Array) -> None:
        pixels = (view.project(points_m)[:, :2] + 0.5) * SAMPLES - 0.5
        mask = np.zeros(shape, np.uint8)
        cv2.fillConvexPoly(mask, cv2.convexHull(np.rint(pixels * 16).astype(np.int32)), 1, shift=4)
        colors[mask > 0], depth[mask > 0] = color, view.position_m[2] - z_m

    for item in sorted(items, key=lambda item: item.pose.position_m[2]):
        x, y, z = item.pose.position_m
        yaw, half = 2 * math.asin(item.pose.quat_xyzw[2]), item.size_m[2] / 2
        turns = np.linspace(0, 2 * math.pi, 4 if item.kind is Kind.CUBE else 64, endpoint=False)
        if item.kind is Kind.CUBE:
            turns += math.pi / 4
        reach = math.sqrt(2) if item.kind is Kind.CUBE else 1.0
        flat = reach / 2 * np.stack((np.cos(turns), np.sin(turns)), axis=-1) * item.size_m[:2]
        c, s = math.cos(yaw), math.sin(yaw)
        flat = flat @ np.array([[c, s], [-s, c]]) + (x, y)
        top, bottom = (np.insert(flat, 2, z + up, axis=1) for up in (half, -half))
        color = np.array(rgba_of(item.color)[:3])
        fill(np.concatenate((top, bottom)), z, SIDE * color)
        fill(top, z + half, color)
    rgb = cv2.resize(colors, CAMERA_PX, interpolation=cv2.INTER_AREA) * np.array(light)
    return RgbdImage(
        rgb=np.rint(255 * np.clip(rgb, 0, 1)).astype(np.uint8),
        depth_m=depth[SAMPLES // 2 :: SAMPLES, SAMPLES // 2 :: SAMPLES].astype(np.float32),
        intrinsics=CAMERA,
        stamp_s=1.0,
        frame='table_camera',
    )


def all_hidden(image: RgbdImage) -> NDArray[np.bool_]:
    return np.ones(image.depth_m.shape, bool)
