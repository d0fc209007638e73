"""
The open state as triples of a scene: estimated ones, beside those that were sensed.

(red_cube is failed_grasp_twice), (red_cube heavier_than blue_cube). What was sensed is never
overwritten, contradicted or repeated, and nothing is told of what the scene does not have. Which
words are a belief at all `planners.belief_grammar` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bbllm.core.types import Fact, Scene
from bbllm.planners.common.belief_grammar import core, read_belief
from bbllm.planners.common.open_state import OpenState

LONGEST = 60
"""Characters of a word that a model believes; what is longer is no attribute."""
MOST_WORDS = 12
"""So many attributes of one thing are told, the first."""

PLACES = frozenset({'on', 'in', 'inside', 'held_by'})
"""Predicates that say where a thing is; sensing one of them rules out a belief in another."""
OPPOSITES = (('open', 'closed'), ('on', 'off'), ('clean', 'dirty'), ('plugged_in', 'plugged_out'))
"""States of which a thing has one."""
STANCES = ('lost', 'clear', 'empty')
"""What only sensing says of a thing."""
SENSING = PLACES | {
    *('occupied_by', 'left_of', 'right_of', 'in_front_of', 'behind', 'near', 'reachable'),
    *('unreachable', 'out_of_reach', 'last_seen_at', 'unseen_for', 'in_room', 'close_to'),
}
"""Predicates of facts that come from sensing, also where they are marked as estimated since the
pose was inferred."""


def open_facts(state: OpenState, scene: Scene) -> tuple[Fact, ...]:
    """Return what is believed of the things of a scene and was not sensed, as triples."""
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


def untold(state: OpenState, scene: Scene) -> tuple[tuple[str, str], ...]:
    """
    Return things of a scene with words on them that no scene can hold; see `belief_grammar`.

    What sensing says already, or says otherwise, is none of them: it could be read.
    """
    names = frozenset(scene.names)
    return tuple(
        (name, word)
        for name, words in state.attributes.items()
        for i, word in enumerate(words)
        if name in names and (i >= MOST_WORDS or _fact(name, word, names) is None)
    )


def with_open_facts(scene: Scene, state: OpenState) -> Scene:
    """Return a scene with what is believed, in place of what it told of that before."""
    return replace(scene, facts=(*sensed_only(scene).facts, *open_facts(state, scene)))


def is_open(fact: Fact) -> bool:
    """Return whether a fact is of the open state: estimated, and nothing that sensing tells."""
    if not fact.estimated or fact.predicate in SENSING:
        return False
    return not (fact.predicate == 'is' and fact.object in STANCES)


def sensed_only(scene: Scene) -> Scene:
    """Return a scene without the open state; the same one where it has none."""
    kept = tuple(fact for fact in scene.facts if not is_open(fact))
    return scene if len(kept) == len(scene.facts) else replace(scene, facts=kept)


def has_open_facts(facts: Iterable[Fact]) -> bool:
    """Return whether some facts are of the open state."""
    return any(map(is_open, facts))


def _fact(name: str, text: str, names: frozenset[str]) -> Fact | None:
    """Make a triple of an attribute; None where it is none that a scene could hold."""
    found = read_belief(text, names) if len(text) <= LONGEST else None
    if found is None or found[1] == name:
        return None
    return Fact(name, *found, estimated=True)


def _rules_out(known: Fact, believed: Fact) -> bool:
    """Return whether a sensed fact says the same, something else of that kind, or the opposite."""
    if known.subject != believed.subject:
        return False
    if believed.predicate != 'is':
        return known.predicate == believed.predicate
    if (known.predicate, known.object) == ('reachable', 'yes'):
        return _said(believed.object) == 'out_of_workspace'
    # Of a pair both words are left out, so that a `not` before one of them makes no difference.
    sensed, word = _said(known.object), _said(believed.object)
    return known.predicate == 'is' and (
        sensed == word or any(sensed in pair and word in pair for pair in OPPOSITES)
    )


def _said(text: str) -> str:
    return '_'.join(core(text))
