"""Plays one episode in this process: physics, models, planner and judge put together."""

from __future__ import annotations

from bbllm.bench.episode_setup import (
    Alone,
    make_planner,
    make_run,
    noise_seed,
    play_alone,
    settings_of,
)
from bbllm.bench.playing import Job, Played
from bbllm.bench.results import EpisodeResult
from bbllm.bench.safety import SafetyRecorder
from bbllm.bench.scoring import score
from bbllm.core.errors import BbllmError
from bbllm.core.protocols import EventSink
from bbllm.core.types import (
    Outcome,
    Scene,
    Skill,
    SkillCall,
)
from bbllm.llm.config import Models
from bbllm.worlds.tabletop import TabletopWorld


def play(job: Job) -> Played:
    """Play an episode on a simulated table of its own; see `playing.Play`."""
    return play_alone(job, play_with)


def play_with(job: Job, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """
    Play an episode to its end and judge it.

    Args:
        job: What to play.
        models: Who answers, whatever the job's setup names.
        sink: Told every event.
        around: What else goes on in this process.
    """
    safety = SafetyRecorder(job.case.scene)

    def look() -> None:
        if reason := around.stopped():
            run.cancel(reason)

    with around.turn():
        table = TabletopWorld(
            job.case.scene,
            seed=noise_seed(job.case),
            on_advance=look,
            wrap_driver=safety.wrap,
        )
        # After the table, whose making is on nobody's clock; nothing advances before.
        settings = {**settings_of(job, 'tabletop'), **around.settings}
        run = make_run(job, models, sink, settings)
        before = table.observe()
    try:
        with around.hearing(run):
            planner = make_planner(run, job, models)
            episode = run.execute(planner, _TakingTurns(table, around))
        with around.turn():
            after = None if around.stopped() else _settled(table)
            unsafe = safety.count()
    finally:
        table.close()
    return score(job, episode, before=before, after=after, robot_s=table.time_s, unsafe=unsafe)


class _TakingTurns:
    """A World that moves and looks only when it is its turn."""

    def __init__(self, table: TabletopWorld, around: Alone):
        self._table = table
        self._around = around

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._table.skills

    def observe(self) -> Scene:
        with self._around.turn():
            return self._table.observe()

    def execute(self, call: SkillCall) -> Outcome:
        with self._around.turn():
            return self._table.execute(call)

    def stop(self) -> None:
        # Waits for nobody: it ends what has its turn.
        self._table.stop()


def _settled(table: TabletopWorld) -> Scene | None:
    try:
        table.settled()
        return table.observe()
    except BbllmError:
        # The episode says already that the world was lost, or it was lost while it settled;
        # either way there is no table to judge.
        return None
