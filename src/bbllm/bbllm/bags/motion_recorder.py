"""Samples how an arm and objects move, for the recording beside a journal."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from bbllm.bags.motion import MotionSample, MotionWriter, motion_path
from bbllm.core.types import Pose, SceneObject
from bbllm.robots.robot_model import RobotModel

RATE_HZ = 30.0
TOLERANCE_S = 1e-6


class Moved(NamedTuple):
    """Where an arm and objects are at one time."""

    joints_rad: Sequence[float]
    """Shape (7,)."""
    finger_m: float
    """Distance between the fingers [m]."""
    poses: Mapping[str, Pose]
    """Of objects by name, in the frame of the base."""


class Moving(Protocol):
    """What can be sampled."""

    @property
    def robot_model(self) -> RobotModel: ...

    @property
    def time_s(self) -> float:
        """The world's clock [s]."""

    def objects(self) -> Sequence[SceneObject]:
        """Return all of the scene, where it is now."""

    def moved(self) -> Moved:
        """Return where the arm and the objects are now."""


class MotionRecorder:
    """Reads what moves, and changes nothing in it."""

    def __init__(self, source: Moving) -> None:
        self._source = source
        self._writers: list[MotionWriter] = []
        self._next_s = 0.0

    def sample(self) -> None:
        """Write the state where a sample is due; call it from one thread, whenever time passed."""
        if not self._writers:
            return
        now_s = self._source.time_s
        if now_s >= self._next_s - TOLERANCE_S:
            for writer in tuple(self._writers):
                self._write(writer)
            # By the time that was due, so that a coarser step keeps the rate on average.
            self._next_s = max(self._next_s + 1.0 / RATE_HZ, now_s - 1.0)

    @contextmanager
    def record(self, journal: Path) -> Iterator[MotionWriter]:
        """Write what moves beside a journal, with the state at the begin and at the end."""
        source = self._source
        writer = MotionWriter(motion_path(journal), source.objects(), robot=source.robot_model)
        with writer:
            self._write(writer)
            self._next_s = source.time_s + 1.0 / RATE_HZ
            self._writers.append(writer)
            try:
                yield writer
            finally:
                self._writers.remove(writer)
                self._write(writer)

    def _write(self, writer: MotionWriter) -> None:
        stamp_s, world_s = time.time(), self._source.time_s
        writer.add(MotionSample(stamp_s, world_s, *self._source.moved()))
