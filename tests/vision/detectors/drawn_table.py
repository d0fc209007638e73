"""Pictures of a table drawn by ray casting, with edges that are mixed as a camera mixes them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm.scene.object_models import OBJECT_MODELS, model_like
from bbllm.sim.build import rgba_of
from bbllm_vision.detectors.solids import cast
from bbllm_vision.detectors.views import CameraView
from bbllm_vision.detectors.visibility import solids_of

CAMERA = Intrinsics(width_px=320, height_px=240, fx_px=400, fy_px=400, cx_px=159.5, cy_px=119.5)
T_WORLD_CAMERA = Pose(
    position_m=(0.5, 0.0, 0.9),
    quat_xyzw=(-math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0),
)
"""Straight down from above, with x up in the picture."""
HIGH = replace(T_WORLD_CAMERA, position_m=(0.5, 0.0, 1.5))
"""The same from so high that a bowl is no large part of the picture."""
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.5, 0.0, -0.02)),
    size_m=(0.9, 1.2, 0.04),
    color='burlywood',
)
SAMPLES = 4
"""Rays along each side of a pixel."""
SIDE = 0.55
"""How bright a side is, of a top."""


def cube(
    name: str, x_m: float, y_m: float, yaw_deg: float = 0.0, *, color: str, z_m: float = 0.02,
    size_m: tuple[float, float, float] = (0.04, 0.04, 0.04), kind: Kind = Kind.CUBE,
) -> SceneObject:  # fmt: skip
    half = math.radians(yaw_deg) / 2
    pose = Pose(position_m=(x_m, y_m, z_m), quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)))
    return SceneObject(name=name, kind=kind, pose=pose, size_m=size_m, color=color)


def good(name: str, x_m: float, y_m: float, bottom_m: float = 0.0) -> SceneObject:
    """Return an everyday object of `scene.object_models` by its kind, at yaw 0."""
    model = OBJECT_MODELS[name]
    pose = Pose(position_m=(x_m, y_m, bottom_m + model.size_m[2] / 2))
    return SceneObject(
        name=name, kind=model.kind, pose=pose, size_m=model.size_m, color=model.color
    )


def draw(
    items: Sequence[SceneObject],
    *,
    light: tuple[float, float, float] = (1.0, 1.0, 1.0),
    T_world_camera: Pose = T_WORLD_CAMERA,
) -> RgbdImage:
    """
    Draw objects on the table, in light of a colour.

    The sides of boxes and cylinders are darker; everyday objects are drawn in their main colour.
    """
    view = CameraView.of(CAMERA, T_world_camera)
    offsets = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    u = (np.arange(CAMERA.width_px)[:, None] + offsets).ravel()
    v = (np.arange(CAMERA.height_px)[:, None] + offsets).ravel()
    pixels = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
    rays = view.rays(pixels)
    origin = view.position_m
    depth = -origin[2] / rays[:, 2]
    colors = np.tile(np.array(rgba_of(TABLE.color)[:3]), (len(rays), 1))
    for item in items:
        is_plain = model_like(item) is None
        center = view.project(np.array(item.pose.position_m))[:2]
        near = np.flatnonzero(np.abs(pixels - center).max(axis=1) < 90)
        hit = np.min([cast(solid, origin, rays[near]) for solid in solids_of(item)], axis=0)
        seen = hit < depth[near]
        index, at = near[seen], hit[seen]
        z = origin[2] + at * rays[index, 2]
        is_top = z > item.pose.position_m[2] + item.size_m[2] / 2 - 1e-6
        depth[index] = at
        shade = np.where(is_top, 1.0, SIDE if is_plain else 1.0)
        colors[index] = np.array(rgba_of(item.color)[:3]) * shade[:, None]
    shape = (CAMERA.height_px, SAMPLES, CAMERA.width_px, SAMPLES)
    rgb = (colors * np.array(light)).reshape(*shape, 3).mean(axis=(1, 3))
    middle = depth.reshape(shape)[:, SAMPLES // 2, :, SAMPLES // 2]
    return RgbdImage(
        rgb=np.rint(255 * np.clip(rgb, 0, 1)).astype(np.uint8),
        depth_m=middle.astype(np.float32),
        intrinsics=CAMERA,
        stamp_s=1.0,
        frame='table_camera',
    )


def all_hidden(image: RgbdImage) -> NDArray[np.bool_]:
    return np.ones(image.depth_m.shape, bool)
