"""Visibility: the character sees the whole household, or what is in rooms and nothing CLOSED."""

from dataclasses import dataclass
from typing import Literal, get_args

from bbllm.core.errors import UnknownNameError
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import HANDS, Relation, State

SeenWord = Literal['full', 'all_rooms', 'rooms_seen']
"""How much is known, in words of suites and of the command line: everything; what is in nothing
CLOSED, or once was; the same of the rooms that the character has been in. All rooms are known, and
what the character carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """How much of a household is seen."""

    reach: SeenWord = 'full'
    only: frozenset[int] | None = None
    """Ids of all that can be seen at all; None: everything."""


FULL = Visibility()


def visibility_names() -> tuple[SeenWord, ...]:
    return get_args(SeenWord)


def visibility_of(word: str) -> Visibility:
    """Return what a word stands for; raises UnknownNameError where there is none."""
    for reach in visibility_names():
        if reach == word:
            return Visibility(reach=reach)
    raise UnknownNameError('visibility', word, visibility_names())


def visible(graph: Graph, visibility: Visibility) -> frozenset[int]:
    """Return the ids of what the character sees now."""
    seen = _in_view(graph, visibility)
    return seen if visibility.only is None else seen & visibility.only


def _in_view(graph: Graph, visibility: Visibility) -> frozenset[int]:
    if visibility.reach == 'full' or graph.character is None:
        return frozenset(graph.nodes)
    seen = {node_id for node_id, node in graph.nodes.items() if node.is_room}
    here = seen if visibility.reach == 'all_rooms' else _rooms_around(graph, graph.character)
    seen.add(graph.character)
    waiting = [*here, *(held for hand in HANDS for held in graph.targets(graph.character, hand))]
    opened: set[int] = set()
    while waiting:
        node_id = waiting.pop()
        seen.add(node_id)
        if node_id in opened or _hides(graph, node_id):
            continue
        opened.add(node_id)
        waiting.extend(
            item for item in graph.sources(node_id, Relation.INSIDE) if not _is_hidden(graph, item)
        )
        waiting.extend(graph.sources(node_id, Relation.ON) - opened)
    return frozenset(seen)


def _rooms_around(graph: Graph, node_id: int) -> set[int]:
    found: set[int] = set()
    waiting, seen = [node_id], {node_id}
    while waiting:
        for other in graph.targets(waiting.pop(), Relation.INSIDE):
            if graph.nodes[other].is_room:
                found.add(other)
            elif other not in seen:
                seen.add(other)
                waiting.append(other)
    return found


def _hides(graph: Graph, node_id: int) -> bool:
    node = graph.nodes[node_id]
    return State.CLOSED in node.states and not node.is_room


def _is_hidden(graph: Graph, item: int) -> bool:
    """Return whether something that an object is INSIDE, beside its room, hides it."""
    return any(_hides(graph, place) for place in graph.targets(item, Relation.INSIDE))
