"""Images of the simulation without a display, and a window where there is one."""

import io
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bbllm.core.paths import write_whole
from bbllm.sim.build import CAMERA, build_model
from bbllm.sim.drawing import DrawingProcess, RenderError
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation
from bbllm.sim.video_file import VIDEO_SUFFIXES, need_encoder, video_bytes

CLOSE_TIMEOUT_S = 5.0


def render_png(
    simulation: Simulation,
    qpos: NDArray[np.float64] | None = None,
    *,
    width_px: int = 960,
    height_px: int = 720,
) -> bytes:
    """
    Draw a simulation at positions *qpos*, shape (nq,); returns a PNG. Raises RenderError.

    Without *qpos* as it is now; it must not step meanwhile.
    """
    rows = (simulation.data.qpos if qpos is None else qpos)[np.newaxis]
    file = io.BytesIO()
    for picture in draw_frames(_drawn_model(simulation), rows, (width_px, height_px)):
        picture.save(file, format='PNG')
    return file.getvalue()


def check_video(path: Path) -> None:
    """Raise ConfigError where a video of that name cannot be made; before anything is recorded."""
    suffix = path.suffix.lower()
    if suffix not in VIDEO_SUFFIXES:
        raise RenderError(
            f'{path} is no name for a video: it must end with {" or ".join(VIDEO_SUFFIXES)}.'
        )
    if not path.resolve().parent.is_dir():
        raise RenderError(f'There is no folder {path.resolve().parent} for the video {path}.')
    need_encoder(suffix)


def save_video(path: Path, pictures: Iterable[Image.Image], fps: float) -> Path:
    """Write a video whose name `check_video` lets through; raises RenderError."""
    video = video_bytes(pictures, path.suffix.lower(), fps)
    return _write(path, 'video', lambda: video)


def draw_frames(
    model: mujoco.MjModel,
    qpos: NDArray[np.float64],
    size_px: tuple[int, int],
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[Image.Image]:
    """
    Yield a picture of a model for each row of positions, shape (n, nq).

    *on_progress* is called with the number of pictures that are drawn, and of all.

    Raises:
        RenderError: Neither EGL nor OSMesa works here.
    """
    if not len(qpos):
        return
    camera = int(model.camera(CAMERA).id)
    with DrawingProcess(model) as process:
        process.ask(qpos[0], camera, size_px)
        for number in range(1, len(qpos) + 1):
            if number < len(qpos):
                process.ask(qpos[number], camera, size_px)  # drawn while this one is read
            picture = Image.frombytes('RGB', size_px, process.pixels(3 * math.prod(size_px)))
            if on_progress is not None:
                on_progress(number, len(qpos))
            yield picture


def save_picture(
    simulation: Simulation, path: str | Path, qpos: NDArray[np.float64] | None = None
) -> Path:
    """Draw the simulation into a PNG file, as `render_png`; raises RenderError."""
    return _write(Path(path), 'picture', lambda: render_png(simulation, qpos))


def _write(path: Path, what: str, draw: Callable[[], bytes]) -> Path:
    try:
        write_whole(path, draw())
    except OSError as error:
        reason = error.strerror or error
        raise RenderError(f'The {what} {path} cannot be written ({reason}).') from error
    return path


def need_display(environ: Mapping[str, str]) -> None:
    if not (environ.get('DISPLAY') or environ.get('WAYLAND_DISPLAY')):
        raise RenderError(
            'The viewer needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set. '
            'Run headless, or in a graphical session.'
        )


def _drawn_model(simulation: Simulation) -> mujoco.MjModel:
    """Return the model with all that the physics leaves out; its states are the same."""
    return build_model(simulation.scene, simulation.timestep_s, visuals=True)


class Window:
    """MuJoCo's window on a copy of a simulation."""

    def __init__(self, simulation: Simulation, launch: Callable[..., Any]) -> None:
        """Open it by *launch*, which is mujoco.viewer.launch_passive."""
        self._simulation = simulation
        self._model = _drawn_model(simulation)
        self._data = mujoco.MjData(self._model)
        self._copy()
        self._window = launch(self._model, self._data, show_left_ui=False, show_right_ui=False)

    def is_running(self) -> bool:
        return bool(self._window.is_running())

    def sync(self) -> None:
        """Show the simulation as it is now, and push in it what a person drags in the window."""
        self._copy()
        self._window.sync()
        self._simulation.data.xfrc_applied[:] = self._data.xfrc_applied

    def close(self) -> None:
        self._window.close()

    def _copy(self) -> None:
        self._data.qpos[:] = self._simulation.data.qpos
        mujoco.mj_forward(self._model, self._data)


@contextmanager
def viewer(robot: SimulatedRobot) -> Iterator[Window]:
    """Open MuJoCo's window; call `sync()` of what this yields. Raises RenderError."""
    need_display(os.environ)
    import mujoco.viewer  # loads GLFW, which only a display can serve

    before = set(threading.enumerate())
    with robot.paused() as simulation:
        window = Window(simulation, mujoco.viewer.launch_passive)
    try:
        yield window
    finally:
        window.close()
        # it only asks: a program that ends before the window is gone crashes
        for thread in set(threading.enumerate()) - before:
            thread.join(CLOSE_TIMEOUT_S)
