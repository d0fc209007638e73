"""Worlds in this process: the simulated table of a scene, or a house."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.api.config import ARMS, EpisodeConfig
from bbllm.api.session import Seen
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.plugins import load_part
from bbllm.core.protocols import World
from bbllm.core.registry import uses_force
from bbllm.core.types import Scene
from bbllm.scene.sources import NO_TROUBLE, TRUTH

if TYPE_CHECKING:
    from bbllm.bags.motion import MotionWriter
    from bbllm.sim.driver import SimDriver
    from bbllm.worlds.tabletop.object_source import ObjectSource


@dataclass(frozen=True, slots=True)
class Settled:
    """A table or house at rest."""

    scene: Scene
    """By the state of the simulator."""
    seen: Scene | None = None
    """The scene from pictures, where scenes come from them."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A world in this process, and what can be done with it beyond the seam."""

    world: World
    clock: Callable[[], float]
    """The world's clock [s]."""
    settle: Callable[[], Settled]
    """Lets time pass until nothing moves, and returns the scene."""
    render: Callable[[Path], None]
    """Draws a table as it is now into a PNG file; raises BbllmError where it cannot."""
    record: Callable[[Path], AbstractContextManager[MotionWriter]] | None = None
    """Writes how arm and objects move beside a journal, and what cameras saw; None in a house."""
    snapshot: Callable[[], Seen] = Seen
    """Returns where arm and objects are, while they move; nothing in a house."""
    approved: bool = False
    """Whether nothing may move that a person did not approve."""


@contextmanager
def open_stage(options: EpisodeConfig) -> Iterator[Stage]:
    """
    Build the simulated table of a scene, with a window where one is asked for, or a house.

    Or connect to a robot; then the session has to ask for approval where the stage says so.
    """
    if options.robot:
        with load_part(ARMS, options.robot)(options) as stage:
            yield stage
        return
    check_sources(options)
    if options.house:
        yield _household(options)
        return
    from bbllm.bags.motion_recorder import MotionRecorder
    from bbllm.sim.render import save_picture, viewer
    from bbllm.worlds.tabletop.object_source import CameraSource
    from bbllm.worlds.tabletop.tabletop import TabletopWorld

    watchers: list[Callable[[], None]] = []

    def show() -> None:
        for watch in watchers:
            watch()

    speed = float(options.viewer) if options.speed is None else options.speed
    world = TabletopWorld(
        options.scene,
        seed=options.seed,
        speed=speed,
        on_advance=show,
        weighs=uses_force(options.planner),
        safety=options.envelope,
        make_source=source_of(options),
    )

    def settle() -> Settled:
        world.settled()
        seen = world.observe()
        return Settled(world.truth(), seen if by_pictures(options) else None)

    def render(path: Path) -> None:
        with world.robot.paused() as simulation:
            save_picture(simulation, path)

    def snapshot() -> Seen:
        with world.robot.paused() as simulation:
            state, objects = simulation.joint_state(), simulation.objects()
        pictures = {} if marked is None else marked.newest()
        return Seen(None, objects, state.position_rad, state.width_m, pictures)

    marked = world.source.marked if isinstance(world.source, CameraSource) else None

    @contextmanager
    def record(journal: Path) -> Iterator[MotionWriter]:
        with motion.record(journal) as writer, ExitStack() as pictures:
            if marked is not None:
                pictures.enter_context(marked.recorded(journal))
            yield writer

    with ExitStack() as stack:
        stack.callback(world.close)
        motion = MotionRecorder(world.robot.simulation)
        watchers.append(motion.sample)
        if options.viewer:
            watchers.append(stack.enter_context(viewer(world.robot)).sync)
        yield Stage(world, lambda: world.time_s, settle, render, record, snapshot)


def _household(options: EpisodeConfig) -> Stage:
    from bbllm.worlds.household.household import Mode
    from bbllm.worlds.household.visibility import visibility_of
    from bbllm.worlds.household.world import HouseholdWorld, name_of

    modes = {mode.value: mode for mode in Mode}
    if options.mode not in modes:
        raise UnknownNameError('mode', options.mode, modes)
    world = HouseholdWorld(
        options.house,
        mode=modes[options.mode],
        visibility=visibility_of(options.visibility),
    )
    if dropped := world.household.dropped:
        pairs = ', '.join(
            ' in '.join(name_of(world.graph, node_id) for node_id in edge) for edge in dropped[:4]
        )
        logging.getLogger('bbllm').warning(
            f'{options.house}: {len(dropped)} edges INSIDE that form rings are left out '
            f'({pairs}{", ..." * (len(dropped) > 4)}); the other modes keep them.'
        )
    return Stage(world, lambda: world.time_s, lambda: Settled(world.observe()), lambda path: None)


def by_pictures(options: EpisodeConfig) -> bool:
    """Whether scenes come from pictures."""
    return options.sources != TRUTH


def check_sources(options: EpisodeConfig) -> None:
    """Raise ConfigError where pictures are asked for in a house, or trouble without pictures."""
    if not by_pictures(options) and options.trouble != NO_TROUBLE:
        raise ConfigError(
            f'The trouble {options.trouble} is for pictures: choose camera as sources '
            "(--sources camera, or sources='camera' in Python), or leave it out."
        )
    if by_pictures(options) and options.house:
        raise ConfigError(
            'A household is symbols, of which there are no pictures: leave sources out.'
        )


def source_of(options: EpisodeConfig) -> Callable[[SimDriver], ObjectSource] | None:
    """Return what makes the source of objects; None for the simulator's state."""
    if not by_pictures(options):
        return None
    from bbllm.scene.scene_file import load_scene

    camera_source = load_part('bbllm.sources', 'camera')
    source: Callable[[SimDriver], ObjectSource] = camera_source(
        load_scene(options.scene), trouble=options.trouble, seed=options.seed
    )
    return source
