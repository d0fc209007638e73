"""Plays one episode in this process: physics, models, planner and judge put together."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from bbllm.core.errors import BbllmError, SceneError, WorldError
from bbllm.core.events import Episode
from bbllm.core.protocols import EventSink, World
from bbllm.core.registry import uses_force
from bbllm.core.types import Scene
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.llm.models.factory import Models
from bbllm.planners.common.belief.belief_world import EstimatingWorld
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.log.episodes import EpisodeSpec, name_before
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_setup import Alone, begin_episode
from bbllm_bench.runner.picture_judge import PictureJudge, source_of
from bbllm_bench.safety.safety import SafetyRecorder
from bbllm_bench.scorers.scoring import lost, lost_before, score, with_earlier


def play_with(job: EpisodeSpec, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """
    Play an episode to its end and judge it; those that its case has before it are played first.

    Args:
        job: What to play.
        models: Who answers, whatever its config names.
        sink: Receives every event of the one that is judged.
        around: What else goes on in this process.
    """
    safety = SafetyRecorder(job.case.table)
    cancels: list[Callable[[str], None]] = []
    earlier: list[Episode] = []

    def on_advance() -> None:
        around.advanced()
        if cancels and (reason := around.stopped()):
            cancels[-1](reason)

    table = TabletopWorld(
        job.case.table,
        seed=job.case.noise_seed,
        on_advance=on_advance,
        wrap_driver=safety.wrap,
        weighs=uses_force(job.config.planner) or bool(job.case.earlier),
        make_source=source_of(job),
    )
    pictures = PictureJudge(table)
    around.opened(table)

    def execute(part: EpisodeSpec, sink: EventSink, name: str) -> Episode:
        scene = part.case.scene.name
        run, play = begin_episode(part, models, sink, around, name=name, scene=scene)
        cancels.append(run.cancel)
        return play(world)

    try:
        world = _rehearsed(_ComparedWorld(_remembered(table, job), pictures), job)
        for number, instruction in enumerate(job.case.earlier):
            part = replace(job, case=replace(job.case, instruction=instruction))
            earlier.append(execute(part, around.before(), name_before(job.key, number)))
            if (result := lost_before(job, earlier)) is not None:
                return result
        begun_s, unsafe = table.time_s, safety.count()
        before, seen = _settled(table) if job.case.earlier else _observed(table)
        before = None if before is None else pictures.begin(before, seen)
        if before is None:
            reason = 'The table could not be observed after the episodes before this one.'
            error, least = WorldError.__name__, job.case.least_loops
            result = lost(job.key, reason, error, least_loops=least, case=job.case)
            return with_earlier(result, job, earlier)
        episode = execute(job, sink, job.key.name)
        after, last = (None, None) if around.stopped() else _settled(table)
        after = None if after is None else pictures.with_names(after)
        unsafe = safety.count() - unsafe
    finally:
        table.close()
    robot_s, names = table.time_s - begun_s, pictures.names
    result = score(
        job, episode, before=before, after=after, robot_s=robot_s, unsafe=unsafe, names=names
    )
    return with_earlier(pictures.add_to(result, job, episode, last), job, earlier)


class _ComparedWorld(WorldWrapper):
    """Compares each scene that the planner receives with the truth; see `PictureJudge`."""

    DROPPED: ClassVar[Mapping[str, str]] = {
        'settle': 'the runner itself lets the table come to rest',
        'expect': 'a thread that plans ahead would decide how long calls take',
    }

    def __init__(self, inner: World, pictures: PictureJudge):
        super().__init__(inner)
        self._pictures = pictures

    def observe(self) -> Scene:
        scene = self.inner.observe()
        self._pictures.observed(scene)
        return scene


def _remembered(table: World, job: EpisodeSpec) -> World:
    """
    Return the world of a case: where it has earlier episodes, one whose scenes include beliefs.

    Who reads them is up to the planner.
    """
    return EstimatingWorld(table) if job.case.earlier else table


def _rehearsed(world: World, job: EpisodeSpec) -> World:
    """Return a world in which plans are rehearsed, where the run asks for it."""
    if not (samples := job.config.samples()):
        return world
    from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld

    settings = RehearsalSettings(
        robot=job.case.table.robot,
        samples=samples,
        seed=job.case.noise_seed or 0,
    )
    return RehearsedWorld(world, settings)


def _settled(table: TabletopWorld) -> tuple[Scene | None, Scene | None]:
    """Let the table come to rest; return what `_observed` does, None where the world was lost."""
    try:
        table.settled()
        return _observed(table)
    except BbllmError:
        # The episode says already that the world was lost, or it was lost while it settled;
        # either way there is no table to judge.
        return None, None


def _observed(table: TabletopWorld) -> tuple[Scene, Scene | None]:
    """Return the state of the table for the checker, and the scene for planners if any."""
    seen = None
    with suppress(SceneError):
        seen = table.observe()
    return table.truth(), seen
