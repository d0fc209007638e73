"""Which object a word means: a model writes `salmon`, and the scene has three."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from bbllm.core.events import WordGrounded
from bbllm.core.protocols import EpisodeContext
from bbllm.core.types import Scene
from bbllm.planners.domains.scene_graph import meant_by, scene_graph


class Policy(StrEnum):
    """How one of several objects of a class is chosen."""

    NEAREST = 'nearest'
    """The one that the action needs least effort for, see `effort`."""
    RANDOM = 'random'
    """Any of them, as in the published program of ProgPrompt."""


@dataclass(frozen=True, slots=True)
class GroundingOptions:
    """Options of planners whose model answers in classes."""

    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""


GOING = frozenset({'find', 'walk', 'run', 'walktowards'})
"""Skills that go to an object."""
FETCHING = GOING | {'grab'}
"""Skills for an object that is in no hand yet."""
HANDLING = frozenset(
    {
        *('putin', 'putback', 'putobjback', 'pour', 'drop', 'release', 'puton', 'read', 'drink'),
        'eat',
    }
)
"""Skills whose first object is in a hand, or may be."""


def ground(
    word: str,
    scene: Scene,
    policy: Policy,
    rng: Random,
    *,
    context: EpisodeContext,
    skill: str = '',
) -> str | None:
    """
    Return the name of the object that a word means, a class or a name; None if there is none.

    `skill` is the action that the object is for, '' if none. A choice is an event, because it
    affects whether a plan works as much as the plan does.
    """
    names = meant_by(word, scene.names)
    if not names:
        return None
    name = choose(names, scene, policy, rng, skill)
    if name != word:
        context.emit(WordGrounded(word, name, policy=policy.value, among=len(names)))
    return name


def choose(
    names: Sequence[str], scene: Scene, policy: Policy, rng: Random, skill: str = ''
) -> str:
    if policy is Policy.RANDOM:
        return rng.choice(names)
    if len(names) == 1:
        return names[0]
    around = scene_graph(scene)
    here, hidden = around.rooms.get(around.character or ''), around.hidden

    def order(name: str) -> int:
        return effort(
            skill,
            held=name in around.held,
            hidden=name in hidden,
            close=name in around.close,
            here=here is not None and here in (name, around.rooms.get(name)),
        )

    return min(names, key=order)  # of equals the first in the scene


def effort(skill: str, *, held: bool, hidden: bool, close: bool, here: bool) -> int:
    """
    Return how far an object is from being used for an action, as an order: the least is nearest.

    What is in a hand comes first where the action handles it, and last where the action fetches
    something. Otherwise what is close comes before what is in the same room and the rest, and
    all that is visible before what is inside something closed, which has to be opened first.
    """
    if held and skill in HANDLING:
        return 0
    if held and skill in FETCHING:
        return 7
    distance = 1 if close or held else 2 if here else 3
    return distance + 3 * hidden
