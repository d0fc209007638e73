"""Which object a word means: a model writes `salmon`, and the scene has three."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from bbllm.core.arguments import KINDS
from bbllm.core.events import WordGrounded
from bbllm.core.observation import lost_names
from bbllm.core.skill_calls import CallError, check_call, is_pose_like, nearest_first, plain
from bbllm.core.types import Code, Scene, Skill, SkillCall
from bbllm.planners.domains.scene_graph import (
    classes,
    meant_by,
    scene_graph,
    squeezed,
    unsearched,
    whereabouts,
)


class Policy(StrEnum):
    """How one of several objects of a class is chosen."""

    NEAREST = 'nearest'
    """The one that the action needs least effort for, see `effort`."""
    RANDOM = 'random'
    """Any of them, as in the published program of ProgPrompt."""


def meaning_text(policy: Policy) -> str:
    """Return how prompts state which object a class means; see `Referents`."""
    if policy is Policy.RANDOM:
        return 'A name means one object of its kind, drawn at random where there are several.'
    return (
        'A name means one object of its kind: of several the one in a hand where one is put or '
        'used, then the one that the last walk went to, then the nearest (close by, in the same '
        'room, in other rooms; what is inside something closed comes last). For another one, walk '
        'first to its room, or to something on it or beside it, and then to it.'
    )


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


class ChoiceRecord(Protocol):
    """What choices are put on record by; an episode is one."""

    def emit(self, data: WordGrounded) -> None:
        """Record a choice."""
        ...


def ground(
    word: str,
    scene: Scene,
    policy: Policy,
    rng: Random,
    *,
    context: ChoiceRecord,
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


PUTTING = frozenset({'putin', 'putback', 'pour'})
"""Skills whose first object must be in a hand."""
_LISTED = 10
"""How many of the nearest classes an error lists."""


@dataclass
class Referents:
    """
    Decides which objects the words of a program mean, call by call.

    As in the published program: a skill that goes to an object chooses by the policy; an object
    to put somewhere must be in a hand, unless `put_unheld` leaves it to the world to refuse it;
    any other word means the object last gone to, the only one, or the choice of the policy.
    Unlike there, `nearest` never grabs what is in a hand already, and handles what is in one.
    """

    policy: Policy
    rng: Random
    context: ChoiceRecord
    put_unheld: bool = False
    found: str | None = None
    """The object that the program last went to."""

    def resolve(self, call: SkillCall, scene: Scene) -> SkillCall:
        """Return the call in the scene's own names; raise CallError if there is none."""
        verb = plain(call.skill)
        known = (s for s in scene.skills if verb in (plain(s.name), *map(plain, s.aliases)))
        skill = next(known, None)
        if skill is None or len(call.args) != len(skill.params):
            return check_call(call, scene)  # raises the right error
        args = tuple(
            self._object(i, skill, word, call, scene) if _names(param, word) else word
            for i, (param, word) in enumerate(zip(skill.params, call.args, strict=True))
        )
        return check_call(SkillCall(skill.name, args), scene)

    def _object(self, i: int, skill: Skill, word: str, call: SkillCall, scene: Scene) -> str:
        names = meant_by(word, scene.names)
        held = meant_by(word, scene_graph(scene).held)
        if skill.name in PUTTING and i == 0:
            if held:
                chosen = choose(held, scene, self.policy, self.rng)
                return self._grounded(word, chosen, 'held', len(held))
            if names and not self.put_unheld:
                why = f'so {call.skill} can put it nowhere; it has to be grabbed before.'
                raise CallError(call, Code.NOT_HOLDING, f'{word[:60]} is not in a hand, {why}')
        if skill.name not in GOING and self.found and self._recalls(skill, names, held):
            return self._grounded(word, self.found, 'found', len(names))
        name = ground(word, scene, self.policy, self.rng, context=self.context, skill=skill.name)
        if name is None:
            if plain(word) in map(plain, lost_names(scene)):
                return word  # `check_call` reports where it was last seen
            raise CallError(call, Code.UNKNOWN_OBJECT, absent_text(word, scene))
        if skill.name in GOING:
            self.found = name
        return name

    def _recalls(self, skill: Skill, names: Sequence[str], held: Sequence[str]) -> bool:
        """Whether a word that means one of `names` can mean the object last gone to."""
        if self.found not in names or self.policy is Policy.RANDOM:
            return self.found in names
        if self.found in held:
            return skill.name not in FETCHING or len(names) == 1
        return skill.name not in HANDLING or not held

    def _grounded(self, word: str, name: str, policy: str, among: int) -> str:
        if name != word:
            self.context.emit(WordGrounded(word, name, policy=policy, among=among))
        return name


def absent_text(word: str, scene: Scene) -> str:
    """Return that a word names no object, and the nearest names, or where it may be."""
    known, part = classes(scene), squeezed(word)
    # `bread` is part of `breadslice`, and yet less like it than `bed`.
    alike = [name for name in known if part and part in squeezed(name)]
    if scene.whole:
        near = [*alike, *(name for name in nearest_first(word, known) if name not in alike)]
        names = ', '.join(near[:_LISTED])
        return f'There is no {word[:60]!r} in the scene. The nearest names: {names}.'
    alike = alike or difflib.get_close_matches(part, known)
    hint = f' The nearest names: {", ".join(alike[:_LISTED])}.' if alike else ''
    rooms, closed = unsearched(scene)
    where = [f'the rooms {", ".join(rooms)}'] if rooms else []
    where += [f'what is inside the closed {", ".join(closed)}'] if closed else []
    left = f' Not seen yet: {"; ".join(where)}.' if where else ''
    return f'No {word[:60]!r} was seen so far.{hint}{left}'


def meant_text(call: SkillCall, made: SkillCall, scene: Scene) -> str:
    """Return where the objects of a call are that were chosen among several; '' for none."""
    chosen = [
        (word if len(call.args) > 1 else 'one', name)
        for word, name in zip(call.args, made.args, strict=True)
        if len(meant_by(word, scene.names)) > 1
    ]
    if not chosen:
        return ''
    around = scene_graph(scene)
    in_hand = around.held if made.skill in HANDLING else ()  # of which it goes without saying
    return ' and '.join(
        f'the {word} {whereabouts(name, around)}' for word, name in chosen if name not in in_hand
    )


def _names(param: str, word: str) -> bool:
    """Return whether an argument names an object: seconds and poses do not."""
    return param not in KINDS and not (param == 'target' and is_pose_like(word))
