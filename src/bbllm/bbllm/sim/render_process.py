"""
Draw one picture of a model; run by `render` with the graphics library already chosen.

    python render_process.py MODEL.mjb QPOS.npy PICTURE.png CAMERA WIDTH HEIGHT
"""

from __future__ import annotations

import sys

import mujoco
import numpy as np
from PIL import Image

HIDDEN_GROUPS = (3, 4)
"""Solid shapes under the visuals, and capsules that only meet the robot itself."""


def draw(
    model_path: str, qpos_path: str, picture: str, camera: str, width: int, height: int
) -> None:
    """Draw positions *qpos_path* of a compiled model into a PNG file."""
    model = mujoco.MjModel.from_binary_path(model_path)
    data = mujoco.MjData(model)
    data.qpos[:] = np.load(qpos_path)
    mujoco.mj_forward(model, data)
    options = mujoco.MjvOption()
    for group in HIDDEN_GROUPS:
        options.geomgroup[group] = 0
    renderer = mujoco.Renderer(model, height, width)
    try:
        renderer.update_scene(data, camera=camera, scene_option=options)
        Image.fromarray(renderer.render()).save(picture, format='PNG')
    finally:
        renderer.close()


if __name__ == '__main__':
    _, model_path, qpos_path, picture, camera, width, height = sys.argv
    draw(model_path, qpos_path, picture, camera, int(width), int(height))
