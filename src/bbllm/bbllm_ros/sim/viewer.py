"""The MuJoCo viewer beside the simulation; needs a display."""

import time
from contextlib import ExitStack

from bbllm.sim.render import viewer
from bbllm_ros.sim.loop import SimLoop

PERIOD_S = 1 / 30
"""Wall time between pictures [s]."""


class Viewer:
    """Shows the simulation in a window; closing it ends nothing."""

    def __init__(self, loop: SimLoop):
        self._loop = loop
        self._due_s = 0.0
        self._stack = ExitStack()
        self._open()

    def show(self) -> None:
        now_s = time.monotonic()
        if now_s < self._due_s or not self._window.is_running():
            return
        self._due_s = now_s + PERIOD_S
        if self._loop.robot is not self._shown:
            self._stack.close()
            self._open()
        with self._loop.robot.paused():
            self._window.sync()

    def close(self) -> None:
        self._stack.close()

    def _open(self) -> None:
        self._shown = self._loop.robot
        self._window = self._stack.enter_context(viewer(self._shown))
