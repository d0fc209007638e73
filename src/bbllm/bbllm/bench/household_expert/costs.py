"""About how many actions it takes to make a condition true; it guides a search."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from bbllm.bench.household_expert.states import OPPOSITE
from bbllm.bench.optimal.zones import held_by
from bbllm.bench.suites.house_goals import ANYTHING, HouseCondition
from bbllm.bench.suites.household import lying, things_of
from bbllm.worlds.household.derived import (
    FAUCETS,
    HEATED,
    HEATING,
    PHONES,
    SINKS,
    TOASTED,
    TOASTERS,
    USED,
    WASHED,
    WASHING,
    WORDS,
    Derived,
    by_device,
    can_wash,
)
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.sane_checks import above
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

NEVER = 1000
"""More than any plan: it cannot be done."""
PUT_DOWN = 2
"""To go to a surface and put a thing there."""
TAKE = 2
"""To go to a thing and grab it."""
PUT_AGAIN = 3
"""To take a thing out of a device, go, and put it where it was."""
MAKERS: Mapping[str, tuple[frozenset[str], ...]] = {
    HEATED: (HEATING,),
    TOASTED: (TOASTERS,),
    WASHED: (WASHING, SINKS),
    USED: (PHONES,),
}
"""What makes something of a thing that is inside; sinks do while a faucet of the room is on."""


class Costs:
    """
    Counts actions in one household as it is now.

    Args:
        graph: The household.
        derived: What has become of things so far.
        known: Ids of what can be named; None: everything.
        gripless: Ids of what is not to be grabbed.
        only: By class: the one thing that is to fit.
    """

    def __init__(
        self,
        graph: Graph,
        derived: Derived,
        known: frozenset[int] | None = None,
        *,
        gripless: Collection[int] = (),
        only: Mapping[str, int] = MappingProxyType({}),
    ):
        self._graph = graph
        self._derived = derived
        self._known = known
        self._gripless = gripless
        self._only = only
        self._places: dict[str, list[int]] = {}
        self._devices: dict[tuple[str, str | None], list[Node]] = {}
        self._lying: dict[tuple[Relation, str], set[int]] = {}
        me = graph.character
        assert me is not None  # a household has one
        self._me = graph.nodes[me]
        self._close = graph.targets(me, Relation.CLOSE)
        self._held = held_by(graph)

    def of(self, condition: HouseCondition) -> int:
        """Return about how many actions are missing; NEVER where no actions will do."""
        if condition.person:
            return self._posture(condition)
        if condition.held == ANYTHING:
            return self._empty_hands(condition)
        ids = self._fitting(things_of(condition, self._graph))
        if condition.not_:
            if condition.place:  # what does not lie there has nothing to be undone
                ids = [n for n in ids if self._lies(n, condition)]
            costs = sorted(cost for n in ids if (cost := self._undo(n, condition)))
            return sum(costs[: max(0, len(costs) - condition.count + 1)])
        costs = sorted(self._do(node_id, condition) for node_id in ids)
        return sum(costs[: condition.count]) if len(costs) >= condition.count else NEVER

    def _do(self, thing: int, condition: HouseCondition) -> int:
        if condition.held:
            return self._take(thing)
        made = 0
        if condition.is_:
            word = condition.is_
            makes = word in WORDS
            made = self._make(thing, word, condition.by) if makes else self._set(thing, word)
        if not condition.place:
            return made
        if made and self._lies(thing, condition):
            return made + PUT_AGAIN
        if self._lies(thing, condition):
            return 0
        relation = Relation.INSIDE if condition.inside else Relation.ON
        places = self._places_of(condition)
        return made + min((self._put(thing, relation, n) for n in places), default=NEVER)

    def _places_of(self, condition: HouseCondition) -> list[int]:
        name = condition.place or ''
        if name not in self._places:
            self._places[name] = self._fitting(of_class(self._graph, name))
        return self._places[name]

    def _fitting(self, ids: Iterable[int]) -> list[int]:
        """Leave out what is not the one thing of its class that is to fit."""
        nodes = self._graph.nodes
        return [n for n in ids if self._only.get(nodes[n].class_name, n) == n]

    def _empty_hands(self, condition: HouseCondition) -> int:
        """Count what fills hands, or puts down what is in them."""
        missing = condition.count - len(self._held)
        return PUT_DOWN * max(0, 1 - missing) if condition.not_ else max(0, missing) * TAKE

    def _lies(self, thing: int, condition: HouseCondition) -> bool:
        relation = Relation.INSIDE if condition.inside else Relation.ON
        key = relation, condition.place or ''
        if key not in self._lying:
            self._lying[key] = lying(self._graph, relation, self._places_of(condition))
        return thing in self._lying[key]

    def _undo(self, thing: int, condition: HouseCondition) -> int:
        if self._do(thing, condition) > 0:
            return 0
        if condition.is_ in OPPOSITE:
            return self._set(thing, OPPOSITE[str(condition.is_)])
        if condition.is_:
            return NEVER
        return PUT_DOWN if condition.held else self._take(thing)

    def _posture(self, condition: HouseCondition) -> int:
        sitting = State.SITTING in self._me.states
        if condition.not_:
            return int(sitting)
        if condition.person != 'sitting':
            return NEVER
        seats = [
            node.id
            for node in self._graph.nodes.values()
            if Property.SITTABLE in node.properties and condition.on in (None, node.class_name)
        ]
        on = self._graph.targets(self._me.id, Relation.ON)
        if sitting and any(seat in on for seat in seats):
            return 0
        return min((self._reach(seat) + 1 + sitting for seat in seats), default=NEVER)

    def _make(self, thing: int, word: str, by: str | None) -> int:
        if (thing, word if by is None else by_device(word, by)) in self._derived:
            return 0
        if word == USED:
            return self._set(thing, 'on') if _is(self._graph.nodes[thing], PHONES) else NEVER
        edible = {Property.EATABLE, Property.DRINKABLE} & self._graph.nodes[thing].properties
        if word in (HEATED, TOASTED) and not (
            edible or self._graph.nodes[thing].category == 'Food'
        ):
            return NEVER
        costs = [NEVER]
        for node in self._makers(word, by):
            if can_wash(node, self._graph.nodes[thing]):
                inside = self._put(thing, Relation.INSIDE, node.id)
                costs.append(inside + self._shut_in(thing, node) + self._start(node))
        return min(costs)

    def _makers(self, word: str, by: str | None) -> list[Node]:
        if (word, by) not in self._devices:
            nodes = self._graph.nodes.values()
            self._devices[word, by] = [node for node in nodes if _makes(node, word, by)]
        return self._devices[word, by]

    def _shut_in(self, thing: int, device: Node) -> int:
        """Count what shuts the door of a device once a thing is in it."""
        if Property.CAN_OPEN not in device.properties:
            return 0
        inside = self._graph.has(thing, Relation.INSIDE, device.id)
        return int(not inside or State.OPEN in device.states)

    def _start(self, device: Node) -> int:
        """Count what starts a device next to which the character stands."""
        if not _is(device, SINKS):
            return int(State.ON not in device.states)
        room = self._graph.room_of(device.id)
        taps = [
            self._set(node.id, 'on')
            for node in self._graph.nodes.values()
            if _is(node, FAUCETS) and self._graph.room_of(node.id) == room
        ]
        return min(taps, default=NEVER)

    def _set(self, thing: int, word: str) -> int:
        states = self._graph.nodes[thing].states
        if State(word.upper()) in states:
            return 0
        opposite = OPPOSITE.get(word)
        if opposite is None or State(opposite.upper()) not in states:
            return NEVER
        if word == 'on' and State.PLUGGED_OUT in states:
            return NEVER
        running = word == 'open' and State.ON in states
        return self._reach(thing) + self._shut(thing) + running + 1

    def _take(self, thing: int) -> int:
        if thing in self._held:
            return 0
        grabbable = Property.GRABBABLE in self._graph.nodes[thing].properties
        if not grabbable or thing in self._gripless:
            return NEVER
        full = len(self._held) >= len(HANDS)
        return self._reach(thing) + self._shut(thing) + full + 1

    def _put(self, thing: int, relation: Relation, place: int) -> int:
        if self._graph.has(thing, relation, place):
            return 0
        if thing == place:
            return NEVER
        node = self._graph.nodes[place]
        cost = self._take(thing) + self._shut(place) + 1
        cost += self._reach(place) if thing in self._held else 1
        if relation is Relation.INSIDE and Property.CAN_OPEN in node.properties:
            cost += (State.OPEN not in node.states) + (
                State.OPEN not in node.states and State.ON in node.states
            )
        return cost

    def _reach(self, thing: int) -> int:
        if thing in self._close or thing in self._held:
            return 0
        unseen = self._known is not None and thing not in self._known
        return 1 + (unseen and not shut_around(self._graph, thing))  # by way of its room

    def _shut(self, thing: int) -> int:
        return len(shut_around(self._graph, thing))


def shut_around(graph: Graph, thing: int) -> list[int]:
    """Return what a thing is in or on that is closed, however deep; no rooms."""
    return [
        other
        for other in sorted(above(graph, thing))
        if State.CLOSED in graph.nodes[other].states and not graph.nodes[other].is_room
    ]


def of_class(graph: Graph, class_name: str) -> list[int]:
    """Return the ids of a class, sorted."""
    return sorted(n for n, node in graph.nodes.items() if node.class_name == class_name)


def makers_of(graph: Graph, word: str, by: str | None = None) -> tuple[set[str], set[str]]:
    """
    Return the classes that things are put into so that a word holds, and those switched on.

    Args:
        graph: The household.
        word: One of `derived.WORDS`.
        by: Class of the device that has to be the one; None: any.
    """
    into = {n.class_name for n in graph.nodes.values() if _makes(n, word, by)}
    switched = {name for name in into if _plain(name) not in SINKS}
    if word == WASHED:
        switched |= {n.class_name for n in graph.nodes.values() if _is(n, FAUCETS)}
    return into, switched


def _makes(node: Node, word: str, by: str | None) -> bool:
    """Tell whether a word comes to hold of what is in there, by the device that is meant."""
    if not any(_is(node, makers) for makers in MAKERS[word]):
        return False
    # What a sink washes is washed by its faucet.
    return by in (None, node.class_name) or (_is(node, SINKS) and _plain(str(by)) in FAUCETS)


def _is(node: Node, names: Iterable[str]) -> bool:
    return _plain(node.class_name) in names


def _plain(class_name: str) -> str:
    return class_name.replace('_', '').lower()
