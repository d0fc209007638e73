"""
Derived states of objects beside VirtualHome's: heated, washed, toasted, used.

After ProgPrompt's and FLTRNN's additions. Differences: a sink washes while a faucet in its own
room is on, and not any faucet of the house; a device works on the objects inside it only while its
door is not open; a washing machine washes clothes; washing an object by hand counts.
"""

from collections.abc import Iterable, Set

from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action, Property, Relation, State

HEATED, WASHED, TOASTED, USED = 'heated', 'washed', 'toasted', 'used'
WORDS = (HEATED, WASHED, TOASTED, USED)

HEATING = frozenset({'microwave', 'stove', 'oven'})
"""They heat the food inside them, while they are not open."""
COOKING = frozenset({'fryingpan', 'cookingpot'})
"""They heat the food that is in or on them, while they stand on a stove that is on."""
HOBS = frozenset({'stove', 'oven'})
WASHING = frozenset({'washingmachine', 'dishwasher'})
"""They wash what is inside them, while they are not open."""
FOR_CLOTHES = frozenset({'washingmachine'})
"""They wash nothing but clothes."""
BY_HAND = frozenset({Action.WASH, Action.RINSE, Action.SCRUB})
"""Actions that wash the object they are done to."""
SINKS, FAUCETS = frozenset({'sink', 'bathtub'}), frozenset({'faucet'})
TOASTERS = frozenset({'toaster'})
PHONES = frozenset({'wallphone', 'cellphone', 'phone'})
_MAKING = {HEATED: HEATING, TOASTED: TOASTERS, WASHED: WASHING}
"""Classes of what does it, while it is on."""

Derived = frozenset[tuple[int, str]]
"""Pairs of an object's id and one of WORDS, alone and with the device that did it
(`by_device`)."""


def derived(
    graph: Graph, seen: Iterable[tuple[int, str]] = (), done: ScriptLine | None = None
) -> Derived:
    """Return derived states: those seen before, and those that devices or the last step make."""
    found = set(seen)
    if done is not None and done.action in BY_HAND:
        found.update((node_id, WASHED) for _, node_id in done.objects)
    for node in graph.nodes.values():
        if State.ON in node.states:
            for item, word in _done_by(graph, node):
                found |= {(item, word), (item, by_device(word, node.class_name))}
    return frozenset(found)


def by_device(word: str, device: str) -> str:
    """Return what is remembered of the class of the device: `heated by microwave`."""
    return f'{word} by {device}'


def can_wash(device: Node, item: Node) -> bool:
    """Return whether a device that washes would wash this object."""
    return not _is(device, FOR_CLOTHES) or Property.CLOTHES in item.properties


def can_become(graph: Graph, node_id: int, word: str, by: str | None = None) -> bool:
    """Return whether an object can get a derived state: by hand, or by a device of a class."""
    node = graph.nodes[node_id]
    if word == USED:
        return _is(node, PHONES) and Property.HAS_SWITCH in node.properties
    if word == WASHED and by is None:
        return True  # by hand
    # A sink is where an object is put, and its faucet washes.
    makers = _MAKING[word] | (FAUCETS if word == WASHED else frozenset())
    able = [
        other
        for other in graph.nodes.values()
        if by in (None, other.class_name)
        and _is(other, makers)
        and Property.HAS_SWITCH in other.properties
    ]
    if word == WASHED:
        return any(can_wash(other, node) for other in able)
    return _is_food(node) and bool(able)


class DerivedStates:
    """Keeps the derived states of objects from step to step."""

    def __init__(self) -> None:
        self.now: Derived = frozenset()

    def update(self, graph: Graph, done: ScriptLine | None = None) -> None:
        """Add what the graph shows now; called after each step, before a device is off again."""
        self.now = derived(graph, self.now, done)

    def of(self, node_id: int) -> tuple[str, ...]:
        """Return what has become of one object, in the order of WORDS."""
        return tuple(word for word in WORDS if (node_id, word) in self.now)


def _done_by(graph: Graph, device: Node) -> Iterable[tuple[int, str]]:
    name = _class(device)
    inside = graph.sources(device.id, Relation.INSIDE) if State.OPEN not in device.states else ()
    if name in HEATING:
        yield from _marked(graph, inside, HEATED, food=True)
    if name in HOBS:
        for pan in graph.sources(device.id, Relation.ON):
            if _is(graph.nodes[pan], COOKING):
                yield from _marked(graph, _held_by(graph, pan), HEATED, food=True)
    if name in WASHING:
        washed = [item for item in inside if can_wash(device, graph.nodes[item])]
        yield from _marked(graph, washed, WASHED)
    if name in TOASTERS:
        yield from _marked(graph, _held_by(graph, device.id), TOASTED, food=True)
    if name in FAUCETS:
        for sink in graph.nodes.values():
            if _is(sink, SINKS) and graph.find_room(sink.id) == graph.find_room(device.id):
                yield from _marked(graph, graph.sources(sink.id, Relation.INSIDE), WASHED)
    if name in PHONES:
        yield device.id, USED


def _marked(
    graph: Graph, items: Iterable[int], word: str, *, food: bool = False
) -> Iterable[tuple[int, str]]:
    for item in items:
        if not food or _is_food(graph.nodes[item]):
            yield item, word


def _held_by(graph: Graph, place: int) -> Set[int]:
    return graph.sources(place, Relation.INSIDE) | graph.sources(place, Relation.ON)


def _is(node: Node, names: Set[str]) -> bool:
    return _class(node) in names


def _is_food(node: Node) -> bool:
    food = {Property.EATABLE, Property.DRINKABLE}
    return node.category == 'Food' or not food.isdisjoint(node.properties)


def _class(node: Node) -> str:
    return node.class_name.replace('_', '').lower()
