"""The MuJoCo viewer beside the simulation; needs a display."""

from __future__ import annotations

import os
import time

from bbllm.core.errors import ConfigError
from bbllm.nodes.sim_loop import SimLoop

PERIOD_S = 1 / 30
"""Wall time between pictures [s]."""


class Viewer:
    """Shows the simulation in a window; closing it ends nothing."""

    def __init__(self, loop: SimLoop):
        """
        Open the window.

        Raises:
            ConfigError: There is no display.
        """
        if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
            raise ConfigError(
                'The viewer needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set; '
                'leave viewer:=true out.'
            )
        self._loop = loop
        self._due_s = 0.0
        self._open()

    def _open(self) -> None:
        import mujoco.viewer

        simulation = self._loop.robot.simulation
        self._shown = simulation
        self._window = mujoco.viewer.launch_passive(
            simulation.model, simulation.data, show_left_ui=False, show_right_ui=False
        )

    def show(self) -> None:
        """Draw what is there now, if a picture is due; called by the physics thread."""
        now_s = time.monotonic()
        if now_s < self._due_s or not self._window.is_running():
            return
        self._due_s = now_s + PERIOD_S
        if self._loop.robot.simulation is not self._shown:
            self._window.close()
            self._open()
        with self._loop.robot.paused():
            self._window.sync()
