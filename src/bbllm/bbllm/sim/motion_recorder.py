"""Samples how a simulated robot moves, for the recording beside a journal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bbllm.bags.motion import MotionSample, MotionWriter, motion_path
from bbllm.sim.simulation import Simulation

RATE_HZ = 30.0
TOLERANCE_S = 1e-6


class MotionRecorder:
    """Reads a simulation while it steps, and changes nothing in it."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._writers: list[Callable[[], None]] = []
        self._next_s = 0.0

    def sample(self) -> None:
        """Write the state where a sample is due; call it as SimDriver's `on_advance` is."""
        if self._writers and self._simulation.time_s >= self._next_s - TOLERANCE_S:
            for write in self._writers:
                write()
            # By the time that was due, so that a coarser step keeps the rate on average.
            self._next_s = max(self._next_s + 1.0 / RATE_HZ, self._simulation.time_s - 1.0)

    @contextmanager
    def calling(self, write: Callable[[], None]) -> Iterator[None]:
        """Let a function write each sample, with the state at the begin and at the end."""
        write()
        self._next_s = self._simulation.time_s + 1.0 / RATE_HZ
        self._writers.append(write)
        try:
            yield
        finally:
            self._writers.remove(write)
            write()

    @contextmanager
    def record(self, journal: Path) -> Iterator[MotionWriter]:
        """Write what moves beside a journal."""
        simulation = self._simulation
        writer = MotionWriter(
            motion_path(journal), simulation.objects(), robot=simulation.robot_model
        )
        with writer, self.calling(partial(self._write, writer)):
            yield writer

    def _write(self, writer: MotionWriter) -> None:
        simulation = self._simulation
        joints_rad, _ = simulation.arm_state()
        writer.add(
            MotionSample(
                stamp_s=time.time(),
                world_s=simulation.time_s,
                joints_rad=joints_rad.tolist(),
                finger_m=simulation.width_m,
                poses=simulation.object_poses(),
            )
        )
