"""
Draw pictures or a video of a model; run by `render` with the graphics library already chosen.

    python render_process.py MODEL.mjb QPOS.npy PICTURE.png|VIDEO.gif CAMERA WIDTH HEIGHT FPS

One line on standard output for each frame of a video.
"""

import sys
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

HIDDEN_GROUPS = (3, 4)
"""Solid shapes under the visuals, and capsules that only meet the robot itself."""


VIVID = 120
"""Least difference of red, green and blue of a vivid pixel, of 255."""


def frames(
    model_path: str, qpos: NDArray[np.float64], camera: str, width: int, height: int
) -> Generator[Image.Image]:
    """Yield a picture of a compiled model for each row of *qpos*, shape (n, nq)."""
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
            yield Image.fromarray(renderer.render())
    finally:
        renderer.close()


def palette_of(pictures: Sequence[Image.Image]) -> Image.Image:
    """
    Return one palette for all pictures, so that what does not move takes no space in a GIF.

    Vivid pixels count for a quarter: they are few, and tell the objects apart.
    """
    pixels = np.concatenate([np.asarray(picture).reshape(-1, 3) for picture in pictures])
    vivid = pixels[np.ptp(pixels.astype(int), axis=1) > VIVID]
    repeats = len(pixels) // 4 // max(1, len(vivid))
    sample = np.concatenate([pixels, np.repeat(vivid, repeats, axis=0)])
    return Image.fromarray(sample[np.newaxis]).quantize(256)


def save_video(pictures: Iterable[Image.Image], path: str, fps: float) -> None:
    """Save an animated GIF or WebP file that repeats for ever."""
    drawn = []
    for n, picture in enumerate(pictures, start=1):
        drawn.append(picture)
        print(n, flush=True)
    more: dict[str, Any] = {'quality': 80, 'method': 3}
    if path.endswith('.gif'):
        palette = palette_of(drawn[:: max(1, len(drawn) // 4)])
        drawn = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
        more = {'optimize': False, 'disposal': 1}
    first, *rest = drawn
    duration_ms = round(1000 / fps)
    first.save(path, save_all=True, append_images=rest, duration=duration_ms, loop=0, **more)


if __name__ == '__main__':
    _, model_path, qpos_path, target, camera, width, height, fps = sys.argv
    rows = np.load(qpos_path)
    pictures = frames(model_path, rows, camera, int(width), int(height))
    if target.endswith('.png'):
        next(pictures).save(target, format='PNG')
        pictures.close()
    else:
        save_video(pictures, target, float(fps))
