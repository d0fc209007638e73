"""
What has become of things and is no state of VirtualHome's: heated, washed, toasted, used.

After ProgPrompt's and FLTRNN's additions. One difference: a sink washes while a faucet in its own
room is on, and not any faucet of the house.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from bbllm.worlds.household.graph import CycleError, Graph, Node
from bbllm.worlds.household.vocabulary import Property, Relation, State

HEATED, WASHED, TOASTED, USED = 'heated', 'washed', 'toasted', 'used'
WORDS = (HEATED, WASHED, TOASTED, USED)

HEATING = frozenset({'microwave', 'stove', 'oven'})
"""They heat the food inside them."""
COOKING = frozenset({'fryingpan', 'cookingpot'})
"""They heat the food that is in or on them, while they stand on a stove that is on."""
HOBS = frozenset({'stove', 'oven'})
WASHING = frozenset({'washingmachine', 'dishwasher'})
"""They wash what is inside them."""
SINKS, FAUCETS = frozenset({'sink', 'bathtub'}), frozenset({'faucet'})
TOASTERS = frozenset({'toaster'})
PHONES = frozenset({'wallphone', 'cellphone', 'phone'})

Derived = frozenset[tuple[int, str]]
"""Pairs of a thing's id and one of WORDS."""


def derived(graph: Graph, seen: Iterable[tuple[int, str]] = ()) -> Derived:
    """
    Return what has become of things, by the graph as it is now and by what was seen before.

    Args:
        graph: The household; devices work in it that are ON.
        seen: What was found before; it stays, even when the device is off again.
    """
    found = set(seen)
    for node in graph.nodes.values():
        if State.ON in node.states:
            found.update(_done_by(graph, node))
    return frozenset(found)


class DerivedStates:
    """Remembers what has become of things while steps are made."""

    def __init__(self) -> None:
        self.now: Derived = frozenset()

    def look(self, graph: Graph) -> None:
        """Add what the graph shows now; called after each step, before a device is off again."""
        self.now = derived(graph, self.now)

    def of(self, node_id: int) -> tuple[str, ...]:
        """Return what has become of one thing, in the order of WORDS."""
        return tuple(word for word in WORDS if (node_id, word) in self.now)


def _done_by(graph: Graph, device: Node) -> Iterable[tuple[int, str]]:
    name = device.class_name.replace('_', '').lower()
    if name in HEATING:
        yield from _marked(graph, graph.sources(device.id, Relation.INSIDE), HEATED, food=True)
    if name in HOBS:
        for pan in graph.sources(device.id, Relation.ON):
            if _is(graph.nodes[pan], COOKING):
                yield from _marked(graph, _held_by(graph, pan), HEATED, food=True)
    if name in WASHING:
        yield from _marked(graph, graph.sources(device.id, Relation.INSIDE), WASHED)
    if name in TOASTERS:
        yield from _marked(graph, _held_by(graph, device.id), TOASTED, food=True)
    if name in FAUCETS:
        for sink in graph.nodes.values():
            if _is(sink, SINKS) and _room(graph, sink.id) == _room(graph, device.id):
                yield from _marked(graph, graph.sources(sink.id, Relation.INSIDE), WASHED)
    if name in PHONES:
        yield device.id, USED


def _marked(
    graph: Graph, things: Set[int], word: str, *, food: bool = False
) -> Iterable[tuple[int, str]]:
    for thing in things:
        if not food or _is_food(graph.nodes[thing]):
            yield thing, word


def _held_by(graph: Graph, place: int) -> Set[int]:
    return graph.sources(place, Relation.INSIDE) | graph.sources(place, Relation.ON)


def _is(node: Node, names: Set[str]) -> bool:
    return node.class_name.replace('_', '').lower() in names


def _is_food(node: Node) -> bool:
    food = {Property.EATABLE, Property.DRINKABLE}
    return node.category == 'Food' or not food.isdisjoint(node.properties)


def _room(graph: Graph, node_id: int) -> int | None:
    try:
        return graph.room_of(node_id)
    except CycleError:
        return None
