"""How much of each object a camera sees, by ray casting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.object_models import model_like
from bbllm.skills.shapes import rotation_of
from bbllm_vision.detectors.solids import Solid, cast, outline_points
from bbllm_vision.detectors.views import CameraView

Mask = NDArray[np.bool_]


def solids_of(item: SceneObject) -> list[Solid]:
    """Return the shapes of an object, world frame."""
    rotation, at = np.array(rotation_of(item.pose)), np.array(item.pose.position_m)
    model = model_like(item)
    if model is None:
        x, y, z = (length / 2 for length in item.size_m)
        is_round = item.kind is Kind.CYLINDER
        shape, half = ('cylinder', (x, z, 0.0)) if is_round else ('box', (x, y, z))
        return [Solid(shape=shape, half_m=half, rotation=rotation, at_m=at)]
    return [
        Solid(
            shape=part.shape,
            half_m=part.half_m,
            rotation=np.array(rotation_of_quat(part.quat_xyzw)),
            at_m=np.array(part.at_m),
        ).moved(rotation, at)
        for part in model.parts
    ]


def rotation_of_quat(quat_xyzw: tuple[float, float, float, float]) -> NDArray[np.float64]:
    return np.array(rotation_of(Pose(position_m=(0.0, 0.0, 0.0), quat_xyzw=quat_xyzw)))


def visible_shares(
    items: Sequence[SceneObject], view: CameraView, robot: Mask
) -> dict[str, float]:
    """
    Return the share of each object's silhouette that a camera sees, from 0 to 1.

    What is outside of the picture, behind another object, or where *robot* is true is not seen.
    """
    shapes = {item.name: solids_of(item) for item in items}
    height, width = robot.shape
    boxes = {}
    for name, solids in shapes.items():
        pixels = view.project(np.concatenate([outline_points(s) for s in solids]))[:, :2]
        boxes[name] = (*np.floor(pixels.min(axis=0)), *np.ceil(pixels.max(axis=0)))
    shares = {}
    for name, solids in shapes.items():
        u0, v0, u1, v1 = (int(value) for value in boxes[name])
        u, v = np.meshgrid(np.arange(u0, u1 + 1), np.arange(v0, v1 + 1))
        pixels = np.stack((u.ravel(), v.ravel()), axis=-1)
        rays = view.rays(pixels.astype(float))
        own = _nearest(solids, view, rays)
        hit = np.isfinite(own)
        others = [
            solid
            for other, (a0, b0, a1, b1) in boxes.items()
            if other != name and a0 <= u1 and a1 >= u0 and b0 <= v1 and b1 >= v0
            for solid in shapes[other]
        ]
        seen = hit & (own <= _nearest(others, view, rays))
        inside = (
            (pixels[:, 0] >= 0) & (pixels[:, 0] < width)
            & (pixels[:, 1] >= 0) & (pixels[:, 1] < height)
        )  # fmt: skip
        at = np.clip(pixels, 0, (width - 1, height - 1))
        seen &= inside & ~robot[at[:, 1], at[:, 0]]
        shares[name] = float(seen.sum() / max(hit.sum(), 1)) if hit.any() else math.nan
    return shares


def _nearest(
    solids: Sequence[Solid], view: CameraView, rays: NDArray[np.float64]
) -> NDArray[np.float64]:
    far = np.full(len(rays), np.inf)
    for solid in solids:
        far = np.minimum(far, cast(solid, view.position_m, rays))
    return far
