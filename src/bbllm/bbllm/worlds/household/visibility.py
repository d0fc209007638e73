"""Visibility: the character sees the whole household, or its room."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bbllm.core.errors import UnknownNameError
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import HANDS, Relation, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """
    How much of a household is seen.

    VirtualHome's two helpers for it do not agree: one hides what is in a container unless that is
    OPEN, so that the books in a shelf without a door are hidden; the other only if it is CLOSED.
    """

    reach: Literal['full', 'rooms', 'room'] = 'full'
    """`room`: what is in the character's room, in nothing that hides it; all rooms; what it
    carries. `rooms`: the same of all rooms."""
    hides: Literal['closed', 'not_open'] = 'closed'
    """Which containers hide what is in them: those that are CLOSED, or all that are not OPEN."""
    accumulating: bool = False
    """Whether what was once seen stays known, as it is now."""
    only: frozenset[int] | None = None
    """Ids of all that can be seen at all; None: everything."""


FULL = Visibility()
SeenWord = Literal[
    'full', 'all_rooms', 'room', 'room_open_only', 'rooms_seen', 'rooms_seen_open_only'
]
SEEN: Mapping[str, Visibility] = {
    'full': FULL,
    'all_rooms': Visibility(reach='rooms', accumulating=True),
    'room': Visibility(reach='room'),
    'room_open_only': Visibility(reach='room', hides='not_open'),
    'rooms_seen': Visibility(reach='room', accumulating=True),
    'rooms_seen_open_only': Visibility(reach='room', hides='not_open', accumulating=True),
}
"""By the word of suites and of the command line: everything; what is in nothing CLOSED, or once
was; the same of the character's room; the same of all rooms that it has been in; with `open_only`,
containers hide their content unless they are OPEN."""


def visibility_names() -> tuple[str, ...]:
    return tuple(SEEN)


def visibility_of(word: str) -> Visibility:
    """Return what a word of SEEN means; raises UnknownNameError where there is none."""
    if word not in SEEN:
        raise UnknownNameError('visibility', word, SEEN)
    return SEEN[word]


class Sight:
    """Remembers what was seen."""

    def __init__(self, visibility: Visibility = FULL) -> None:
        self.visibility = visibility
        self._seen: frozenset[int] = frozenset()

    def update(self, graph: Graph) -> frozenset[int]:
        """Return the ids of what is known now."""
        now = visible(graph, self.visibility)
        self._seen = now | self._seen if self.visibility.accumulating else now
        return self._seen


def visible(graph: Graph, visibility: Visibility) -> frozenset[int]:
    """Return the ids of what the character sees now."""
    seen = _in_view(graph, visibility)
    return seen if visibility.only is None else seen & visibility.only


def _in_view(graph: Graph, visibility: Visibility) -> frozenset[int]:
    if visibility.reach == 'full' or graph.character is None:
        return frozenset(graph.nodes)
    seen = {node_id for node_id, node in graph.nodes.items() if node.is_room}
    here = seen if visibility.reach == 'rooms' else _rooms_around(graph, graph.character)
    seen.add(graph.character)
    waiting = [*here, *(held for hand in HANDS for held in graph.targets(graph.character, hand))]
    opened: set[int] = set()
    while waiting:
        node_id = waiting.pop()
        seen.add(node_id)
        if node_id in opened or _hides(graph, node_id, visibility):
            continue
        opened.add(node_id)
        waiting.extend(
            item
            for item in graph.sources(node_id, Relation.INSIDE)
            if not _is_hidden(graph, item, visibility)
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


def _hides(graph: Graph, node_id: int, visibility: Visibility) -> bool:
    node = graph.nodes[node_id]
    if node.is_room:
        return False
    if visibility.hides == 'closed':
        return State.CLOSED in node.states
    return State.OPEN not in node.states


def _is_hidden(graph: Graph, item: int, visibility: Visibility) -> bool:
    """Return whether something that an object is INSIDE, beside its room, hides it."""
    return any(
        _hides(graph, container, visibility) for container in graph.targets(item, Relation.INSIDE)
    )
