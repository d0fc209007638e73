"""
A number of steps that no plan for a goal with devices is shorter than, counted without a search.

`least_steps` searches goals of places and switches only. Here what was toasted, washed or heated
counts as well, and constraints of the house are used. Steps of kinds that no single step can be
two of add up, of each kind what is missing in any case (`least_bound` explains the first two):

* grabs and puts: two for an object that has to be elsewhere, four where a device comes between;
* ways: a stay at a place brings two hands full at most and takes two hands full away, so a place
  where N hands full have to come or to leave needs N / 2 stays, and each begins with a way;
* doors: what every object or place is shut in by is opened, and closed where the goal wants it;
* switches: a device works for as many objects at a time as it has room for. One that opens is
  closed, switched on and off, and opened for each load; one that is shut while it is on is
  switched on and off. Any other is switched on once, and off where the goal wants it.

Places that stand in for each other (two cabinets, two taps) count as one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bbllm.worlds.household.checks import above
from bbllm.worlds.household.derived import (
    FAUCETS,
    HEATED,
    HEATING,
    SINKS,
    TOASTED,
    TOASTERS,
    WASHED,
    WASHING,
    WORDS,
    derived,
)
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State
from bbllm_bench.optimal.house_state import held_by
from bbllm_bench.optimal.relaxed_house import zones
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseholdGoal
from bbllm_bench.suites.household import HouseView

_MAKERS: Mapping[str, frozenset[str]] = {
    HEATED: HEATING,
    TOASTED: TOASTERS,
    WASHED: WASHING | SINKS,
}


def device_bound(household: Household, goal: HouseholdGoal) -> int:
    """
    Return a number of steps that no plan is shorter than, by the clean rules.

    Conditions of other kinds than places, devices, doors and switches count as none.

    Args:
        household: Where it begins, with the constraint `puts_only_on: furniture`.
        goal: Conditions, of which no two place objects of the same class.
    """
    return _Count(household, goal).steps()


class _Count:
    def __init__(self, household: Household, goal: HouseholdGoal):
        self._graph = household.graph
        self._constraints = household.constraints
        self._goal = goal
        self._view = HouseView(self._graph, derived(self._graph))
        self._acts = self._switched = 0
        self._coming, self._leaving = Counter[int](), Counter[int]()
        """By place: how many hands full."""
        self._opened: set[str] = set()
        """Classes of doors that are opened in any case."""
        self._placed = [each for each in goal.all if each.place and not each.not_ and each.thing]
        self._place_of = self._places()

    def steps(self) -> int:
        for condition in self._placed:
            self._add(condition)
        self._add_what_is_in_the_way()
        n_doors = len(self._opened)
        n_doors += sum(
            each.is_ == 'closed'
            and (each.thing in self._opened or self._all_are(str(each.thing), State.OPEN))
            for each in self._goal.all
        )
        stays = {
            place: -(-max(self._coming[place], self._leaving[place]) // len(HANDS))
            for place in {*self._coming, *self._leaving}
        }
        return self._acts + self._switched + n_doors + sum(stays.values()) - self._is_near(stays)

    # --- objects ---------------------------------------------------------------------------------

    def _add(self, condition: HouseCondition) -> None:
        """Count what the objects of one condition need."""
        thing = str(condition.thing)
        ids = self._view.of_class(thing)
        n = condition.count - len(self._view.fitting(condition))
        goals = self._ids(condition.place)
        devices = self._devices(condition)
        if n <= 0 or not ids or not goals:
            return
        target, hands = self._place_of[goals[0]], self._hands_for(thing)
        at = Counter(self._place_of[each] for each in ids)
        stops = [target]
        if devices and target != self._place_of[devices[0]]:
            stops.append(self._place_of[devices[0]])
            self._leaving[stops[1]] += n * hands
        self._acts += 2 * n * len(stops)
        for stop in stops:
            self._coming[stop] += max(0, n - at[stop]) * hands
        for place, n_there in at.items():
            if place not in stops:
                self._leaving[place] += max(0, n - (len(ids) - n_there)) * hands
        self._open(*(self._doors(each) for each in ids))
        if condition.inside:
            self._open(*(self._doors(each, itself=True) for each in goals))
        if devices:
            self._run(condition, devices, n)

    def _add_what_is_in_the_way(self) -> None:
        wanted = Counter({str(each.thing): each.count for each in self._placed})
        emptied = any(each.held == ANYTHING and each.not_ for each in self._goal.all)
        for condition in self._goal.all:
            if condition.thing != ANYTHING or not condition.not_ or not condition.on:
                continue
            there = self._view.fitting(condition)
            others = [n for n in there if self._graph.nodes[n].class_name not in wanted]
            here = sum(each.count for each in self._placed if each.on == condition.on)
            surplus = max(0, len(others) + here - (condition.count - 1))
            self._acts += surplus * (2 if emptied else 1)
            self._leaving[self._place_of[self._ids(condition.on)[0]]] += surplus

    def _run(self, condition: HouseCondition, devices: Sequence[int], n: int) -> None:
        """Count switches and doors of the devices that objects have to go through."""
        nodes = [self._graph.nodes[each] for each in devices]
        loads = -(-n // self._room({node.class_name for node in nodes}, n))
        names = {node.class_name for node in nodes}
        if names <= SINKS:
            taps = [each for name in FAUCETS for each in self._ids(name)]
            names = {self._graph.nodes[each].class_name for each in taps}
            nodes = [self._graph.nodes[each] for each in taps]
        at_end = any(
            each.thing in names
            and ((each.is_ == 'off' and not each.not_) or (each.is_ == 'on' and each.not_))
            for each in self._goal.all
        )
        if all(Property.CAN_OPEN in node.properties for node in nodes):
            self._switched += 4 * loads
            self._switched += all(State.CLOSED in node.states for node in nodes)
            self._switched += sum(
                each.is_ == 'closed' and {str(each.thing)} == names for each in self._goal.all
            )
        elif all(self._shut_while_on(node.class_name) for node in nodes):
            self._switched += 2 * loads
        else:
            self._switched += (not any(State.ON in node.states for node in nodes)) + at_end

    # --- places ----------------------------------------------------------------------------------

    def _places(self) -> dict[int, int]:
        """Return for each object the number of its place; what stands in for it has the same."""
        zone = zones(self._graph)
        parts = [{zone[n] for n in self._ids(each.place)} for each in self._placed]
        parts += [{zone[n] for n in self._devices(each)} for each in self._placed]
        merged: list[set[int]] = []
        for part in filter(None, parts):
            touching = [each for each in merged if each & part]
            merged = [each for each in merged if not each & part]
            merged.append(part.union(*touching))
        one = {each: min(part) for part in merged for each in part}
        return {n: one.get(each, each) for n, each in zone.items()}

    def _devices(self, condition: HouseCondition) -> list[int]:
        """Return ids of what objects are put into to become as a condition wants them."""
        if condition.is_ not in WORDS:
            return []
        names = _MAKERS.get(str(condition.is_), frozenset())
        if condition.by:
            names = SINKS if condition.by in FAUCETS else frozenset({condition.by})
        found = [each for name in sorted(names) for each in self._ids(name)]
        return [each for each in found if not self._is_stuck(each)]

    def _ids(self, name: str | None) -> list[int]:
        nodes = self._graph.nodes.values()
        return sorted(node.id for node in nodes if node.class_name == name)

    def _doors(self, node_id: int, *, itself: bool = False) -> set[str]:
        """Return the classes of what is closed around an object, or also of itself."""
        graph = self._graph
        around = {
            other
            for below in (node_id, *above(graph, node_id))
            for other in graph.targets(below, Relation.INSIDE)
        }
        around |= {node_id} if itself else set()
        nodes = (graph.nodes[n] for n in around)
        return {n.class_name for n in nodes if State.CLOSED in n.states and not n.is_room}

    def _open(self, *doors: set[str]) -> None:
        """Count one door of each class that none of several objects is without."""
        devices = {self._graph.nodes[n].class_name for c in self._placed for n in self._devices(c)}
        self._opened |= set.intersection(*doors) - devices

    def _is_near(self, stays: Mapping[int, int]) -> bool:
        me = self._graph.character
        assert me is not None  # a household has one
        near = self._graph.targets(me, Relation.CLOSE) - held_by(self._graph)
        return any(stays.get(self._place_of.get(n, -1), 0) for n in near)

    # --- constraints -----------------------------------------------------------------------------

    def _hands_for(self, thing: str) -> int:
        large = (each.needs_both_hands for each in self._constraints)
        return len(HANDS) if any(each and each.thing == thing for each in large) else 1

    def _room(self, names: Iterable[str], n: int) -> int:
        """Return how many objects each of some devices takes, at most `n`."""
        limits = [each.holds_at_most for each in self._constraints]
        rooms = [
            min([n, *(each.count or n for each in limits if each and each.thing == name)])
            for name in names
        ]
        return max(rooms)

    def _shut_while_on(self, name: str) -> bool:
        shut = (each.shut_while_on for each in self._constraints)
        return any(each and each.thing == name for each in shut)

    def _is_stuck(self, node_id: int) -> bool:
        """Whether a device cannot be opened or switched on, or for a sink its faucets."""
        graph, node = self._graph, self._graph.nodes[node_id]
        needed = [node_id]
        if node.class_name in SINKS:
            room = graph.room_of(node_id)
            taps = [each for name in FAUCETS for each in self._ids(name)]
            needed = [each for each in taps if graph.room_of(each) == room]
        return all(each in self._stuck() for each in needed)

    def _stuck(self) -> set[int]:
        found: set[int] = set()
        for constraint in self._constraints:
            if about := constraint.stuck:
                found.update(self._ids(about.thing)[: about.count])
        return {n for n in found if State.ON not in self._graph.nodes[n].states}

    def _all_are(self, name: str, state: State) -> bool:
        return all(state in self._graph.nodes[n].states for n in self._ids(name))
