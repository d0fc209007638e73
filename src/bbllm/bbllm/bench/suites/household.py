"""Judges a household at the end of an episode, by its graph and not by what a planner saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from bbllm.bench.suites.house_goals import ANYTHING, FinalStateGoal, HouseCondition, HouseholdGoal
from bbllm.bench.suites.scores import Condition, Score, Verdict, first_fault
from bbllm.core.naming import instance_name
from bbllm.core.text import listed
from bbllm.worlds.household.checks import A, close_to
from bbllm.worlds.household.derived import WORDS, Derived, by_device
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.rule import ActionSituation as Moment
from bbllm.worlds.household.rule import Memory
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

MOST_NAMED = 3
"""How many objects of a class a reason names."""
_PLACES = (Relation.INSIDE, Relation.ON)


@dataclass(frozen=True, slots=True)
class HouseView:
    """A household as conditions are checked against it."""

    graph: Graph
    derived: Derived
    """What has become of objects, see worlds.household.derived."""
    seat: int | None = None
    """What the person sat or lay down on last, if that is known: VirtualHome's own rules leave
    it ON all that it ever sat on."""
    only: Mapping[str, int] = field(default_factory=dict)
    """By class: the one object that counts."""

    def of_class(self, class_name: str) -> list[int]:
        """Return the ids of a class that count, sorted."""
        if class_name in self.only:
            return [self.only[class_name]]
        nodes = self.graph.nodes.values()
        return sorted(node.id for node in nodes if node.class_name == class_name)

    def objects_of(self, condition: HouseCondition) -> list[int]:
        """Return the ids of all that a condition may be about, sorted."""
        name = condition.thing or condition.held or ''
        ids = self.of_class(name)
        if name == ANYTHING:
            nodes = self.graph.nodes.values()
            ids = sorted(node.id for node in nodes if Property.GRABBABLE in node.properties)
        if condition.room is None:
            return ids
        rooms = self.of_class(condition.room)
        return [node_id for node_id in ids if self.graph.room_of(node_id) in rooms]

    def fitting(self, condition: HouseCondition) -> list[int]:
        """Return the objects that meet a condition, whatever its count and `not`, sorted."""
        graph = self.graph
        if condition.person:
            sits = graph.character is not None and self._person_fits(condition)
            return [graph.character] if graph.character is not None and sits else []
        found = self.objects_of(condition)
        if condition.held:
            found = [n for n in found if any(graph.sources(n, hand) for hand in HANDS)]
        if condition.is_:
            found = [n for n in found if self._is(n, str(condition.is_), condition.by)]
        if condition.place:
            relation = Relation.INSIDE if condition.inside else Relation.ON
            there = lying(graph, relation, self.of_class(condition.place))
            found = [n for n in found if n in there]
        return found

    def _person_fits(self, condition: HouseCondition) -> bool:
        """
        Whether the person sits or lies, on what the condition names.

        That it is ON something alone is not enough: by VirtualHome's own rules this stays when
        it stands up or walks off. Where it sits it is close to, and sat down last.
        """
        graph = self.graph
        assert graph.character is not None  # the caller looked
        me = graph.nodes[graph.character]
        if State(str(condition.person).upper()) not in me.states:
            return False
        seats = graph.targets(me.id, Relation.ON)
        return condition.on is None or any(
            seat in seats
            and self.seat in (None, seat)
            and close_to(A)(Moment(graph, me, (graph.nodes[seat],), Memory()))
            for seat in self.of_class(condition.on)
        )

    def _is(self, node_id: int, word: str, by: str | None) -> bool:
        if word in WORDS:
            return (node_id, word if by is None else by_device(word, by)) in self.derived
        return State(word.upper()) in self.graph.nodes[node_id].states


def judge_household(
    goal: HouseholdGoal | FinalStateGoal,
    graph: Graph,
    derived: Derived,
    *,
    seat: int | None = None,
) -> Score:
    """
    Score a household; there is one formulation, since symbols have no tolerances.

    Args:
        goal: What must be so.
        graph: The household as it is now.
        derived: See `HouseView`.
        seat: See `HouseView`.
    """
    house = HouseView(graph, derived, seat)
    conditions = _final(goal, house) if isinstance(goal, FinalStateGoal) else _best(goal, house)
    fault = first_fault(conditions)
    verdict = Verdict.FAILED if fault else Verdict.PASSED
    return Score(verdict=verdict, reason=fault, conditions=tuple(conditions), faults=(fault,))


def relations_of(graph: Graph) -> set[str]:
    """Return all relations by class, for example `salmon INSIDE fridge`."""
    return {
        f'{graph.nodes[start].class_name} {relation.value} {graph.nodes[end].class_name}'
        for start, relation, end in graph.edges()
    }


def states_of(graph: Graph, derived: Derived) -> set[str]:
    """Return all states by class, for example `tv ON`, with what has become of objects."""
    stated = {
        f'{node.class_name} {state.value}'
        for node in graph.nodes.values()
        for state in node.states
    }
    return stated | {
        f'{graph.nodes[node_id].class_name} {word.upper()}' for node_id, word in derived
    }


def _final(goal: FinalStateGoal, house: HouseView) -> list[Condition]:
    relations, states = relations_of(house.graph), states_of(house.graph, house.derived)
    wanted = [
        *((text, relations) for text in goal.relations),
        *((text, states) for text in goal.states),
    ]
    return [
        Condition(text, '' if text in found else f'It is not so that {text}.')
        for text, found in wanted
    ]


def _best(goal: HouseholdGoal, house: HouseView) -> list[Condition]:
    """Check all conditions against a household, with the objects of `same` that do best."""
    chosen = product(*(house.of_class(name) for name in goal.same))
    views = [replace(house, only=dict(zip(goal.same, ids))) for ids in chosen]
    # Without any object of such a class no condition about it holds.
    tries = [[_checked(each, view) for each in goal.all] for view in views or [house]]
    return max(tries, key=lambda conditions: sum(one.holds for one in conditions))


def _checked(condition: HouseCondition, house: HouseView) -> Condition:
    fitting = house.fitting(condition)
    if (len(fitting) >= condition.count) is not condition.not_:
        return Condition(str(condition))
    if condition.not_:
        which = listed([_name(house.graph, node_id) for node_id in fitting[:MOST_NAMED]])
        return Condition(str(condition), f'It is not wanted, but is so of {which}.')
    return Condition(str(condition), _lack(condition, len(fitting), house))


def lying(graph: Graph, relation: Relation, places: Iterable[int]) -> set[int]:
    """
    Return what is in or on one of these places, or in or on something that is.

    What is on a plate in the fridge is in the fridge, and fruit in a bowl on the table on the
    table.
    """
    found: set[int] = set().union(*(graph.sources(place, relation) for place in places))
    waiting = [*found]
    while waiting:
        here = waiting.pop()
        # A room leads nowhere else, and what is in the same room is not on one another.
        steps = () if graph.nodes[here].is_room else _PLACES
        for step in steps:
            more = graph.sources(here, step) - found
            found |= more
            waiting.extend(more)
    return found


def _lack(condition: HouseCondition, n_fitting: int, house: HouseView) -> str:
    """Return how it is instead."""
    graph = house.graph
    ids = house.objects_of(condition)
    if condition.person:
        ids = [] if graph.character is None else [graph.character]
    found = '; '.join(_how_it_is(graph, node_id, house.derived) for node_id in ids[:MOST_NAMED])
    more = f', and {len(ids) - MOST_NAMED} more' if len(ids) > MOST_NAMED else ''
    missing = 'It is not so' if condition.count == 1 else f'Only {n_fitting}'
    return f'{missing}: {condition}. {found[:1].upper()}{found[1:]}{more}.'


def _how_it_is(graph: Graph, node_id: int, derived: Derived) -> str:
    """Return where an object is and what it is: `salmon_103 is on kitchencounter_110, heated`."""
    held = any(graph.sources(node_id, hand) for hand in HANDS)
    places = [
        f'{relation.value.lower()} {_name(graph, other)}'
        for relation in (Relation.ON, Relation.INSIDE)
        for other in sorted(graph.targets(node_id, relation))
    ]
    words = [
        *(['in a hand'] if held else places[:1]),
        *sorted(state.value.lower() for state in graph.nodes[node_id].states),
        *(word for word in WORDS if (node_id, word) in derived),
    ]
    return f'{_name(graph, node_id)} is {", ".join(words) or "nowhere"}'


def _name(graph: Graph, node_id: int) -> str:
    return instance_name(graph.nodes[node_id].class_name, node_id)
