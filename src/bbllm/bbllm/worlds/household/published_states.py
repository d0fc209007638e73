"""
The derived states of ProgPrompt's published program, to score its own data.

Other than in `derived`, one faucet of the house washes for all its sinks, doors do not matter, and
there are no ovens, pots, dishwashers, toasters or washing by hand. Source: `utils_aug_env` of the
release. There it is asked only of what the person sees just then; what that is depends on the
order in which Python lists a set of ids, so here it is asked of the whole house.
"""

from __future__ import annotations

from collections.abc import Iterable

from bbllm.worlds.household.derived import HEATED, USED, WASHED, Derived
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Relation, State

FOOD = 'Food'
"""The category of what is heated."""


def add_published(graph: Graph, seen: Derived, _: ScriptLine | None) -> Derived:
    """Add what the graph shows now; no step counts by itself: a rule of `DerivedStates`."""
    return seen | published(graph)


def published(graph: Graph) -> Derived:
    """Return ids of objects with `heated`, `washed` or `used`, by the graph as it is now."""
    found: set[tuple[int, str]] = set()
    running = [node for node in graph.nodes.values() if State.ON in node.states]
    for device in running:
        inside = graph.sources(device.id, Relation.INSIDE)
        if _class(device) == 'wallphone':
            found.add((device.id, USED))
        elif _class(device) == 'microwave':
            found.update(_heated(graph, inside))
        elif _class(device) == 'stove':
            for pan in _of_class(graph, 'fryingpan'):
                if graph.has(pan.id, Relation.ON, device.id):
                    found.update(_heated(graph, graph.sources(pan.id, Relation.ON)))
        elif _class(device) == 'washingmachine':
            found.update((thing, WASHED) for thing in inside)
    if any(_class(device) == 'faucet' for device in running):
        for sink in _of_class(graph, 'sink'):
            found.update((n, WASHED) for n in graph.sources(sink.id, Relation.INSIDE))
    return frozenset(found)


def _heated(graph: Graph, things: Iterable[int]) -> Iterable[tuple[int, str]]:
    return ((thing, HEATED) for thing in things if graph.nodes[thing].category == FOOD)


def _class(node: Node) -> str:
    return node.class_name.replace('_', '').lower()


def _of_class(graph: Graph, name: str) -> Iterable[Node]:
    return (node for node in graph.nodes.values() if _class(node) == name)
