"""Pictures of a table drawn by ray casting, with edges that are mixed as a camera mixes them."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.sim.build import rgba_of
from bbllm.skills.shapes import rotation_of
from bbllm.vision.camera import Intrinsics, RgbdImage
from bbllm.vision.detectors.solids import Solid, cast
from bbllm.vision.detectors.views import CameraView

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


def draw(
    items: Sequence[SceneObject], *, light: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> RgbdImage:
    """Draw boxes and cylinders on the table, in light of a colour."""
    view = CameraView.of(CAMERA, T_WORLD_CAMERA)
    offsets = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    u = (np.arange(CAMERA.width_px)[:, None] + offsets).ravel()
    v = (np.arange(CAMERA.height_px)[:, None] + offsets).ravel()
    pixels = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
    rays = view.rays(pixels)
    origin = view.position_m
    depth = -origin[2] / rays[:, 2]
    colors = np.tile(np.array(rgba_of(TABLE.color)[:3]), (len(rays), 1))
    for item in items:
        solid = solid_of(item)
        center = view.project(solid.at_m)[:2]
        near = np.flatnonzero(np.abs(pixels - center).max(axis=1) < 90)
        hit = cast(solid, origin, rays[near])
        seen = hit < depth[near]
        index, at = near[seen], hit[seen]
        z = origin[2] + at * rays[index, 2]
        is_top = z > item.pose.position_m[2] + item.size_m[2] / 2 - 1e-6
        depth[index] = at
        colors[index] = np.array(rgba_of(item.color)[:3]) * np.where(is_top, 1.0, SIDE)[:, None]
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


def solid_of(item: SceneObject) -> Solid:
    x, y, z = (length / 2 for length in item.size_m)
    is_round = item.kind is Kind.CYLINDER
    return Solid(
        shape='cylinder' if is_round else 'box',
        half_m=(x, z, 0.0) if is_round else (x, y, z),
        rotation=np.array(rotation_of(item.pose)),
        at_m=np.array(item.pose.position_m),
    )


def all_hidden(image: RgbdImage) -> NDArray[np.bool_]:
    return np.ones(image.depth_m.shape, bool)
