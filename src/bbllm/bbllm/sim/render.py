"""
Images of the simulation without a display, and a window where there is one.

Pictures are drawn in a process of their own: graphics libraries are chosen when they are first
loaded, some print at exit, and a broken one may take its process with it.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.core.errors import ConfigError
from bbllm.core.paths import write_whole
from bbllm.sim.build import CAMERA, build_model
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation

BACKENDS = ('egl', 'osmesa')
"""What MuJoCo can draw with without a display, the faster one first."""
DRAW_TIMEOUT_S = 60.0
FRAME_TIMEOUT_S = 2.0
"""For each frame of a video; a software renderer takes 0.1 s on an idle core [s]."""
FPS = 12.5
"""Of a video; 80 ms are four steps of SimDriver, and a whole number of the 10 ms of a GIF."""
TIME_TOLERANCE_S = 1e-6
VIDEO_SUFFIXES = ('.gif', '.webp')
CLOSE_TIMEOUT_S = 5.0
PACKAGES = 'libegl1 libegl-mesa0 libgl1-mesa-dri (EGL) or libosmesa6 (OSMesa)'


class RenderError(ConfigError):
    """No picture can be drawn on this machine; the text names the packages that help."""


def render_png(simulation: Simulation, *, width_px: int = 960, height_px: int = 720) -> bytes:
    """Draw a simulation that does not step meanwhile; returns a PNG. Raises RenderError."""
    frames = simulation.data.qpos[np.newaxis]
    return _render(simulation, frames, '.png', (width_px, height_px), 1.0, None)


class VideoRecorder:
    """Records how a simulation moves, and draws it as a video afterwards."""

    def __init__(self, simulation: Simulation, fps: float = FPS) -> None:
        """Start with the state as it is now; at most 50 frames per simulated second."""
        self._simulation = simulation
        self._fps = fps
        self._frames: list[NDArray[np.float64]] = []
        self._next_s = simulation.time_s
        self.sample()

    def sample(self) -> None:
        """Record the state where a frame is due; call it often, as SimDriver's `on_advance` is."""
        if self._simulation.time_s >= self._next_s - TIME_TOLERANCE_S:
            self._frames.append(self._simulation.data.qpos.copy())
            self._next_s += 1.0 / self._fps

    def save(
        self,
        path: Path,
        *,
        width_px: int = 480,
        height_px: int = 360,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """
        Draw what was recorded into a video that repeats, with a name of `VIDEO_SUFFIXES`.

        *on_progress* is called with the number of frames that are drawn, and of all.

        Raises:
            RenderError: Neither EGL nor OSMesa works here, or the file cannot be written.
        """
        check_video(path)
        size, frames, suffix = (width_px, height_px), np.array(self._frames), path.suffix.lower()
        video = _render(self._simulation, frames, suffix, size, self._fps, on_progress)
        return _write(path, 'video', lambda: video)


def check_video(path: Path) -> None:
    """Raise RenderError where a video of that name cannot be made; before anything is recorded."""
    if path.suffix.lower() not in VIDEO_SUFFIXES:
        raise RenderError(
            f'{path} is no name for a video: it must end with {" or ".join(VIDEO_SUFFIXES)}.'
        )
    if not path.resolve().parent.is_dir():
        raise RenderError(f'There is no folder {path.resolve().parent} for the video {path}.')


def _render(
    simulation: Simulation,
    frames: NDArray[np.float64],
    suffix: str,
    size_px: tuple[int, int],
    fps: float,
    on_progress: Callable[[int, int], None] | None,
) -> bytes:
    with tempfile.TemporaryDirectory(prefix='bbllm-render-') as folder:
        model, states, target = (Path(folder) / name for name in ('m.mjb', 's.npy', 'p' + suffix))
        mujoco.mj_saveModel(_drawn_model(simulation), str(model), None)
        np.save(states, frames)
        words = (str(model), str(states), str(target), CAMERA, *map(str, size_px), str(fps))
        reasons = []
        for backend in _backends():
            reason = _draw(backend, words, len(frames), on_progress)
            if reason is None:
                return target.read_bytes()
            reasons.append(f'{backend}: {reason}')
    raise RenderError(
        f'No picture can be drawn here ({"; ".join(reasons)}). '
        f'On Debian or Ubuntu install {PACKAGES}.'
    )


def save_picture(simulation: Simulation, path: str | Path) -> Path:
    """Draw the simulation into a PNG file; raises RenderError."""
    return _write(Path(path), 'picture', lambda: render_png(simulation))


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
    return build_model(simulation.scene, simulation.timestep_s, looks=True)


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


def _backends() -> tuple[str, ...]:
    chosen = os.environ.get('MUJOCO_GL', '').lower().strip()
    return tuple(dict.fromkeys((chosen, *BACKENDS))) if chosen in BACKENDS else BACKENDS


def _draw(
    backend: str,
    arguments: tuple[str, ...],
    n_frames: int,
    on_progress: Callable[[int, int], None] | None,
) -> str | None:
    script = Path(__file__).with_name('render_process.py')
    timeout_s = DRAW_TIMEOUT_S + n_frames * FRAME_TIMEOUT_S
    with (
        tempfile.TemporaryFile('w+') as errors,
        subprocess.Popen(
            [sys.executable, str(script), *arguments],
            env={**os.environ, 'MUJOCO_GL': backend, 'PYOPENGL_PLATFORM': backend},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        overdue = threading.Timer(timeout_s, process.kill)
        overdue.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if on_progress is not None and line.strip().isdigit():
                    on_progress(int(line), n_frames)
            code = process.wait()
        finally:
            late = not overdue.is_alive()
            overdue.cancel()
            process.kill()
        if Path(arguments[2]).exists() and not late:
            return None  # OSMesa may complain at exit after a good picture
        if late:
            return f'it did not draw within {timeout_s:.0f} s'
        errors.seek(0)
        lines = errors.read().strip().splitlines()
        return lines[-1][:200] if lines else f'the drawing process ended with {code}'
