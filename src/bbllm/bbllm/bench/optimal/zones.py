"""Zones of a household: things that are in, on or next to each other; and what is held."""

from __future__ import annotations

from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import HANDS, Relation


def zones(graph: Graph) -> dict[int, int]:
    """Return for each thing the lowest id of its zone."""
    zone: dict[int, int] = {}
    for first in sorted(graph.nodes):
        waiting = [] if first in zone or _apart(graph, first) else [first]
        while waiting:
            node_id = waiting.pop()
            if node_id in zone:
                continue
            zone[node_id] = first
            for relation in (Relation.CLOSE, Relation.ON, Relation.INSIDE):
                around = graph.targets(node_id, relation) | graph.sources(node_id, relation)
                waiting.extend(n for n in around if not _apart(graph, n))
    return zone


def held_by(graph: Graph) -> set[int]:
    """Return what is in the character's hands."""
    me = graph.character
    return set() if me is None else {t for hand in HANDS for t in graph.targets(me, hand)}


def _apart(graph: Graph, node_id: int) -> bool:
    """Tell whether it makes no zone: rooms, and who acts."""
    return graph.nodes[node_id].is_room or node_id == graph.character
