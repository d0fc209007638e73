"""A simulation that several threads may use: one lets time pass, others read and change things."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bbllm.arm.driver import Array
from bbllm.arm.model import FLANGE_SITE
from bbllm.core.types import Pose, SceneObject
from bbllm.sim.simulation import Simulation, Touch


class SharedSimulation:
    """Lends the physics out to one thread at a time."""

    def __init__(self, simulation: Simulation) -> None:
        """Take over a simulation, which nobody else may step from now on."""
        self._simulation = simulation
        self._lock = threading.RLock()
        self._waiting = 0
        self._counter = threading.Lock()

    @property
    def simulation(self) -> Simulation:
        """The physics; hold `paused` while reading several things that belong together."""
        return self._simulation

    @contextmanager
    def paused(self) -> Iterator[Simulation]:
        """Keep time from passing, for reading or drawing."""
        with self._command():
            yield self._simulation

    @property
    def time_s(self) -> float:
        """Simulated time [s]."""
        return self._simulation.time_s

    def flange_wrench(self) -> Array:
        """Return what the world does to the hand, flange frame, shape (6,) [N, Nm]."""
        with self._command() as simulation:
            return simulation.flange_wrench()

    def vertical_force_n(self) -> float:
        """Return what pushes the hand up, along z of the base [N]."""
        with self._command() as simulation:
            z_world = simulation.data.site(FLANGE_SITE).xmat[6:9]  # in the flange frame
            return float(z_world @ simulation.flange_wrench()[:3])

    def objects(self) -> tuple[SceneObject, ...]:
        """Return tables, objects and locations as they are now."""
        with self._command() as simulation:
            return simulation.objects()

    def touches(self) -> tuple[Touch, ...]:
        """Return what touches what."""
        with self._command() as simulation:
            return simulation.touches()

    def set_object_pose(self, name: str, pose: Pose) -> None:
        """Put an object somewhere, at rest; raises UnknownNameError."""
        with self._command() as simulation:
            simulation.set_object_pose(name, pose)

    def set_object_mass(self, name: str, mass_kg: float) -> None:
        """Change an object's mass; raises UnknownNameError."""
        with self._command() as simulation:
            simulation.set_object_mass(name, mass_kg)

    @contextmanager
    def _command(self) -> Iterator[Simulation]:
        """Take the lock from whoever advances."""
        with self._counter:
            self._waiting += 1
        with self._lock:
            with self._counter:
                self._waiting -= 1
            yield self._simulation
