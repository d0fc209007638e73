"""Where the scenes of an episode in this process come from: the simulator's state, or pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bbllm.api.config import EpisodeConfig
from bbllm.core.errors import ConfigError
from bbllm.scene.sources import NO_TROUBLE, TRUTH

if TYPE_CHECKING:
    from bbllm.sim.driver import SimDriver
    from bbllm.worlds.tabletop.object_source import ObjectSource


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
    from bbllm.core.plugins import load_part
    from bbllm.scene.scene_file import load_scene

    camera_source = load_part('bbllm.sources', 'camera')
    source: Callable[[SimDriver], ObjectSource] = camera_source(
        load_scene(options.scene), trouble=options.trouble, seed=options.seed
    )
    return source
