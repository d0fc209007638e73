"""Set points computed ahead and played to the physics, one per step."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.sim.servo import Servo
from bbllm.sim.simulation import Simulation

AHEAD_S = 20.0
"""How much is computed at a time; nobody can talk to the robot meanwhile [s]."""
AFTER_S = 0.02
"""What is computed beyond the end of a motion [s]."""


class Motion(Protocol):
    """What says where the arm should be: the trajectory controller, or the robot itself."""

    revision: int
    """Grows whenever `sample` would answer differently from before."""

    @property
    def start_s(self) -> float:
        """When the motion in force began [s]."""

    @property
    def duration_s(self) -> float:
        """Its planned duration [s]."""

    def sample(self, t: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity, acceleration at times on the clock, (n, 7) each."""

    def effort(self, t: Array) -> Array | None:
        """Return torque to add at times on the clock, shape (n, 7) [Nm]; None for none."""


class Playback:
    """
    Steps the physics along a motion.

    Set points do not depend on the state, so they are computed many at a time, those of most
    motions all at once: that costs a tenth of what computing them step by step would.
    """

    def __init__(self, simulation: Simulation, servo: Servo, width_m: float) -> None:
        """Start with the fingers' set point at a width [m]."""
        self._simulation = simulation
        self._servo = servo
        self._width_m = width_m
        self._rows: Array = np.empty((0, N_JOINTS))
        self._start = 0
        self._revision = -1
        self._motion: Motion | None = None
        self._whole = True

    def forget(self) -> None:
        """Compute the motion in force anew, as after a change of the known load."""
        self._revision = -1

    def step(self, n: int, motion: Motion, width_m: float) -> None:
        """Step n times, the fingers' set point going evenly to a new width [m]."""
        simulation = self._simulation
        first = simulation.steps - self._start
        known = self._revision == motion.revision and self._motion is motion
        if not known or (not self._whole and first + n > len(self._rows)):
            self._plan(motion)
            first = 0
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

    def _plan(self, motion: Motion) -> None:
        """Compute the set points of the motion in force, from now on."""
        dt, now = self._simulation.timestep_s, self._simulation.steps
        end_s = motion.start_s + motion.duration_s + AFTER_S
        left, ahead = round(end_s / dt) - now, round(AHEAD_S / dt)
        count, self._whole = max(1, min(left, ahead)), left <= ahead
        # One more than needed: a step's damping acts on the velocity at its end.
        steps = np.arange(now, now + count + 1, dtype=np.float64)
        q, dq, ddq = motion.sample(steps * dt)
        self._rows = self._servo.set_points(q[:-1], dq[1:], ddq[:-1])
        effort = motion.effort(steps[:-1] * dt)
        if effort is not None:
            self._rows += effort / self._servo.stiffness
        self._start, self._revision, self._motion = now, motion.revision, motion
