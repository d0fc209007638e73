"""Plays one episode in this process: physics, models, planner and judge put together."""

from __future__ import annotations

import json
import zlib

from bbllm.bench.case import Case
from bbllm.bench.episode_models import open_models
from bbllm.bench.playing import Job, Played
from bbllm.bench.safety import SafetyRecorder
from bbllm.bench.scoring import score
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import BbllmError
from bbllm.core.records import to_json
from bbllm.core.registry import find_planner
from bbllm.core.tasks import make_task
from bbllm.core.types import Event, Scene
from bbllm.planners.assembly import build_planner, heard_by
from bbllm.planners.bodies import MappingMethod, body_name
from bbllm.worlds.tabletop import TabletopWorld


def play(job: Job) -> Played:
    """Play an episode on a simulated table of its own; see `playing.Play`."""
    make_planner = find_planner(job.setup.planner)
    mapping = MappingMethod(job.setup.mapping)
    with open_models(job) as given:
        models = given.models
        safety = SafetyRecorder(job.case.scene)
        world = TabletopWorld(job.case.scene, seed=noise_seed(job.case), wrap_driver=safety.wrap)
        journal = JournalText()
        run = EpisodeRun(
            make_task(job.case.instruction, job.key.name),
            planner=job.setup.planner,
            brain=models.brain.name,
            body=body_name(mapping, models),
            limits=job.setup.limits,
            sinks=[journal],
            settings=settings_of(job, 'tabletop'),
        )
        before = world.observe()
        try:
            with heard_by(run):
                planner = build_planner(run, make_planner, models, job.key.k, mapping)
                episode = run.execute(planner, world)
            after = _settled(world)
        finally:
            world.close()
        result = score(
            job, episode, before=before, after=after, robot_s=world.time_s, unsafe=safety.count()
        )
        return Played(result=result, journal=journal.text, recording=given.recording())


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


def _settled(world: TabletopWorld) -> Scene | None:
    try:
        world.settled()
        return world.observe()
    except BbllmError:
        # The episode says already that the world was lost, or it was lost while it settled;
        # either way there is no table to judge.
        return None
