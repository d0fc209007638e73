"""Pictures of a table, with edges that are mixed as a camera mixes them."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm.scene.catalogue import Catalogue, CatalogueEntry
from bbllm.sim.build import rgba_of
from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
CAMERA = Intrinsics(width_px=640, height_px=480, fx_px=600, fy_px=600, cx_px=319.5, cy_px=239.5)
T_WORLD_CAMERA = Pose(
    position_m=(0.5, 0.0, 1.2),
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
RED = CatalogueEntry(name='red_cube', kind='cube', size=0.04, color='red', class_id='cube_red')
BRICK = CatalogueEntry(name='brick', kind='cube', size=(0.08, 0.03, 0.02), color='orange')
CAN = CatalogueEntry(name='can', kind='cylinder', size=(0.06, 0.10), color='blue')
CATALOGUE = Catalogue((RED, BRICK, CAN))
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


def placed(
    entry: CatalogueEntry, x_m: float, y_m: float, yaw_rad: float = 0.0, base_m: float = 0.0
) -> SceneObject:
    """Return an object of the catalogue, upright."""
    z_m, kind = base_m + entry.size_m[2] / 2, Kind(entry.kind)
    yaw_deg, size_m = math.degrees(yaw_rad), entry.size_m
    return cube(
        entry.name, x_m, y_m, yaw_deg, color=entry.color, z_m=z_m, size_m=size_m, kind=kind
    )


def outline_m(item: SceneObject, up: float) -> Array:
    """Return the corners of its top (*up* 1) or bottom (-1), of a circle 64, shape (n, 3) [m]."""
    x, y, z = item.pose.position_m
    yaw, is_box = 2 * math.asin(item.pose.quat_xyzw[2]), item.kind is Kind.CUBE
    turns = np.linspace(0, 2 * math.pi, 4 if is_box else 64, endpoint=False) + math.pi / 4
    reach = math.sqrt(0.5) if is_box else 0.5
    flat = reach * np.stack((np.cos(turns), np.sin(turns)), axis=-1) * item.size_m[:2]
    c, s = math.cos(yaw), math.sin(yaw)
    flat = flat @ np.array([[c, s], [-s, c]]) + (x, y)
    return np.insert(flat, 2, z + up * item.size_m[2] / 2, axis=1)


def box_px(item: SceneObject) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the top of an object in the picture."""
    pixels = CameraView.of(CAMERA, T_WORLD_CAMERA).project(outline_m(item, 1))[:, :2]
    return (*pixels.min(axis=0).tolist(), *pixels.max(axis=0).tolist())


def draw(
    *items: SceneObject,
    light: tuple[float, float, float] = (1.0, 1.0, 1.0),
    noise_m: float = 0.0,
) -> RgbdImage:
    """Draw boxes and cylinders on the table, lower ones first; sides are darker than tops."""
    view = CameraView.of(CAMERA, T_WORLD_CAMERA)
    shape = (CAMERA.height_px * SAMPLES, CAMERA.width_px * SAMPLES)
    colors = np.tile(np.array(rgba_of(TABLE.color)[:3], np.float32), (*shape, 1))
    depth = np.full(shape, view.position_m[2], np.float32)
    for item in sorted(items, key=lambda item: item.pose.position_m[2]):
        top, bottom = outline_m(item, 1), outline_m(item, -1)
        color, z_m = np.array(rgba_of(item.color)[:3]), item.pose.position_m[2]
        for points_m, height_m, shade in (
            (np.concatenate((top, bottom)), z_m, SIDE),
            (top, z_m + item.size_m[2] / 2, 1.0),
        ):
            pixels = (view.project(points_m)[:, :2] + 0.5) * SAMPLES - 0.5
            hull = cv2.convexHull(np.rint(pixels * 16).astype(np.int32))
            cv2.fillConvexPoly(colors, hull, (shade * color).tolist(), shift=4)
            cv2.fillConvexPoly(depth, hull, float(view.position_m[2] - height_m), shift=4)
    rgb = cv2.resize(colors, CAMERA_PX, interpolation=cv2.INTER_AREA) * np.array(light)
    middle, dice = (
        depth[SAMPLES // 2 :: SAMPLES, SAMPLES // 2 :: SAMPLES],
        np.random.default_rng(7),
    )
    return RgbdImage(
        rgb=np.rint(255 * np.clip(rgb, 0, 1)).astype(np.uint8),
        depth_m=(middle + dice.normal(0.0, noise_m, middle.shape)).astype(np.float32),
        intrinsics=CAMERA,
        stamp_s=1.0,
        frame='table_camera',
    )


def all_hidden(image: RgbdImage) -> NDArray[np.bool_]:
    return np.ones(image.depth_m.shape, bool)
