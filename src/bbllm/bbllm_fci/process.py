"""`bbllm up fci` as a process of its own, commanded and asked by its lines."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bbllm.arm.driver import RobotMode
from bbllm.core.errors import WorldError
from bbllm.core.types import Pose
from bbllm_fci.lines import DONE
from bbllm_fci.serving import READY

ANSWER_S = 120.0
"""How long the process may take to start and to answer a line, on a busy machine [s]."""
END_S = 10.0
SERVE = (
    'import ctypes, signal; from bbllm.__main__ import main; '
    'ctypes.CDLL(None).prctl(1, signal.SIGTERM); main()'
)
"""`bbllm`, with PR_SET_PDEATHSIG of prctl(2): no table outlives the program that started it."""
NUMBERS = 7
"""Of an object in the answer to `objects`: position, then quaternion (x, y, z, w)."""


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What the arm does, by the physics."""

    mode: RobotMode
    fastest_rad_s: float
    """Speed of the fastest joint [rad/s]."""


class TableProcess:
    """
    A table that is served to clients of libfranka from when it is entered until it is left.

    Raises WorldError where it does not start or does not answer, with what it printed.
    """

    def __init__(self, address: str, *options: str) -> None:
        """Take options of `bbllm up fci` beside --ip."""
        self.address = address
        self._options = ['--ip', address, *options]
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, '-c', SERVE, 'up', 'fci', *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )
        threading.Thread(target=self._read, name='fci table', daemon=True).start()
        try:
            self.until(READY)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def until(self, text: str) -> list[str]:
        """Return the lines that it prints, up to one that contains a text."""
        lines: list[str] = []
        end_s = time.monotonic() + ANSWER_S
        while not lines or text not in lines[-1]:
            try:
                line = self._lines.get(timeout=max(0.0, end_s - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise WorldError(
                    f'bbllm up fci at {self.address} did not print {text!r} within '
                    f'{ANSWER_S:g} s: {" ".join(lines)}'
                )
            lines.append(line)
        return lines

    def send(self, line: str) -> list[str]:
        """Type a line, and return what is printed until it is done."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f'{line}\n')
            self._process.stdin.flush()
        except OSError as error:
            raise WorldError(f'bbllm up fci at {self.address} has ended: {error}.') from error
        return self.until(f'{DONE}{line}')

    def objects(self) -> dict[str, Pose]:
        """Return where the objects are, by the physics."""
        rows = [line.split() for line in self.send('objects')]
        return {
            name: _pose([*map(float, values)]) for name, *values in rows if len(values) == NUMBERS
        }

    def arm(self) -> ArmReport:
        """Return what the arm does now, by the physics."""
        mode, speed = self.send('arm')[-2].split()
        return ArmReport(RobotMode[mode], float(speed))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip())
        self._lines.put(None)

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _pose(values: list[float]) -> Pose:
    x, y, z, qx, qy, qz, qw = values
    return Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))
