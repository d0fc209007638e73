"""
Images of the simulation without a display, and a window where there is one.

Pictures are drawn in a process of their own: graphics libraries are chosen when they are first
loaded, some print at exit, and a broken one may take its process with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from bbllm.core.errors import ConfigError
from bbllm.core.paths import write_whole
from bbllm.sim.build import CAMERA
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation

BACKENDS = ('egl', 'osmesa')
"""What MuJoCo can draw with without a display, the faster one first."""
DRAW_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 5.0
PACKAGES = 'libegl1 libegl-mesa0 libgl1-mesa-dri (EGL) or libosmesa6 (OSMesa)'


class RenderError(ConfigError):
    """No picture can be drawn on this machine; the text names the packages that help."""


def render_png(simulation: Simulation, *, width_px: int = 960, height_px: int = 720) -> bytes:
    """
    Draw the simulation as it is now; returns a PNG file.

    Args:
        simulation: What to draw; it must not step meanwhile (`SimulatedRobot.paused`).
        width_px: At most 1920.
        height_px: At most 1440.

    Raises:
        RenderError: Neither EGL nor OSMesa works here.
    """
    with tempfile.TemporaryDirectory(prefix='bbllm-render-') as folder:
        model, state, picture = (Path(folder) / name for name in ('m.mjb', 's.npy', 'p.png'))
        mujoco.mj_saveModel(simulation.model, str(model), None)
        np.save(state, simulation.data.qpos)
        size = (str(width_px), str(height_px))
        reasons = []
        for backend in _backends():
            reason = _draw(backend, (str(model), str(state), str(picture), CAMERA, *size))
            if reason is None:
                return picture.read_bytes()
            reasons.append(f'{backend}: {reason}')
    raise RenderError(
        f'No picture can be drawn here ({"; ".join(reasons)}). '
        f'On Debian or Ubuntu install {PACKAGES}.'
    )


def save_picture(simulation: Simulation, path: str | Path) -> Path:
    """
    Draw the simulation into a PNG file; errors as `render_png`.

    Raises:
        RenderError: The file, or one of those it is made from, cannot be written.
    """
    target = Path(path)
    try:
        write_whole(target, render_png(simulation))
    except OSError as error:
        raise RenderError(
            f'The picture {target} cannot be written ({error.strerror or error}).'
        ) from error
    return target


def need_display(environ: Mapping[str, str]) -> None:
    """Raise RenderError where an environment names no display."""
    if not (environ.get('DISPLAY') or environ.get('WAYLAND_DISPLAY')):
        raise RenderError(
            'The viewer needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set. '
            'Run headless, or in a graphical session.'
        )


@contextmanager
def viewer(robot: SimulatedRobot) -> Iterator[Any]:
    """
    Open MuJoCo's window; call `sync()` of what this yields, as SimDriver's `on_advance` does.

    Raises:
        RenderError: There is no display.
    """
    need_display(os.environ)
    import mujoco.viewer  # loads GLFW, which only a display can serve

    before = set(threading.enumerate())
    with robot.paused() as simulation:
        window = mujoco.viewer.launch_passive(
            simulation.model, simulation.data, show_left_ui=False, show_right_ui=False
        )
    try:
        yield window
    finally:
        window.close()
        # it only asks: a program that ends before the window is gone crashes
        for thread in set(threading.enumerate()) - before:
            thread.join(CLOSE_TIMEOUT_S)


def _backends() -> tuple[str, ...]:
    """Return what to try: the user's own choice first."""
    chosen = os.environ.get('MUJOCO_GL', '').lower().strip()
    return tuple(dict.fromkeys((chosen, *BACKENDS))) if chosen in BACKENDS else BACKENDS


def _draw(backend: str, arguments: tuple[str, ...]) -> str | None:
    """Draw with one backend; return why it did not work, None where it did."""
    script = Path(__file__).with_name('render_process.py')
    try:
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            env={**os.environ, 'MUJOCO_GL': backend, 'PYOPENGL_PLATFORM': backend},
            capture_output=True,
            text=True,
            timeout=DRAW_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f'it did not draw within {DRAW_TIMEOUT_S:.0f} s'
    if Path(arguments[2]).exists():
        return None  # OSMesa may complain at exit after a good picture
    lines = done.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f'the drawing process ended with {done.returncode}'
