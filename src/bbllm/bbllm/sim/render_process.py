"""
Draw pictures of a model on request; run by `drawing` with the graphics library already chosen.

    python render_process.py MODEL.mjb

Standard input has one `REQUEST` after another, each followed by the positions, nq doubles.
Standard output starts with `READY`, once the first picture could be drawn. Then it has the answer
to each request: the colours, three bytes a pixel, and where it asks for it the depth, a float a
pixel, both with the upper row first.
"""

import os
import struct
import sys
from typing import BinaryIO

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
HIDDEN_GROUPS = (3, 4)
"""Solid shapes under the visuals, and capsules that only meet the robot itself."""
REQUEST = struct.Struct('<iii??')
"""Number of the camera; width and height [px]; whether shadows and reflections are drawn, whether
the depth is wanted."""
READY = b'+'
EFFECTS = (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION)
MOST_GEOMS = 10_000


class OffscreenDrawing:
    """A model, its state, and the buffer that it is drawn into, of the size in the model."""

    def __init__(self, model: mujoco.MjModel):
        self._model, self._data = model, mujoco.MjData(model)
        size_px = model.vis.global_.offwidth, model.vis.global_.offheight
        self._graphics = mujoco.GLContext(*size_px)
        self._graphics.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR  # finer far away
        self._scene = mujoco.MjvScene(model, MOST_GEOMS)
        self._options = mujoco.MjvOption()
        for group in HIDDEN_GROUPS:
            self._options.geomgroup[group] = 0

    def picture(
        self, qpos: bytes, camera: int, size_px: tuple[int, int], *, effects: bool, depth: bool
    ) -> bytes:
        """Return the pixels of a state; see the module."""
        self._data.qpos[:] = np.frombuffer(qpos)
        mujoco.mj_forward(self._model, self._data)
        view = mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED.value, camera
        every = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            self._model, self._data, self._options, None, view, every, self._scene
        )
        for flag in EFFECTS:
            self._scene.flags[flag] = effects
        (width, height), area = size_px, mujoco.MjrRect(0, 0, *size_px)
        colors = np.empty((height, width, 3), np.uint8)
        nearness = np.empty((height, width), np.float32) if depth else None
        mujoco.mjr_render(area, self._scene, self._context)
        mujoco.mjr_readPixels(colors, nearness, area, self._context)
        pixels = colors[::-1].tobytes()
        return pixels if nearness is None else pixels + self._depth_m(nearness)[::-1].tobytes()

    def _depth_m(self, nearness: Floats) -> Floats:
        """Return distances along the optical axis; the buffer has 1 at the near plane, 0 far."""
        scale, extent_m = self._model.vis.map, self._model.stat.extent
        near_m, far_m = scale.znear * extent_m, scale.zfar * extent_m
        scaled = near_m + nearness * np.float32(far_m - near_m)
        return np.asarray(near_m * far_m / scaled, np.float32)


def serve(model_path: str, requests: BinaryIO, pictures: BinaryIO) -> None:
    """Answer requests until there are no more."""
    model = mujoco.MjModel.from_binary_path(model_path)
    drawing = OffscreenDrawing(model)
    start = mujoco.MjData(model).qpos.tobytes()
    drawing.picture(start, 0, (16, 16), effects=True, depth=True)
    pictures.write(READY)
    pictures.flush()
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        camera, width, height, effects, depth = REQUEST.unpack(head)
        qpos = requests.read(len(start))
        pictures.write(
            drawing.picture(qpos, camera, (width, height), effects=effects, depth=depth)
        )
        pictures.flush()


if __name__ == '__main__':
    # Graphics libraries may print: what they do goes to standard error.
    with os.fdopen(os.dup(sys.stdout.fileno()), 'wb') as target:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(sys.argv[1], sys.stdin.buffer, target)
