"""Checks of the clean rules beside those shared with VirtualHome's."""

from __future__ import annotations

from bbllm.worlds.household.checks import Predicate
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.situation import ActionSituation
from bbllm.worlds.household.vocabulary import HANDS, Relation, State

_PLACED = (Relation.INSIDE, Relation.ON)


def above(graph: Graph, node_id: int) -> set[int]:
    """Return everything that an object is in or on, however deep; rings end it."""
    return _all(graph, (node_id,), up=True)


def carried(graph: Graph, character: int) -> set[int]:
    """Return what goes along with a character: what it holds and wears, and what that carries."""
    roots = {held for hand in HANDS for held in graph.targets(character, hand)}
    roots.update(graph.sources(character, Relation.ON))
    return (roots | _all(graph, tuple(roots), up=False)) - {character}


def contents(graph: Graph, node_id: int) -> set[int]:
    """Return everything that is in or on an object, however deep."""
    return _all(graph, (node_id,), up=False)


def at_hand(which: int) -> Predicate:
    """Nothing that it is in, however deep, is closed; a room never counts."""

    def holds(s: ActionSituation) -> bool:
        thing = s.objects[which].id
        # What stands ON a closed cabinet is not shut in by it.
        return not any(
            State.CLOSED in s.graph.nodes[other].states and not s.graph.nodes[other].is_room
            for below in (thing, *above(s.graph, thing))
            for other in s.graph.targets(below, Relation.INSIDE)
        )

    return holds


def place_left_beside(which: int, places: dict[str, int], otherwise: int) -> Predicate:
    """Fewer objects are ON it than people find place there; the character itself not counted."""

    def holds(s: ActionSituation) -> bool:
        node = s.objects[which]
        taken = len(s.graph.sources(node.id, Relation.ON) - {s.character.id})
        return taken < places.get(node.class_name, otherwise)

    return holds


def worn(which: int) -> Predicate:
    """It is ON the character."""
    return lambda s: s.graph.has(s.objects[which].id, Relation.ON, s.character.id)


def not_under_character(which: int) -> Predicate:
    """The character is not on or in it."""
    return lambda s: s.objects[which].id not in above(s.graph, s.character.id)


def not_carried(which: int) -> Predicate:
    """The character neither holds nor wears it, nor anything that it is in or on."""
    return lambda s: s.objects[which].id not in carried(s.graph, s.character.id)


def can_go_to(which: int, place: int) -> Predicate:
    """The place is not the object itself, nor anything in or on the object."""

    def holds(s: ActionSituation) -> bool:
        thing, goal = s.objects[which].id, s.objects[place].id
        return thing != goal and thing not in above(s.graph, goal)

    return holds


def _all(graph: Graph, roots: tuple[int, ...], *, up: bool) -> set[int]:
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        node_id = waiting.pop()
        for relation in _PLACED:
            next_ids = graph.targets(node_id, relation) if up else graph.sources(node_id, relation)
            waiting.extend(next_ids - found)
            found |= next_ids
    return found
