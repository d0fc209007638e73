"""Actions that there are, as sentences, and which of them a step in plain words is nearest to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from bbllm.core.errors import ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Embedder
from bbllm.core.types import Kind, Scene, Skill
from bbllm.planners.common.house_actions import PHRASES
from bbllm.planners.common.matching import SECONDS, UNTAKABLE
from bbllm.planners.common.program import Call
from bbllm.planners.common.scene_graph import HOUSEHOLD, classes
from bbllm.planners.common.similarity import Nearness
from bbllm.planners.prog_prompt.prompting import GRAB_AND_PUTIN, offered

SHORTLIST = 8
"""How many things are looked at for one step: those whose own words are nearest to it. All pairs
of all things of a house would be some ten thousand sentences for each kind of putting."""
TAKEN = ('object', 'obj1')
"""Parameters of what a hand takes."""
NEEDS: Mapping[str, frozenset[str]] = {
    'grab': frozenset({'grabbable'}),
    'putin': frozenset({'grabbable'}),
    'putback': frozenset({'grabbable'}),
    'open': frozenset({'can_open'}),
    'close': frozenset({'can_open'}),
    'switchon': frozenset({'has_switch'}),
    'switchoff': frozenset({'has_switch'}),
    'sit': frozenset({'sittable'}),
    'drink': frozenset({'drinkable', 'recipient'}),
}
"""What the first thing of an action must afford, one of them; other actions take anything."""


class Actions:
    """The actions of a scene, on classes in a household and on things elsewhere."""

    def __init__(self, scene: Scene, embedder: Embedder):
        self._nearness = Nearness(embedder)
        self._skills = offered(scene)
        house = scene.domain == HOUSEHOLD
        self._things = classes(scene) if house else list(scene.names)
        self._affords: dict[str, set[str]] = {}
        for fact in scene.facts:
            if fact.predicate == 'affords':
                self._affords.setdefault(class_of(fact.subject), set()).add(fact.object)
        stays = (*UNTAKABLE, Kind.CONTAINER)
        fixed = [item.name for item in scene.objects if item.kind in stays]
        self._untakable = frozenset() if house else frozenset(fixed)
        self._containers = {i.name for i in scene.objects if i.kind is Kind.CONTAINER}

    def nearest(self, text: str) -> Call:
        """
        Return the admissible action whose sentence is nearest to a step.

        Raises:
            ParseError: There is nothing to do in the scene.
            ModelError: The embedder could not be reached.
        """
        words = {_words(thing): thing for thing in self._things}
        near = [words[item] for item in self._nearness.ranked(text, words)[:SHORTLIST]]
        calls = {self.phrase(call): call for call in self._on(near)}
        if not calls:
            raise ParseError('The scene has no skills that a step could be near.')
        return calls[self.nearest_of(text, [*calls])]

    def nearest_of(self, text: str, others: Sequence[str]) -> str:
        """Return which of other texts, of which there is at least one, is nearest to a text."""
        return self._nearness.ranked(text, others)[0]

    def phrase(self, call: Call) -> str:
        """Write an action as a sentence would say it."""
        things = [_words(arg) for arg in call.args]
        form = PHRASES.get(call.verb, ' '.join([_words(call.verb), *['{}'] * len(things)]))
        return form.format(*things)

    def _on(self, things: Sequence[str]) -> Iterator[Call]:
        for skill in self._skills:
            for args in self._arguments(skill, things):
                if self._is_admissible(skill, args):
                    yield Call(skill.name, args)

    def _arguments(self, skill: Skill, things: Sequence[str]) -> Iterator[tuple[str, ...]]:
        if skill.params == ('seconds',):
            yield (SECONDS,)
        else:
            yield from permutations(things, len(skill.params))

    def _is_admissible(self, skill: Skill, args: tuple[str, ...]) -> bool:
        if not args:
            return True
        if skill.params[0] in TAKEN and args[0] in self._untakable:
            return False
        if skill.name == GRAB_AND_PUTIN and args[1] not in self._containers:
            return False
        needed = NEEDS.get(skill.name)
        return (
            needed is None or not self._affords or bool(needed & self._affords.get(args[0], set()))
        )


def _words(name: str) -> str:
    return ' '.join(name.replace('_', ' ').split())
