"""An episode of the bench that a person watches."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from bbllm.cli.support.supervision import REASON
from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import World
from bbllm.sim.motion_recorder import MotionRecorder
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.runner.episode_setup import Alone


class WatchedEpisode(Alone):
    """An episode that may be stopped, and whose motion is written beside its journal."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._run: EpisodeRun | None = None
        self._motion: MotionRecorder | None = None
        self._reason = ''

    def stop(self) -> None:
        self._reason = REASON
        if self._run is not None:
            self._run.cancel(REASON)

    def stopped(self) -> str:
        return self._reason

    def opened(self, world: World) -> None:
        if isinstance(world, TabletopWorld):
            self._motion = MotionRecorder(world.robot.simulation)

    def advanced(self) -> None:
        if self._motion is not None:
            self._motion.sample()

    @contextmanager
    def hearing(self, run: EpisodeRun) -> Iterator[None]:
        self._run = run
        motion = nullcontext() if self._motion is None else self._motion.record(self._journal)
        with motion, super().hearing(run):
            yield
