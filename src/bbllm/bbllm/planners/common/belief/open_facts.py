"""
The open state as estimated facts of a scene, beside the sensed ones.

(red_cube is failed_grasp_twice), (red_cube heavier_than blue_cube). Beliefs never overwrite,
contradict or repeat a sensed fact, and are about objects of the scene only. `belief_grammar`
defines the words of a belief.
"""

from __future__ import annotations

from dataclasses import replace

from bbllm.core.types import Fact, Scene
from bbllm.planners.common.belief.belief_grammar import core, read_belief
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.scene_graph import is_open, sensed_only

LONGEST = 60
"""Maximum length of an attribute [characters]."""
MOST_WORDS = 12
"""Only the first attributes of an object become facts."""

OPPOSITES = (('open', 'closed'), ('on', 'off'), ('clean', 'dirty'), ('plugged_in', 'plugged_out'))
"""States that exclude each other."""


def open_facts(state: OpenState, scene: Scene) -> tuple[Fact, ...]:
    """Return the beliefs about objects of a scene that sensing does not rule out, as facts."""
    names = frozenset(scene.names)
    sensed = [fact for fact in scene.facts if not is_open(fact)]
    facts: dict[Fact, None] = {}
    for name, words in state.attributes.items():
        if name not in names:
            continue
        for word in words[:MOST_WORDS]:
            fact = _fact(name, word, names)
            if fact is not None and not any(_rules_out(known, fact) for known in sensed):
                facts[fact] = None
    return tuple(facts)


def malformed_beliefs(state: OpenState, scene: Scene) -> tuple[tuple[str, str], ...]:
    """Return objects of a scene with attributes that are no belief; see `belief_grammar`."""
    names = frozenset(scene.names)
    return tuple(
        (name, word)
        for name, words in state.attributes.items()
        for i, word in enumerate(words)
        if name in names and (i >= MOST_WORDS or _fact(name, word, names) is None)
    )


def with_open_facts(scene: Scene, state: OpenState) -> Scene:
    """Return a scene with the beliefs of a state in place of its former ones."""
    return replace(scene, facts=(*sensed_only(scene).facts, *open_facts(state, scene)))


def _fact(name: str, text: str, names: frozenset[str]) -> Fact | None:
    """Return the fact of an attribute, None if it is no belief."""
    found = read_belief(text, names) if len(text) <= LONGEST else None
    if found is None or found[1] == name:
        return None
    return Fact(name, *found, estimated=True)


def _rules_out(known: Fact, believed: Fact) -> bool:
    """Return whether a sensed fact equals a belief, is its opposite or excludes it."""
    if known.subject != believed.subject:
        return False
    if believed.predicate != 'is':
        return known.predicate == believed.predicate
    if (known.predicate, known.object) == ('reachable', 'yes'):
        return _words(believed.object) == 'out_of_workspace'
    # Both words of a pair are ruled out, so that a `not` before one of them has no effect.
    sensed, word = _words(known.object), _words(believed.object)
    return known.predicate == 'is' and (
        sensed == word or any(sensed in pair and word in pair for pair in OPPOSITES)
    )


def _words(text: str) -> str:
    return '_'.join(core(text))
