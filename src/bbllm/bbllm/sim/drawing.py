"""
Pictures of a model, drawn in a process of their own.

Graphics libraries are chosen when they are first loaded, some print at exit, and a broken one may
take its process with it.
"""

import os
import select
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.core.errors import ConfigError
from bbllm.sim.render_process import READY, REQUEST

BACKENDS = ('egl', 'osmesa')
"""What MuJoCo can draw with without a display, the faster one first."""
PICTURE_TIMEOUT_S = 60.0
"""For each picture, the first of which takes longest; a software renderer takes 0.1 s [s]."""
PACKAGES = 'libegl1 libegl-mesa0 libgl1-mesa-dri (EGL) or libosmesa6 (OSMesa)'


class RenderError(ConfigError):
    """No picture can be drawn on this machine; the text names the packages that help."""


class DrawingProcess:
    """
    Draws pictures of a model in a process of its own, by the first graphics library that works.

    The answer to a request is read by `pixels`, in the order of the requests; not thread-safe.
    """

    def __init__(self, model: mujoco.MjModel, *, timeout_s: float = PICTURE_TIMEOUT_S):
        """
        Start the process; *timeout_s* bounds the wait for every picture [s].

        Raises:
            RenderError: Neither EGL nor OSMesa works here.
        """
        self.timeout_s = timeout_s
        """How long each picture may take [s]."""
        self._folder = tempfile.TemporaryDirectory(prefix='bbllm-render-')
        path, self._errors = (Path(self._folder.name) / name for name in ('m.mjb', 'errors.txt'))
        mujoco.mj_saveModel(model, str(path), None)
        reasons = []
        for backend in _backends():
            self._process = self._start(backend, path)
            try:
                self._read(len(READY), 'its first picture')
                path.unlink()
                return
            except _EndedError as error:
                reasons.append(f'{backend}: {error}')
            self._end()
        self._folder.cleanup()
        raise RenderError(
            f'No picture can be drawn here ({"; ".join(reasons)}). '
            f'On Debian or Ubuntu install {PACKAGES}.'
        )

    def __enter__(self) -> 'DrawingProcess':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(
        self,
        qpos: NDArray[np.float64],
        camera: int,
        size_px: tuple[int, int],
        *,
        effects: bool = True,
        depth: bool = False,
    ) -> None:
        """
        Ask for a picture of a state.

        Args:
            qpos: Positions of the model, shape (nq,).
            camera: Number of the camera in the model.
            size_px: Width and height, at most those of the model's off-screen buffer.
            effects: Whether shadows and reflections are drawn.
            depth: Whether `pixels` shall return the depth too.
        """
        assert self._process.stdin is not None
        words = REQUEST.pack(camera, *size_px, effects, depth)
        try:
            self._process.stdin.write(words + qpos.tobytes())
            self._process.stdin.flush()
        except (OSError, ValueError):  # the pipe has no reader, or is closed
            reason = self._why_ended()
            self.close()
            raise RenderError(f'No picture can be drawn: {reason}.') from None

    def pixels(self, count: int) -> bytes:
        """
        Return so many bytes of the oldest answer that is left.

        Raises:
            RenderError: The process ended, or drew nothing within the time-out.
        """
        try:
            return self._read(count, 'a picture')
        except _EndedError as error:
            self.close()
            raise RenderError(f'No picture can be drawn: {error}.') from None

    def close(self) -> None:
        """End the process."""
        self._end()
        self._folder.cleanup()

    def _start(self, backend: str, model: Path) -> 'subprocess.Popen[bytes]':
        script = Path(__file__).with_name('render_process.py')
        with self._errors.open('w') as errors:
            return subprocess.Popen(
                [sys.executable, str(script), str(model)],
                env={**os.environ, 'MUJOCO_GL': backend, 'PYOPENGL_PLATFORM': backend},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def _end(self) -> None:
        process = self._process
        process.kill()  # OSMesa may complain at exit, after good pictures
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what is left in a buffer has no reader
                    pipe.close()

    def _read(self, count: int, what: str) -> bytes:
        assert self._process.stdout is not None
        file, parts, left = self._process.stdout.fileno(), [], count
        until_s = time.monotonic() + self.timeout_s
        while left:
            if not select.select([file], [], [], max(0.0, until_s - time.monotonic()))[0]:
                raise _EndedError(
                    f'the drawing process (pid {self.pid}) did not send {what} within '
                    f'{self.timeout_s:g} s'
                )
            part = os.read(file, left)
            if not part:
                raise _EndedError(self._why_ended())
            parts.append(part)
            left -= len(part)
        return b''.join(parts)

    def _why_ended(self) -> str:
        """Return the last line that the process printed, else how it ended."""
        if not self._errors.exists():
            return 'the drawing process is closed'
        code = self._process.wait()
        lines = self._errors.read_text(errors='replace').strip().splitlines()
        return lines[-1][:200] if lines else f'the drawing process ended with {code}'


class _EndedError(Exception):
    """The process does not draw; the text is the reason."""


def _backends() -> tuple[str, ...]:
    chosen = os.environ.get('MUJOCO_GL', '').lower().strip()
    return tuple(dict.fromkeys((chosen, *BACKENDS))) if chosen in BACKENDS else BACKENDS
