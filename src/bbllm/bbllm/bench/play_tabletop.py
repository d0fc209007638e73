"""Plays one episode in this process: physics, models, planner and judge put together."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType

from bbllm.bench.case import Case
from bbllm.bench.episode_models import open_models
from bbllm.bench.playing import Job, Played
from bbllm.bench.results import EpisodeResult
from bbllm.bench.safety import SafetyRecorder
from bbllm.bench.scoring import score
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import BbllmError
from bbllm.core.events import Event
from bbllm.core.protocols import EventSink
from bbllm.core.records import to_json
from bbllm.core.registry import find_planner
from bbllm.core.tasks import make_task
from bbllm.core.types import (
    Outcome,
    Scene,
    Skill,
    SkillCall,
)
from bbllm.llm.config import Models
from bbllm.planners.assembly import build_planner, heard_by
from bbllm.planners.bodies import MappingMethod, body_name
from bbllm.worlds.tabletop import TabletopWorld


class Alone:
    """The surroundings of an episode that has its process to itself."""

    settings: Mapping[str, object] = MappingProxyType({})
    """What a journal says of them."""

    def turn(self) -> AbstractContextManager[None]:
        """Hold back other worlds of this process while the context lasts."""
        return nullcontext()

    def stopped(self) -> str:
        """Return why the episode shall end, empty while it may go on."""
        return ''

    def hearing(self, run: EpisodeRun) -> AbstractContextManager[None]:
        """Put on record what clients of models log while the context lasts."""
        return heard_by(run)


def play(job: Job) -> Played:
    """Play an episode on a simulated table of its own; see `playing.Play`."""
    with open_models(job) as given:
        journal = JournalText()
        result = play_with(job, given.models, journal, Alone())
        return Played(result=result, journal=journal.text, recording=given.recording())


def play_with(job: Job, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """
    Play an episode to its end and judge it.

    Args:
        job: What to play.
        models: Who answers, whatever the job's setup names.
        sink: Told every event.
        around: What else goes on in this process.
    """
    make_planner = find_planner(job.setup.planner)
    mapping = MappingMethod(job.setup.mapping)
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
        run = EpisodeRun(
            make_task(job.case.instruction, job.key.name),
            planner=job.setup.planner,
            brain=models.brain.name,
            body=body_name(mapping, models),
            limits=job.case.limits(job.setup.limits),
            sinks=[sink],
            settings={**settings_of(job, 'tabletop'), **around.settings},
        )
        before = table.observe()
    try:
        with around.hearing(run):
            planner = build_planner(run, make_planner, models, job.key.k, mapping)
            episode = run.execute(planner, _TakingTurns(table, around))
        with around.turn():
            after = None if around.stopped() else _settled(table)
            unsafe = safety.count()
    finally:
        table.close()
    return score(job, episode, before=before, after=after, robot_s=table.time_s, unsafe=unsafe)


class JournalText:
    """Keeps the events of one episode as the text of its journal."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __call__(self, event: Event) -> None:
        """Append one event."""
        self._lines.append(json.dumps(to_json(event), ensure_ascii=False) + '\n')

    @property
    def text(self) -> str:
        """All lines."""
        return ''.join(self._lines)


def noise_seed(case: Case) -> int:
    """Return the seed of the sensors' noise: the same for every planner, model and K."""
    return zlib.crc32(f'{case.suite}/{case.task}/{case.trial}/{case.seed}'.encode())


def settings_of(job: Job, world: str) -> dict[str, object]:
    """Return what a journal says about how its episode was set up."""
    return {
        'world': world,
        'suite': job.case.suite,
        'task': job.case.task,
        'trial': job.case.trial,
        'seed': job.case.seed,
        'scene': job.case.scene.name,
        'mapping': job.setup.mapping,
        'feedback_loops': job.key.k,
    }


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
