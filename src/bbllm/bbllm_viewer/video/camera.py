"""Makes a model of a scene ready for a video: its light, its background and its camera."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.sim.build import CAMERA

Array = NDArray[np.float64]

TARGET_M = 40
"""Moments of a motion that have to fit into the picture."""
NEAR_M = 1.6
"""What lies further from the base, as on the floor, does not count [m]."""
MARGIN = 1.04
LEAST_DEG, MOST_DEG = 12.0, 60.0
SHADOW_PX, SLICES = 1024, 20
"""In place of 4096 and 28; a software renderer takes half the time."""
OVERSIZE = 2
"""How much larger pictures are drawn: cheaper and smoother than samples within each pixel."""
BACKGROUND = (230, 235, 240)
CONE_DEG = 40.0
"""Of the lamp, which lights the table evenly: a GIF has too few colours for gradients."""


def light(model: mujoco.MjModel) -> None:
    """Light a model of `bbllm_viewer.view3d.drawn_scene` evenly, before a plain background."""
    quality = model.vis.quality
    quality.shadowsize, quality.numslices, quality.offsamples = SHADOW_PX, SLICES, 0
    model.light_exponent[:] = 0.0
    model.light_cutoff[:] = CONE_DEG
    model.geom_rgba[model.geom('floor').id, 3] = 0.0
    model.tex_data[:] = np.tile(np.array(BACKGROUND, np.uint8), model.tex_data.size // 3)


def aim(model: mujoco.MjModel, rows: Array, aspect: float) -> None:
    """
    Turn the camera of a model to the arm and the objects, and zoom in as far as all are seen.

    Args:
        model: Of `bbllm_viewer.view3d.drawn_scene`; changed.
        rows: Positions, shape (n, nq).
        aspect: Width of the picture to its height.
    """
    data = mujoco.MjData(model)
    target, camera = model.body('camera_target').id, model.camera(CAMERA).id
    moves = model.geom_bodyid > 0
    points, radii = list[Array](), list[Array]()
    for row in rows[np.unique(np.linspace(0, len(rows) - 1, TARGET_M).astype(int))]:
        data.qpos[:] = row
        mujoco.mj_forward(model, data)
        points.append(data.geom_xpos[moves])
        radii.append(model.geom_rbound[moves])
    where, radius = np.concatenate(points), np.concatenate(radii)
    near = (np.linalg.norm(where, axis=1) < NEAR_M) & (where[:, 2] > -radius)
    where, radius, eye = where[near], radius[near], data.cam_xpos[camera].copy()
    for _ in range(3):
        ahead = _unit(model.body_pos[target] - eye)
        right = _unit(np.cross(ahead, (0.0, 0.0, 1.0)))
        up = np.cross(right, ahead)
        seen = where - eye
        depth = seen @ ahead
        across, along = seen @ right / depth, seen @ up / depth
        spans = [
            (float((side - radius / depth).min()), float((side + radius / depth).max()))
            for side in (across, along)
        ]
        (left, end), (low, high) = spans
        turned = ahead + right * (left + end) / 2 + up * (low + high) / 2
        model.body_pos[target] = eye + turned
        half = max((high - low) / 2, (end - left) / 2 / aspect) * MARGIN
        fov_deg = math.degrees(2 * math.atan(half))
        model.cam_fovy[camera] = min(MOST_DEG, max(LEAST_DEG, fov_deg))


def _unit(vector: Array) -> Array:
    return vector / math.hypot(*vector)
