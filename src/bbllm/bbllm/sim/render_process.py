"""
Draw pictures of a model; run by `render` with the graphics library already chosen.

    python render_process.py MODEL.mjb QPOS.npy CAMERA WIDTH HEIGHT

Standard output has the pictures one after another, three bytes a pixel.
"""

import os
import sys
from collections.abc import Generator

import mujoco
import numpy as np
from numpy.typing import NDArray

HIDDEN_GROUPS = (3, 4)
"""Solid shapes under the visuals, and capsules that only meet the robot itself."""


def frames(
    model_path: str, qpos: NDArray[np.float64], camera: str, width: int, height: int
) -> Generator[NDArray[np.uint8]]:
    """Yield a picture, shape (height, width, 3), of a compiled model for each row of *qpos*."""
    model = mujoco.MjModel.from_binary_path(model_path)
    data = mujoco.MjData(model)
    options = mujoco.MjvOption()
    for group in HIDDEN_GROUPS:
        options.geomgroup[group] = 0
    renderer = mujoco.Renderer(model, height, width)
    try:
        for row in qpos:
            data.qpos[:] = row
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, camera=camera, scene_option=options)
            yield renderer.render()
    finally:
        renderer.close()


if __name__ == '__main__':
    _, model_path, qpos_path, camera, width, height = sys.argv
    # Graphics libraries may print: what they do goes to standard error.
    with os.fdopen(os.dup(sys.stdout.fileno()), 'wb') as target:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for picture in frames(model_path, np.load(qpos_path), camera, int(width), int(height)):
            target.write(picture.tobytes())
            target.flush()
