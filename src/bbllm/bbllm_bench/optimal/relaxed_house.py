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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from bbllm.core.errors import BbllmError
from bbllm.worlds.household.checks import above
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Property, Relation, State
from bbllm_bench.optimal.house_state import held_by
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseholdGoal
from bbllm_bench.suites.household import HouseView, lying

NOWHERE = -1
"""Zone of who stands next to nothing, and spot of what is held."""


class NotProvenError(BbllmError):
    """The least number of steps is not known, with the reason."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an object can lie."""

    zone: int
    shut_by: tuple[int, ...] = ()
    """Ids of what has to be open to get at it."""
    counts_for: frozenset[int] = frozenset()
    """Places in the goal of the conditions that it fulfils."""
    relation: Relation | None = None
    place: int = NOWHERE  # with no relation: anywhere in the zone


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
        return sum(spots.count(NOWHERE) for spots in self.things)


class RelaxedHouse:
    """
    What of a house matters to a goal.

    Raises:
        NotProvenError: The goal or the start is of a kind for which the argument does not hold.
    """

    def __init__(self, graph: Graph, goal: HouseholdGoal):
        if goal.same:
            raise NotProvenError('that conditions are of one and the same object is not searched')
        for condition in goal.all:
            if not _is_searched(condition, graph):
                raise NotProvenError(f'{condition}: goals of that kind are not searched')
        moved = dict.fromkeys(c.thing or c.held or '' for c in goal.all if c.place or c.held)
        held = held_by(graph)
        # What else is in a hand at the start can be put down; of its class nothing else matters.
        idle = {graph.nodes[n].class_name for n in held} - moved.keys()
        classes = (*moved, *sorted(idle))
        self._graph = graph
        self.conditions = goal.all
        self.zone_of = zones(graph)
        self.spots: list[Spot] = []
        self.placing: list[tuple[int, int]] = []
        """Conditions on places: place in the goal, and of the class."""
        self.holding: dict[int, int] = {}
        """How many objects of a class are to be held."""
        self.states: list[tuple[int, frozenset[int], str]] = []
        """Conditions on states: how many, of which ids, and the word."""
        for i, condition in enumerate(goal.all):
            if condition.is_:
                self.states.append((condition.count, self._of(condition.thing), condition.is_))
                continue
            c = classes.index(condition.thing or condition.held or '')
            if condition.held:
                self.holding[c] = max(self.holding.get(c, 0), condition.count)
                continue
            self.placing.append((i, c))
            for place in sorted(self._of(condition.place)):
                self._spot(Relation.INSIDE if condition.inside else Relation.ON, place)
        self.things: list[list[tuple[int, int]]] = []
        """By class: ids and spots at the start, sorted by spot."""
        for name in classes:
            ids = sorted(self._of(name))
            in_hand = [(n, NOWHERE) for n in ids if n in held]
            others = [n for n in ids if n not in held and name in moved]
            self.things.append([*in_hand, *sorted(self._placed(others), key=itemgetter(1))])
        self.aims = {
            i: [s for s, spot in enumerate(self.spots) if i in spot.counts_for]
            for i, _ in self.placing
        }
        """By condition: spots that count for it and where objects can be put."""
        self._add_doors()
        self.parks: dict[int, int] = {}
        """By zone: the spot that is anywhere in it."""
        in_use = [spot.zone for spot in self.spots]
        for zone in (*in_use, *(self.zone_of[n] for n in self.doors | self.switches)):
            if zone not in self.parks:
                self.parks[zone] = len(self.spots)
                self.spots.append(Spot(zone))
        class_of = dict(self.placing)
        for spot in self.spots:
            if len({class_of[i] for i in spot.counts_for}) < len(spot.counts_for):
                raise NotProvenError('one place counts for two conditions on the same objects')

    def start(self) -> RelaxedState:
        nodes = self._graph.nodes
        return RelaxedState(
            self._zone_of_person(),
            tuple(tuple(sorted(spot for _, spot in many)) for many in self.things),
            frozenset(n for n in self.doors if State.OPEN in nodes[n].states),
            frozenset(n for n in self.switches if State.ON in nodes[n].states),
        )

    def lacking(self, spots: Sequence[int], c: int) -> list[tuple[int, int]]:
        """
        Return the conditions on places of a class, and how many objects each of them lacks.

        Args:
            spots: Where the objects of the class are.
            c: The class.
        """
        found = []
        for i, of_class in self.placing:
            if of_class == c:
                n = self.conditions[i].count - sum(
                    i in self.spots[s].counts_for for s in spots if s != NOWHERE
                )
                if n > 0:
                    found.append((i, n))
        return found

    def _of(self, class_name: str | None) -> frozenset[int]:
        nodes = self._graph.nodes.items()
        return frozenset(n for n, node in nodes if node.class_name == class_name)

    def _placed(self, ids: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield objects, and the spots where they are at the start."""
        graph = self._graph
        for n in ids:
            places = [
                (relation, place)
                for relation in (Relation.INSIDE, Relation.ON)
                for place in graph.targets(n, relation)
                if not graph.nodes[place].is_room
            ]
            if len(places) > 1:
                raise NotProvenError(f'{graph.nodes[n]} is in two places at the start')
            if places:
                yield n, self._spot(*places[0])
            else:
                self.spots.append(Spot(self.zone_of[n], place=n))
                yield n, len(self.spots) - 1

    def _spot(self, relation: Relation, place: int) -> int:
        """Return the place in `spots` of a spot, which is added where it is new."""
        for s, spot in enumerate(self.spots):
            if (spot.relation, spot.place) == (relation, place):
                return s
        graph, shut_by = self._graph, _shut_by(self._graph, place)
        if relation is Relation.INSIDE and Property.CAN_OPEN in graph.nodes[place].properties:
            shut_by = tuple(sorted({place, *shut_by}))
        counts_for = frozenset(
            i
            for i, condition in enumerate(self.conditions)
            if condition.place and _counts(condition, relation, place, graph)
        )
        self.spots.append(Spot(self.zone_of[place], shut_by, counts_for, relation, place))
        return len(self.spots) - 1

    def _add_doors(self) -> None:
        """Add what can be opened or switched and matters."""
        graph = self._graph
        doors = {door for spot in self.spots for door in spot.shut_by}
        switches: set[int] = set()
        for _, ids, word in self.states:
            (doors if word in ('open', 'closed') else switches).update(ids)
        self.shut_by: dict[int, tuple[int, ...]] = {}
        """What has to be open to get at a door or a switch."""
        waiting: Sequence[int] = sorted(doors | switches)
        while waiting:
            self.shut_by.update((n, _shut_by(graph, n)) for n in waiting)
            behind = {door for n in waiting for door in self.shut_by[n]}
            waiting = sorted(behind - self.shut_by.keys())
            doors.update(waiting)
        switches |= {n for n in doors if State.ON in graph.nodes[n].states}
        ways = ((doors, {State.OPEN, State.CLOSED}), (switches, {State.ON, State.OFF}))
        for those, either in ways:
            for node in (graph.nodes[n] for n in those):
                if not either & node.states or State.PLUGGED_OUT in node.states:
                    raise NotProvenError(f'{node} is in no state to be opened or switched')
        self.doors, self.switches = frozenset(doors), frozenset(switches)
        wanted = {
            word: frozenset(n for _, ids, w in self.states if w == word for n in ids)
            for word in ('closed', 'on', 'off')
        }
        self.closing, self.starting = wanted['closed'], wanted['on']
        self.stopping = wanted['off'] | (self.switches & self.doors)  # also doors that run

    def _zone_of_person(self) -> int:
        graph, me = self._graph, self._graph.character
        assert me is not None  # a household has one
        if graph.targets(me, Relation.ON) or graph.sources(me, Relation.ON):
            raise NotProvenError('the person sits or wears something at the start')
        near = graph.targets(me, Relation.CLOSE) - held_by(graph)  # what is held is near nothing
        found = {self.zone_of[n] for n in near if n in self.zone_of}
        if len(found) > 1:
            raise NotProvenError('the person stands in two zones at the start')
        return found.pop() if found else NOWHERE


def _is_searched(condition: HouseCondition, graph: Graph) -> bool:
    if condition.not_ or condition.person or condition.room or condition.thing == ANYTHING:
        return False
    what = condition.thing or condition.held
    nodes = [n for n in graph.nodes.values() if n.class_name == what]
    if condition.is_:
        switched = condition.is_ in ('open', 'closed', 'on', 'off') and not condition.place
        return switched and not any(Property.GRABBABLE in node.properties for node in nodes)
    places = [n for n in graph.nodes.values() if n.class_name == condition.place]
    if any(place.is_room or Property.GRABBABLE in place.properties for place in places):
        return False
    # What can be poured can be in the hand and in a recipient at once.
    pouring = condition.held or any(Property.RECIPIENT in place.properties for place in places)
    unfit = {Property.CLOTHES, *((Property.POURABLE, Property.DRINKABLE) if pouring else ())}
    return all(
        Property.GRABBABLE in node.properties
        and not unfit & node.properties
        and not any(Property.GRABBABLE in graph.nodes[n].properties for n in above(graph, node.id))
        for node in nodes
    )


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


def zones(graph: Graph) -> dict[int, int]:
    """Return for each object the lowest id of its zone: what is in, on or next to it."""
    # Rooms and the character make no zone.
    alone = {n for n, node in graph.nodes.items() if node.is_room} | {graph.character}
    zone: dict[int, int] = {}
    for first in sorted(graph.nodes.keys() - alone):
        waiting = [first]
        while waiting:
            n = waiting.pop()
            if n in zone:
                continue
            zone[n] = first
            for relation in (Relation.CLOSE, Relation.ON, Relation.INSIDE):
                waiting += (graph.targets(n, relation) | graph.sources(n, relation)) - alone
    return zone
