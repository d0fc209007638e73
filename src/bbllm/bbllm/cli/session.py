"""One episode in this process: world, models and planner put together, run and stoppable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bbllm.cli.folders import episodes_dir
from bbllm.cli.output import Output
from bbllm.cli.supervision import supervise
from bbllm.core.episode import EpisodeRun, Limits
from bbllm.core.journal import JournalWriter, read_episode
from bbllm.core.protocols import Planner, World
from bbllm.core.registry import PlannerFactory, find_planner
from bbllm.core.tasks import make_task
from bbllm.core.types import Episode

if TYPE_CHECKING:
    from bbllm.llm.config import Models


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person chose for one episode."""

    scene: str
    """Name of a scene, or the path of a scene file."""
    planner: str = 'brain_body'
    brain: str | None = None
    """A provider or a model's name; None takes what config/llm.yaml says."""
    body: str | None = None
    k: int = 3
    """Feedback loops."""
    seed: int = 0
    speed: float = 0.0
    """Simulated seconds per second; 0 is as fast as the simulation runs."""
    viewer: bool = False
    record: Path | None = None
    replay: Path | None = None
    llm_config: Path | None = None
    limits: Limits = Limits()  # noqa: RUF009  # frozen, so sharing it is safe


@dataclass(frozen=True, slots=True)
class Ran:
    """An episode that ended, and where its journal lies."""

    episode: Episode
    journal: Path
    interrupted: bool
    """Whether a person stopped it from the keyboard."""


class LocalWorld(World, Protocol):
    """A world in this process, which has a clock and is closed at the end."""

    @property
    def time_s(self) -> float:
        """The world's clock [s]."""
        ...

    def close(self) -> None:
        """Give back windows and threads."""
        ...


def run_here(instruction: str, options: Options, output: Output) -> Ran:
    """
    Run one episode on the tabletop in this process, shown while it runs.

    Raises:
        BbllmError: Something that was asked for cannot be had; nothing was started then.
    """
    task = make_task(instruction)
    make_planner = find_planner(options.planner)
    models = make_chosen_models(options)
    for notice in models.notices:
        output.say(notice, style='yellow')
    with open_world(options) as world, JournalWriter(episodes_dir(), task.id) as journal:
        view = output.view(lambda: world.time_s)
        run = EpisodeRun(
            task,
            planner=options.planner,
            brain=models.brain.name,
            body=models.body.name,
            limits=options.limits,
            sinks=[journal, view],
            settings={'world': 'tabletop', 'scene': options.scene, 'seed': options.seed},
        )
        planner = build_planner(run, make_planner, models, options.k)
        with view:
            episode, interrupted = supervise(run, planner, world)
    return Ran(episode or read_episode(journal.path), journal.path, interrupted)


def make_chosen_models(options: Options) -> Models:
    """Build Brain and Body from config file, options and environment."""
    from bbllm.llm.config import load_config, make_models

    said = {'brain': options.brain, 'body': options.body}
    return make_models(
        load_config(options.llm_config),
        record=options.record,
        replay=options.replay,
        overrides={role: name for role, name in said.items() if name is not None},
    )


@contextmanager
def open_world(options: Options) -> Iterator[LocalWorld]:
    """Build the tabletop world of a scene and close it at the end."""
    from bbllm.sim.scenes import load_scene
    from bbllm.worlds.tabletop import TabletopWorld

    scene = load_scene(options.scene)
    world = TabletopWorld(scene, seed=options.seed, speed=options.speed)
    try:
        yield world
    finally:
        world.close()


def build_planner(run: EpisodeRun, make: PlannerFactory, models: Models, k: int) -> Planner:
    """Build a planner whose models are on the episode's account."""
    from bbllm.planners.body_llm import BodyLLM

    body = BodyLLM(run.model(models.body, 'body'))
    return make(run.model(models.brain, 'brain'), body, k=k)
