"""One episode in this process: world, models and planner put together, run and stoppable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbllm.cli.support.supervision import supervise
from bbllm.cli.views.output import Output
from bbllm.cli.views.picture_files import rendering_of
from bbllm.core.budget import Limits
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.core.events import Episode
from bbllm.core.journal import JournalWriter, read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import World
from bbllm.core.registry import find_planner
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene
from bbllm.planners.common.methods import MappingMethod

if TYPE_CHECKING:
    from bbllm.llm.models.factory import Models


SCENE = 'tabletop'
HOUSE = 'family_flat'
MODE = 'sane'
VISIBILITY = 'full'
PLANNER = 'brain_body'
FEEDBACK_LOOPS = 3
STEPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person chose for one episode."""

    scene: str = SCENE
    """Name of a scene, or the path of a scene file."""
    house: str = ''
    """Name of a house, or the path of its file: a household in place of the table."""
    mode: str = MODE
    """The rules of a house, a value of worlds.household.household.Mode."""
    visibility: str = VISIBILITY
    """How much of a house is known, a word of worlds.household.visibility.SEEN."""
    planner: str = PLANNER
    brain: str | None = None
    """A provider or a model's name; None takes what config/llm.yaml says."""
    body: str | None = None
    mapping: MappingMethod = MappingMethod.AUTO
    """How steps become calls."""
    k: int = FEEDBACK_LOOPS
    """Feedback loops."""
    seed: int | None = None
    """Of the noise of the sensors; 0 where None."""
    speed: float | None = None
    """Simulated seconds per second; 0 is as fast as the simulation runs, None chooses."""
    viewer: bool = False
    record: Path | None = None
    replay: Path | None = None
    llm_config: Path | None = None
    safety: str = ''
    """File with the safety envelope, or the name of one; empty is config/safety.yaml."""
    limits: Limits = Limits()  # frozen, so sharing it is safe


@dataclass(frozen=True, slots=True)
class Ran:
    """An episode that ended, and what there is to see of it."""

    episode: Episode
    journal: Path
    interrupted: bool
    """Whether a person stopped it from the keyboard."""
    settled: Scene | None = None
    """The scene once nothing moved any more; None where the world cannot wait for that."""
    hints: tuple[str, ...] = ()
    """What people should know about pictures that could not be made."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A world in this process with what the command line wants of it beyond the seam."""

    world: World
    clock: Callable[[], float]
    """The world's clock [s]."""
    settle: Callable[[], Scene]
    """Lets time pass until nothing moves, and returns the scene."""
    render: Callable[[Path], None]
    """Draws the world as it is now into a PNG file; raises BbllmError where it cannot."""


def run_here(instruction: str, options: Options, output: Output) -> Ran:
    """
    Run one episode on the tabletop in this process, shown while it runs.

    Raises:
        BbllmError: Something that was asked for cannot be had; nothing was started then.
    """
    from bbllm.planners.assembly import (
        build_planner,
        check_brain,
        check_domain,
        check_mapping,
        heard_by,
    )
    from bbllm.planners.body.mapping import body_name

    task = make_task(instruction)
    make_planner = find_planner(options.planner)
    check_domain(options.planner, make_planner, 'household' if options.house else 'tabletop')
    models = make_chosen_models(options)
    check_brain(options.planner, models.brain)
    check_mapping(options.planner, make_planner, options.mapping)
    for notice in models.notices:
        output.say(notice, style='yellow')
    if output.live:
        output.say(
            'Furnishing the house ...' if options.house else 'Setting the table ...', style='dim'
        )
    with open_stage(options) as stage, JournalWriter(episodes_dir(), task.id) as journal:
        view = output.view(stage.clock)
        run = EpisodeRun(
            task,
            planner=options.planner,
            brain=models.brain.name,
            body=body_name(options.mapping, models),
            limits=options.limits,
            sinks=[journal, view],
            settings=_settings(options),
        )
        planner = build_planner(run, make_planner, models, options.k, options.mapping)
        with view, heard_by(run):
            episode, interrupted = supervise(run, planner, stage.world)
        if episode is None:
            # It hangs, and so may the world: there is nothing more to be had of it.
            return Ran(read_episode(journal.path), journal.path, interrupted)
        if interrupted:
            # Whoever pressed Ctrl-C wants to go.
            return Ran(episode, journal.path, interrupted)
        # Where nothing moved, a rendering would show nothing that the drawing does not.
        moved = episode.robot_s and not options.house
        rendering = rendering_of(journal.path) if moved else None
        settled, hints = _look_around(stage, rendering)
        if journal.broken:
            hints = (*hints, journal.broken)
    return Ran(episode, journal.path, interrupted, settled, hints)


def make_chosen_models(options: Options) -> Models:
    """Build what plans and what maps, from config file, options and environment."""
    from bbllm.llm.models.factory import load_config
    from bbllm.planners.body.mapping import models_for

    return models_for(
        options.mapping,
        load_config(options.llm_config),
        brain=options.brain,
        body=options.body,
        record=options.record,
        replay=options.replay,
    )


@contextmanager
def open_stage(options: Options) -> Iterator[Stage]:
    """Build the simulated table of a scene, with a window where one is asked for, or a house."""
    if options.house:
        yield _household(options)
        return
    from bbllm.arm.envelope import load_envelope
    from bbllm.sim.render import save_picture, viewer
    from bbllm.sim.scene_file import load_scene
    from bbllm.worlds.tabletop.tabletop import TabletopWorld

    window: list[Any] = []

    def show() -> None:
        for view in window:
            view.sync()

    speed = options.speed
    if speed is None:
        speed = 1.0 if options.viewer else 0.0
    world = TabletopWorld(
        load_scene(options.scene),
        seed=options.seed or 0,
        speed=speed,
        on_advance=show,
        safety=load_envelope(options.safety),
    )

    def settle() -> Scene:
        world.settled()
        return world.observe()

    def render(path: Path) -> None:
        with world.robot.paused() as simulation:
            save_picture(simulation, path)

    with ExitStack() as stack:
        stack.callback(world.close)
        if options.viewer:
            window.append(stack.enter_context(viewer(world.robot)))
        yield Stage(world, lambda: world.time_s, settle, render)


def _household(options: Options) -> Stage:
    from bbllm.worlds.household.household import Mode
    from bbllm.worlds.household.visibility import visibility_of
    from bbllm.worlds.household.world import HouseholdWorld

    modes = {mode.value: mode for mode in Mode}
    if options.mode not in modes:
        raise UnknownNameError('mode', options.mode, modes)
    world = HouseholdWorld(
        options.house,
        mode=modes[options.mode],
        visibility=visibility_of(options.visibility),
        seed=options.seed,
    )

    def render(path: Path) -> None:
        raise ConfigError(f'A household is symbols, so there is no {path.name} to draw.')

    return Stage(world, lambda: world.time_s, world.observe, render)


def _look_around(stage: Stage, rendering: Path | None) -> tuple[Scene | None, tuple[str, ...]]:
    """Return the settled scene, and why there is no rendering, if so."""
    settled: Scene | None = None
    try:
        settled = stage.settle()
        if rendering is not None:
            stage.render(rendering)
    except BbllmError as error:
        # The episode has ended and is on record; a picture is not worth its failure.
        return settled, (str(error),)
    return settled, ()


def _settings(options: Options) -> dict[str, object]:
    rules = {'mode': options.mode, 'visibility': options.visibility} if options.house else {}
    return {
        'world': 'household' if options.house else 'tabletop',
        'scene': options.house or options.scene,
        **rules,
        'seed': options.seed or 0,
        'feedback_loops': options.k,
        'mapping': options.mapping.value,
    }
