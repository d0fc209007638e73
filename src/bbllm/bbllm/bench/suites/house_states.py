"""What things of a house can come to be, where they can go and who can rest on them."""

from __future__ import annotations

from collections.abc import Mapping, Set

from bbllm.worlds.household.checks import above
from bbllm.worlds.household.derived import WORDS, can_become
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import CHARACTER, HANDS, Property, State

HELD_ANYWAY = ('water', 'child')
"""Classes that can be grabbed without the property, as in the rules of the world."""
OPENED_ANYWAY = ('desk', 'window')
"""Classes that can be opened without the property."""
OPPOSITES = (('on', 'off'), ('open', 'closed'), ('plugged_in', 'plugged_out'), ('dirty', 'clean'))
"""States of which a thing has one at a time."""
_NEEDS: Mapping[str, Property] = {
    **dict.fromkeys(('on', 'off'), Property.HAS_SWITCH),
    **dict.fromkeys(('open', 'closed'), Property.CAN_OPEN),
    **dict.fromkeys(('plugged_in', 'plugged_out'), Property.HAS_PLUG),
}
_OTHER = {**dict(OPPOSITES), **{other: word for word, other in OPPOSITES}}
_RESTING = ('sitting', 'lying')


def fits(graph: Graph, node_id: int, word: str) -> bool:
    """Tell whether a thing can have a state at all: by its properties, or since it has it."""
    node = graph.nodes[node_id]
    if State(word.upper()) in node.states:
        return True
    if word in _RESTING:
        return node.class_name == CHARACTER
    if word not in _NEEDS:
        return True
    opens = word in ('open', 'closed') and node.class_name in OPENED_ANYWAY
    return opens or _NEEDS[word] in node.properties


def can_be(
    graph: Graph, node_id: int, word: str, at_first: Set[str], by: str | None = None
) -> bool:
    """
    Tell whether a thing can come to be so, by what actions and devices do.

    Args:
        graph: The house.
        node_id: The thing.
        word: A state, or one of `derived.WORDS`.
        at_first: States that a task gives to the thing's class.
        by: Class of the device that has to make it so; None: any.
    """
    if word in WORDS:
        return can_become(graph, node_id, word, by)
    now = {state.value.lower() for state in graph.nodes[node_id].states}
    # What a task gives takes the place of its opposite.
    now = {each for each in now if _OTHER.get(each) not in at_first} | at_first
    if word in now:
        return True
    if not fits(graph, node_id, word) or word == 'dirty':
        return False
    # A switch that is neither on nor off cannot be switched; what is washed is clean anyway.
    return word not in _NEEDS or _OTHER[word] in now


def can_be_held(graph: Graph, node_id: int) -> bool:
    """Tell whether a thing can come into a hand, or is in one."""
    node = graph.nodes[node_id]
    return (
        node.class_name in HELD_ANYWAY
        or Property.GRABBABLE in node.properties
        or any(graph.sources(node_id, hand) for hand in HANDS)
    )


def can_go(graph: Graph, node_id: int) -> bool:
    """Tell whether a thing can be elsewhere: it walks, is carried, or is on what is carried."""
    return any(
        graph.nodes[each].class_name == CHARACTER or can_be_held(graph, each)
        for each in (node_id, *above(graph, node_id))
    )


def can_rest_on(graph: Graph, node_id: int, posture: str) -> bool:
    """Tell whether a person can sit or lie on a thing."""
    wanted = Property.SITTABLE if posture == 'sitting' else Property.LIEABLE
    return wanted in graph.nodes[node_id].properties
