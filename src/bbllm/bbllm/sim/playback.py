"""Set points computed ahead and played to the physics, one per step."""

from __future__ import annotations

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.sim.servo import Servo
from bbllm.sim.simulation import Simulation
from bbllm.sim.trajectory_controller import TrajectoryController

AFTER_S = 0.02
"""What is computed beyond the end of a motion [s]."""


class Playback:
    """
    Steps the physics along the controller's motion.

    Set points do not depend on the state, so those of a whole motion are computed at its start:
    that costs a tenth of what computing them step by step would.
    """

    def __init__(self, simulation: Simulation, servo: Servo, width_m: float) -> None:
        """Start with the fingers' set point at a width [m]."""
        self._simulation = simulation
        self._servo = servo
        self._width_m = width_m
        self._rows: Array = np.empty((0, N_JOINTS))
        self._start = 0
        self._revision = -1

    def forget(self) -> None:
        """Compute the motion in force anew, as after a change of the known load."""
        self._revision = -1

    def step(self, n: int, controller: TrajectoryController, width_m: float) -> None:
        """Step n times, the fingers' set point going evenly to a new width [m]."""
        simulation = self._simulation
        if self._revision != controller.revision:
            self._plan(controller)
        first = simulation.steps - self._start
        if first >= len(self._rows) and width_m == self._width_m:
            simulation.hold(np.append(self._rows[-1], width_m))  # nothing moves
            simulation.step(n)
            return
        ctrl = np.empty((n, N_JOINTS + 1))
        moving = self._rows[first : first + n]
        ctrl[: len(moving), :N_JOINTS] = moving
        ctrl[len(moving) :, :N_JOINTS] = self._rows[-1]
        ctrl[:, N_JOINTS] = self._width_m + (width_m - self._width_m) / n * np.arange(1, n + 1)
        self._width_m = width_m
        simulation.step_along(ctrl)

    def _plan(self, controller: TrajectoryController) -> None:
        """Compute the set points of the motion in force, from now to its end."""
        dt, now = self._simulation.timestep_s, self._simulation.steps
        end_s = controller.start_s + controller.duration_s + AFTER_S
        count = max(1, round(end_s / dt) - now)
        # One more than needed: a step's damping acts on the velocity at its end.
        steps = np.arange(now, now + count + 1, dtype=np.float64)
        q, dq, ddq = controller.sample(steps * dt)
        self._rows = self._servo.set_points(q[:-1], dq[1:], ddq[:-1])
        self._start, self._revision = now, controller.revision
