"""Samples how a simulated robot moves, for the recording beside a journal."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bbllm.bags.motion import MotionSample, MotionWriter, motion_path
from bbllm.sim.simulation import Simulation

RATE_HZ = 30.0
TOLERANCE_S = 1e-6


class MotionRecorder:
    """Reads a simulation while it steps, and changes nothing in it."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._writers: list[MotionWriter] = []
        self._next_s = 0.0

    def sample(self) -> None:
        """Write the state where a sample is due; call it as SimDriver's `on_advance` is."""
        if self._writers and self._simulation.time_s >= self._next_s - TOLERANCE_S:
            for writer in self._writers:
                self._write(writer)
            # By the time that was due, so that a coarser step keeps the rate on average.
            self._next_s = max(self._next_s + 1.0 / RATE_HZ, self._simulation.time_s - 1.0)

    @contextmanager
    def record(self, journal: Path) -> Iterator[MotionWriter]:
        """Write what moves beside a journal, with the state at the begin and at the end."""
        simulation = self._simulation
        writer = MotionWriter(
            motion_path(journal), simulation.objects(), robot=simulation.robot_model
        )
        with writer:
            self._write(writer)
            self._next_s = simulation.time_s + 1.0 / RATE_HZ
            self._writers.append(writer)
            try:
                yield writer
            finally:
                self._writers.remove(writer)
                self._write(writer)

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
