"""
Beliefs about objects beyond what scenes contain: records, and the facts that they are in scenes.

Source: Chen et al., LLM-State, section IV-B: objects with attributes in plain words, and a summary
of what has happened. In scenes beliefs are estimated facts, which never overwrite, contradict or
repeat a sensed one, and are about objects of the scene only. design/open-state.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.types import Fact, Scene
from bbllm.planners.domains.scene_graph import is_open, sensed_only


@dataclass(frozen=True, slots=True)
class OpenState:
    """The relevant objects with their attributes; immutable."""

    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attributes such as `warm` by the object's name in the scene, in order of addition."""
    summary: str = ''
    """What has happened so far and why steps failed; may be empty."""

    def with_objects(self, names: Iterable[str]) -> OpenState:
        """Add objects without attributes; those already present stay unchanged."""
        new = {name: self.attributes.get(name, ()) for name in names}
        return OpenState({**self.attributes, **new}, self.summary)

    def with_attributes(self, name: str, words: Sequence[str]) -> OpenState:
        return OpenState({**self.attributes, name: tuple(words)}, self.summary)

    def blank(self) -> OpenState:
        """Remove all attributes and the summary, and keep the objects."""
        return OpenState(dict.fromkeys(self.attributes, ()))


def open_facts(state: OpenState, scene: Scene) -> tuple[Fact, ...]:
    """Return the beliefs about objects of a scene that sensing does not rule out, as facts."""
    names = {*scene.names}
    believed = (
        _fact(name, word)
        for name, words in state.attributes.items()
        for word in words
        if name in names and names.issuperset(word.split()[1:])
    )
    sensed = [fact for fact in scene.facts if not is_open(fact)]
    return tuple(fact for fact in believed if not any(_rules_out(known, fact) for known in sensed))


def with_open_facts(scene: Scene, state: OpenState) -> Scene:
    return replace(scene, facts=(*sensed_only(scene).facts, *open_facts(state, scene)))


def _fact(name: str, word: str) -> Fact:
    """Return a belief as a fact: `warm`, or a comparison such as `heavier_than blue_cube`."""
    relation, _, other = word.partition(' ')
    return Fact(name, *((relation, other) if other else ('is', word)), estimated=True)


def _rules_out(known: Fact, believed: Fact) -> bool:
    """Return whether a sensed fact equals a belief, or excludes it."""
    if known.subject != believed.subject:
        return False
    if believed.predicate != 'is':
        return known.predicate == believed.predicate
    if (known.predicate, known.object) == ('reachable', 'yes'):
        return believed.object == 'out_of_workspace'
    return (known.predicate, known.object) == ('is', believed.object)
