"""Which object a word means: a model writes `salmon`, and the scene has three."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random

from bbllm.core.events import WordGrounded
from bbllm.core.protocols import EpisodeContext
from bbllm.core.types import Scene
from bbllm.planners.common.scene_graph import meant_by, scene_graph


class Policy(str, Enum):
    """How one of several objects of a class is chosen."""

    RANDOM = 'random'
    """Any of them, as in the published program of ProgPrompt."""
    NEAREST = 'nearest'
    """One within reach, else one in the same room, else the first in the scene."""
    HELD_FIRST = 'held_first'
    """One in a hand, else the nearest."""


@dataclass(frozen=True, slots=True)
class GroundingOptions:
    """Options of planners whose model answers in classes."""

    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""


def ground(
    word: str, scene: Scene, policy: Policy, rng: Random, *, context: EpisodeContext
) -> str | None:
    """
    Return the name of the object that a word means, a class or a name; None if there is none.

    A choice is an event, because it affects whether a plan works as much as the plan does.
    """
    names = meant_by(word, scene.names)
    if not names:
        return None
    name = choose(names, scene, policy, rng)
    if name != word:
        context.emit(WordGrounded(word, name, policy=policy.value, among=len(names)))
    return name


def choose(names: Sequence[str], scene: Scene, policy: Policy, rng: Random) -> str:
    if policy is Policy.RANDOM:
        return rng.choice(names)
    around = scene_graph(scene)
    here = around.rooms.get(around.character or '')

    def distance(name: str) -> int:
        if policy is Policy.HELD_FIRST and name in around.held:
            return 0
        if name in around.close or name in around.held:
            return 1
        return 2 if here is not None and here in (name, around.rooms.get(name)) else 3

    return min(names, key=distance)  # of equals the first in the scene
