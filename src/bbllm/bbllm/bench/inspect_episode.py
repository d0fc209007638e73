"""Plays one sample of inspect_ai: an episode on a simulated table, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from anyio import from_thread

from bbllm.bench.inspect_model import STOPPED
from bbllm.bench.play_tabletop import noise_seed, settings_of
from bbllm.bench.playing import Job
from bbllm.bench.results import EpisodeResult
from bbllm.bench.safety import SafetyRecorder
from bbllm.bench.scoring import score
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import BbllmError, CancelledError
from bbllm.core.protocols import EventSink
from bbllm.core.registry import find_planner
from bbllm.core.tasks import make_task
from bbllm.core.types import Outcome, Scene, Skill, SkillCall
from bbllm.llm.config import Models
from bbllm.planners.assembly import build_planner
from bbllm.planners.bodies import MappingMethod, body_name
from bbllm.worlds.tabletop import TabletopWorld

PHYSICS = threading.Lock()
"""Held while a world of this process moves or is looked at: samples run side by side in threads,
where models are what takes time, and not all of MuJoCo's users here were made for threads."""
LOOK_S = 0.1
"""How often somebody who waits for the physics looks whether the sample was stopped [s]."""


def play_sample(job: Job, models: Models, sink: EventSink) -> EpisodeResult:
    """
    Play an episode to its end and judge it; to be called in a worker thread of anyio.

    Where its sample is stopped, the arm stops within 20 ms of its own time.

    Args:
        job: What to play; `models` answer in place of those that its setup names.
        models: Who answers.
        sink: Told every event.
    """
    run: EpisodeRun | None = None

    def look() -> None:
        if run is not None and _stopped():
            run.cancel(STOPPED)

    mapping = MappingMethod(job.setup.mapping)
    with _physics():
        safety = SafetyRecorder(job.case.scene)
        table = TabletopWorld(
            job.case.scene,
            seed=noise_seed(job.case),
            on_advance=look,
            wrap_driver=safety.wrap,
        )
        before = table.observe()
    run = EpisodeRun(
        make_task(job.case.instruction, job.key.name),
        planner=job.setup.planner,
        brain=models.brain.name,
        body=body_name(mapping, models),
        limits=job.setup.limits,
        sinks=[sink],
        settings={**settings_of(job, 'tabletop'), 'runner': 'inspect_ai'},
    )
    try:
        planner = build_planner(run, find_planner(job.setup.planner), models, job.key.k, mapping)
        episode = run.execute(planner, TakingTurns(table))
        with _physics():
            after = _settled(table)
            unsafe = safety.count()
    finally:
        table.close()
    return score(job, episode, before=before, after=after, robot_s=table.time_s, unsafe=unsafe)


class TakingTurns:
    """A World that moves and looks only while no other one of this process does."""

    def __init__(self, table: TabletopWorld):
        self._table = table

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that `execute` knows."""
        return self._table.skills

    def observe(self) -> Scene:
        """Return the scene as it is now."""
        with _physics():
            return self._table.observe()

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call to its end and tell what happened."""
        with _physics():
            return self._table.execute(call)

    def stop(self) -> None:
        """Stop the call that runs now; waits for nobody."""
        self._table.stop()


@contextmanager
def _physics() -> Iterator[None]:
    while not PHYSICS.acquire(timeout=LOOK_S):
        if _stopped():
            raise CancelledError(STOPPED)
    try:
        yield
    finally:
        PHYSICS.release()


def _stopped() -> bool:
    """Tell whether inspect_ai has cancelled the sample that this thread works for."""
    try:
        from_thread.check_cancelled()
    except BaseException:
        # Which class it is, is up to the event loop; it is only asked for here, not obeyed.
        return True
    return False


def _settled(table: TabletopWorld) -> Scene | None:
    if _stopped():
        return None
    try:
        table.settled()
        return table.observe()
    except BbllmError:
        # As in play_tabletop: no table to judge, and the episode says why.
        return None
