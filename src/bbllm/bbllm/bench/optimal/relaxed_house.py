"""
A household with closeness made easy: what a lower bound on the number of steps is searched in.

Objects that are in, on or next to each other make a zone. Here, who stands anywhere in a zone is
close to everything in it, an object is grabbed from and put to spots, and objects of one class at
one spot are the same. Nothing else is easier than in the household, and nothing harder:

* Closeness of the clean rules never leaves a zone. To be close to an object takes an edge CLOSE
  from the character to it, or to something that has an edge CLOSE to it or carries it, and WALK,
  FIND, GRAB and the puts make such edges only to what is in the zone that was gone to. An object
  that is grabbed loses its own edges, so zones never grow together.
* A step that this world lacks (DROP, PUTOBJBACK, PLUGOUT, POUR, RUN ...) does no more for a goal
  than one that it has: something is put down where one stands, a device goes off, one goes.
* What cannot be carried stays. That nothing is piled up in a hand is the constraint
  `puts_only_on: furniture`.

So each plan of the household is one of at most as many steps here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from bbllm.bench.optimal.house_state import held_by
from bbllm.bench.suites.house_goals import ANYTHING, HouseCondition, HouseholdGoal
from bbllm.bench.suites.household import HouseView, lying
from bbllm.core.errors import BbllmError
from bbllm.worlds.household.checks import above
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Property, Relation, State

NOWHERE = -1
"""Zone of who stands next to nothing, and spot of what is held."""
_POURED = frozenset({Property.POURABLE, Property.DRINKABLE})


class NotProvenError(BbllmError):
    """The least number of steps is not known, with the reason."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an object can lie."""

    zone: int
    shut_by: tuple[int, ...]
    """Ids of what has to be open to get at it."""
    counts_for: frozenset[int]
    """Places in the goal of the conditions that it fulfils."""
    relation: Relation | None = None
    place: int = NOWHERE  # with no relation: anywhere in the zone


@dataclass(slots=True)
class RelaxedHouse:
    """What of a house matters to a goal."""

    conditions: tuple[HouseCondition, ...]
    classes: tuple[str, ...]
    """Of objects that are moved; last those of what else is held at the start."""
    placing: list[tuple[int, int]] = field(default_factory=list)
    """Conditions on places: place in the goal, and in `classes`."""
    holding: dict[int, int] = field(default_factory=dict)
    """How many objects of a class are to be held."""
    states: list[tuple[int, frozenset[int], str]] = field(default_factory=list)
    """Conditions on states: how many, of which ids, and the word."""
    spots: list[Spot] = field(default_factory=list)
    aims: dict[int, list[int]] = field(default_factory=dict)
    """By condition: spots that count for it and where objects can be put."""
    zones_of: dict[int, frozenset[int]] = field(default_factory=dict)
    """By condition: zones in which it is fulfilled."""
    doors_to: dict[int, tuple[frozenset[int], ...]] = field(default_factory=dict)
    """By condition and spot that counts for it: what has to be open."""
    closing: frozenset[int] = frozenset()
    """Ids of what a condition wants closed."""
    starting: frozenset[int] = frozenset()
    """Ids of what a condition wants on."""
    stopping: frozenset[int] = frozenset()
    """Ids of what a condition wants off, and of doors that run."""
    parks: dict[int, int] = field(default_factory=dict)
    """By zone: the spot that is anywhere in it."""
    things: list[list[tuple[int, int]]] = field(default_factory=list)
    """By class: ids and spots at the start, sorted by spot."""
    doors: frozenset[int] = frozenset()
    """Ids of what can be opened and matters."""
    switches: frozenset[int] = frozenset()
    """Ids of what can be switched and matters."""
    shut_by: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """What has to be open to get at a door or a switch."""
    zone_of: dict[int, int] = field(default_factory=dict)
    zone: int = NOWHERE
    open: frozenset[int] = frozenset()
    on: frozenset[int] = frozenset()

    def start(self) -> RelaxedState:
        """Return the situation at the start."""
        things = tuple(tuple(sorted(spot for _, spot in many)) for many in self.things)
        return RelaxedState(self.zone, things, self.open, self.on)


@dataclass(frozen=True, slots=True)
class RelaxedState:
    """A situation of the relaxed household."""

    zone: int
    things: tuple[tuple[int, ...], ...]
    """By class: the spots of its objects, sorted; NOWHERE of those that are held."""
    open: frozenset[int]
    on: frozenset[int]

    @property
    def n_held(self) -> int:
        """How many objects are held."""
        return sum(spots.count(NOWHERE) for spots in self.things)


def relax(graph: Graph, goal: HouseholdGoal) -> RelaxedHouse:
    """
    Return what of a house matters to a goal.

    Raises:
        NotProvenError: The goal or the start is of a kind for which the argument does not hold.
    """
    if goal.same:
        raise NotProvenError('that conditions are of one and the same thing is not searched')
    for condition in goal.all:
        _refuse_condition(condition, graph)
    moved = dict.fromkeys(c.thing or c.held or '' for c in goal.all if c.place or c.held)
    held = held_by(graph)
    # What else is in a hand at the start can be put down; of its class nothing else matters.
    idle = {graph.nodes[n].class_name for n in held} - moved.keys()
    house = RelaxedHouse(goal.all, (*moved, *sorted(idle)), zone_of=_zones(graph))
    house.zone = _zone_of_person(graph, house.zone_of)
    for i, condition in enumerate(goal.all):
        _add_condition(house, i, condition, graph)
    for name in house.classes:
        of_class = [n for n in sorted(graph.nodes) if graph.nodes[n].class_name == name]
        in_hand = [(n, NOWHERE) for n in of_class if n in held]
        others = [n for n in of_class if n not in held] if name in moved else []
        house.things.append([*in_hand, *sorted(_placed(house, others, graph), key=itemgetter(1))])
    for i, _ in house.placing:
        house.aims[i] = [s for s, spot in enumerate(house.spots) if i in spot.counts_for]
        spots = [house.spots[s] for s in house.aims[i]]
        house.zones_of[i] = frozenset(spot.zone for spot in spots)
        house.doors_to[i] = tuple(frozenset(spot.shut_by) for spot in spots)
    _add_doors(house, graph)
    for spot in list(house.spots):
        _park(house, spot.zone)
    for node_id in house.doors | house.switches:
        _park(house, house.zone_of[node_id])
    class_of = dict(house.placing)
    for spot in house.spots:
        if len({class_of[i] for i in spot.counts_for}) < len(spot.counts_for):
            raise NotProvenError('one place counts for two conditions on the same things')
    return house


def _refuse_condition(condition: HouseCondition, graph: Graph) -> None:
    bare = condition.thing != ANYTHING and not (condition.not_ or condition.person)
    if not bare or condition.room or (condition.is_ and condition.place):
        raise NotProvenError(f'{condition}: only what shall be so of things is searched')
    if condition.is_ in WORDS or condition.is_ in ('dirty', 'clean', 'plugged_in', 'plugged_out'):
        raise NotProvenError(f'{condition}: only open, closed, on and off are searched')
    what = condition.thing or condition.held
    nodes = [n for n in graph.nodes.values() if n.class_name == what]
    if condition.is_:
        if any(Property.GRABBABLE in node.properties for node in nodes):
            raise NotProvenError(f'{condition}: it can be carried')
        return
    places = [n for n in graph.nodes.values() if n.class_name == condition.place]
    if any(place.is_room or Property.GRABBABLE in place.properties for place in places):
        raise NotProvenError(f'{condition}: the place can be carried, or is a room')
    for node in nodes:
        if Property.GRABBABLE not in node.properties or Property.CLOTHES in node.properties:
            raise NotProvenError(f'{condition}: {node} cannot be grabbed, or can be worn')
        pours = not _POURED.isdisjoint(node.properties)
        into = any(Property.RECIPIENT in place.properties for place in places)
        if pours and (condition.held or into):
            raise NotProvenError(f'{condition}: {node} can be poured and held at once')
        if any(Property.GRABBABLE in graph.nodes[n].properties for n in above(graph, node.id)):
            raise NotProvenError(f'{condition}: {node} lies in or on what can be carried')


def _zone_of_person(graph: Graph, zone_of: dict[int, int]) -> int:
    me = graph.character
    assert me is not None  # a household has one
    if graph.targets(me, Relation.ON):
        raise NotProvenError('the person sits at the start')
    if graph.sources(me, Relation.ON):
        raise NotProvenError('the person wears something at the start')
    near = graph.targets(me, Relation.CLOSE) - held_by(graph)  # what is held is near nothing
    found = {zone_of[n] for n in near if n in zone_of}
    if len(found) > 1:
        raise NotProvenError('the person stands in two zones at the start')
    return found.pop() if found else NOWHERE


def _add_condition(house: RelaxedHouse, i: int, condition: HouseCondition, graph: Graph) -> None:
    if condition.is_:
        ids = frozenset(n for n, x in graph.nodes.items() if x.class_name == condition.thing)
        house.states.append((condition.count, ids, condition.is_))
        return
    c = house.classes.index(condition.thing or condition.held or '')
    if condition.held:
        house.holding[c] = max(house.holding.get(c, 0), condition.count)
        return
    house.placing.append((i, c))
    relation = Relation.INSIDE if condition.inside else Relation.ON
    for place in sorted(n for n, x in graph.nodes.items() if x.class_name == condition.place):
        _spot(house, relation, place, graph)


def _placed(house: RelaxedHouse, ids: Iterable[int], graph: Graph) -> Iterator[tuple[int, int]]:
    """Yield objects, and the spots where they are at the start."""
    for node_id in ids:
        places = [
            (relation, place)
            for relation in (Relation.INSIDE, Relation.ON)
            for place in graph.targets(node_id, relation)
            if not graph.nodes[place].is_room
        ]
        if len(places) > 1:
            raise NotProvenError(f'{graph.nodes[node_id]} is in two places at the start')
        if places:
            yield node_id, _spot(house, *places[0], graph)
        else:
            house.spots.append(Spot(house.zone_of[node_id], (), frozenset(), None, node_id))
            yield node_id, len(house.spots) - 1


def _spot(house: RelaxedHouse, relation: Relation, place: int, graph: Graph) -> int:
    """Return the place in `spots` of a spot, which is added where it is new."""
    for s, spot in enumerate(house.spots):
        if (spot.relation, spot.place) == (relation, place):
            return s
    shut_by = _shut_by(graph, place)
    if relation is Relation.INSIDE and Property.CAN_OPEN in graph.nodes[place].properties:
        shut_by = tuple(sorted({place, *shut_by}))
    counts_for = frozenset(
        i
        for i, condition in enumerate(house.conditions)
        if condition.place and _counts(condition, relation, place, graph)
    )
    house.spots.append(Spot(house.zone_of[place], shut_by, counts_for, relation, place))
    return len(house.spots) - 1


def _counts(condition: HouseCondition, relation: Relation, place: int, graph: Graph) -> bool:
    """Whether what lies there is where a condition wants it, as it is scored."""
    wanted = Relation.INSIDE if condition.inside else Relation.ON
    places = HouseView(graph, frozenset()).of_class(condition.place or '')
    return (wanted is relation and place in places) or place in lying(graph, wanted, places)


def _shut_by(graph: Graph, node_id: int) -> tuple[int, ...]:
    """Return what a fixed object is inside of that can be opened, however deep."""
    around = {
        other
        for below in (node_id, *above(graph, node_id))
        for other in graph.targets(below, Relation.INSIDE)
    }
    return tuple(sorted(n for n in around if Property.CAN_OPEN in graph.nodes[n].properties))


def _add_doors(house: RelaxedHouse, graph: Graph) -> None:
    doors = {door for spot in house.spots for door in spot.shut_by}
    switches: set[int] = set()
    for _, ids, word in house.states:
        (doors if word in ('open', 'closed') else switches).update(ids)
    waiting: Sequence[int] = sorted(doors | switches)
    while waiting:
        found = {n: _shut_by(graph, n) for n in waiting}
        house.shut_by.update(found)
        waiting = sorted({d for many in found.values() for d in many} - house.shut_by.keys())
        doors.update(waiting)
    switches |= {n for n in doors if State.ON in graph.nodes[n].states}
    _refuse_states(doors, switches, graph)
    house.shut_by.update({n: _shut_by(graph, n) for n in switches})
    house.doors, house.switches = frozenset(doors), frozenset(switches)
    house.closing, house.starting = _wanted(house, 'closed'), _wanted(house, 'on')
    house.stopping = _wanted(house, 'off') | (house.switches & house.doors)
    house.open = frozenset(n for n in doors if State.OPEN in graph.nodes[n].states)
    house.on = frozenset(n for n in switches if State.ON in graph.nodes[n].states)


def _wanted(house: RelaxedHouse, word: str) -> frozenset[int]:
    return frozenset(n for _, ids, wanted in house.states if wanted == word for n in ids)


def _refuse_states(doors: Iterable[int], switches: Iterable[int], graph: Graph) -> None:
    for node_id in doors:
        if not {State.OPEN, State.CLOSED} & graph.nodes[node_id].states:
            raise NotProvenError(f'{graph.nodes[node_id]} is neither open nor closed')
    for node_id in switches:
        if not {State.ON, State.OFF} & graph.nodes[node_id].states:
            raise NotProvenError(f'{graph.nodes[node_id]} is neither on nor off')
        if State.PLUGGED_OUT in graph.nodes[node_id].states:
            raise NotProvenError(f'{graph.nodes[node_id]} is plugged out')


def _park(house: RelaxedHouse, zone: int) -> None:
    if zone not in house.parks:
        house.spots.append(Spot(zone, (), frozenset()))
        house.parks[zone] = len(house.spots) - 1


def _zones(graph: Graph) -> dict[int, int]:
    """Return for each object the lowest id of its zone: what is in, on or next to it."""
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


def _apart(graph: Graph, node_id: int) -> bool:
    """Whether a node makes no zone: rooms, and the character."""
    return graph.nodes[node_id].is_room or node_id == graph.character
