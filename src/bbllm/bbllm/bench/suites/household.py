"""Judges a household at the end of an episode, by its graph and not by what a planner saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from itertools import product

from bbllm.bench.suites.house_goals import ANYTHING, FinalStateGoal, HouseCondition, HouseholdGoal
from bbllm.bench.suites.parts import Part, finding_of
from bbllm.bench.suites.situation import Judgement, Verdict
from bbllm.core.instance_names import instance_name
from bbllm.core.phrases import listed
from bbllm.worlds.household.checks import A, close_to
from bbllm.worlds.household.derived import WORDS, by_device
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.rule import ActionSituation as Moment
from bbllm.worlds.household.rule import Memory
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

TOLD = 3
"""How many things of a class a reason tells of."""
_PLACES = (Relation.INSIDE, Relation.ON)

Derived = Set[tuple[int, str]]
"""What has become of things, see worlds.household.derived."""


@dataclass(frozen=True, slots=True)
class _Household:
    """What a condition is held against."""

    graph: Graph
    derived: Derived
    seat: int | None
    only: Mapping[str, int] = field(default_factory=dict)
    """By class: the one thing that counts."""

    def of_class(self, class_name: str) -> list[int]:
        """Return the things of a class that count."""
        if class_name in self.only:
            return [self.only[class_name]]
        return _of_class(self.graph, class_name)

    def things_of(self, condition: HouseCondition) -> list[int]:
        """Return all that a condition may be meant of, sorted."""
        name = condition.thing or condition.held or ''
        if name == ANYTHING:
            nodes = self.graph.nodes.values()
            ids = [node.id for node in nodes if Property.GRABBABLE in node.properties]
        else:
            ids = self.of_class(name)
        if condition.room is None:
            return sorted(ids)
        rooms = self.of_class(condition.room)
        return sorted(node_id for node_id in ids if self.graph.room_of(node_id) in rooms)


def judge_household(
    goal: HouseholdGoal | FinalStateGoal,
    graph: Graph,
    derived: Derived,
    *,
    seat: int | None = None,
) -> Judgement:
    """
    Judge a household.

    There is one formulation, and nothing to dispute: symbols have no tolerances.

    Args:
        goal: What must be so.
        graph: The household as it is now.
        derived: What has become of things so far.
        seat: What the person sat or lay down on last, if that is known: VirtualHome's own rules
            leave it ON all that it ever sat on.
    """
    if isinstance(goal, FinalStateGoal):
        parts = _final_parts(goal, graph, derived)
    else:
        parts = _parts(goal, _Household(graph, derived, seat))
    finding = finding_of(parts)
    return Judgement(
        verdict=Verdict.PASSED if finding.passed else Verdict.FAILED,
        reason=finding.reason,
        conditions=tuple(part.condition for part in parts),
        findings=(finding,),
    )


def relations_of(graph: Graph) -> set[str]:
    """Return all relations by class, for example `salmon INSIDE fridge`."""
    return {
        f'{graph.nodes[start].class_name} {relation.value} {graph.nodes[end].class_name}'
        for start, relation, end in graph.edges()
    }


def states_of(graph: Graph, derived: Derived) -> set[str]:
    """Return all states by class, for example `tv ON`, with what has become of things."""
    stated = {
        f'{node.class_name} {state.value}'
        for node in graph.nodes.values()
        for state in node.states
    }
    return stated | {
        f'{graph.nodes[node_id].class_name} {word.upper()}' for node_id, word in derived
    }


def _final_parts(goal: FinalStateGoal, graph: Graph, derived: Derived) -> list[Part]:
    relations, states = relations_of(graph), states_of(graph, derived)
    return [
        *(Part(text, _missing(text, relations)) for text in goal.relations),
        *(Part(text, _missing(text, states)) for text in goal.states),
    ]


def _missing(text: str, found: Set[str]) -> str:
    return '' if text in found else f'It is not so that {text}.'


def _parts(goal: HouseholdGoal, home: _Household) -> list[Part]:
    """Hold all conditions against a household, with the things of `same` that do best."""
    chosen = product(*(home.of_class(name) for name in goal.same))
    tries = [
        [_part(each, replace(home, only=dict(zip(goal.same, ids)))) for each in goal.all]
        for ids in chosen
    ]
    # Without any thing of such a class no condition that speaks of it holds.
    return max(
        tries or [[_part(each, home) for each in goal.all]],
        key=lambda parts: sum(part.condition.holds for part in parts),
    )


def _part(condition: HouseCondition, home: _Household) -> Part:
    graph = home.graph
    fitting = sorted(_fitting(condition, home))
    enough = len(fitting) >= condition.count
    if enough is not condition.not_:
        return Part(str(condition))
    if condition.not_:
        which = listed([_name(graph, node_id) for node_id in fitting[:TOLD]])
        return Part(str(condition), f'It is not wanted, but is so of {which}.')
    return Part(str(condition), _lack(condition, len(fitting), home))


def _fitting(condition: HouseCondition, home: _Household) -> Iterator[int]:
    """Yield the things that a condition holds of."""
    graph = home.graph
    if condition.person:
        if graph.character is not None and _person_fits(condition, home):
            yield graph.character
        return
    relation = Relation.INSIDE if condition.inside else Relation.ON
    there = lying(graph, relation, home.of_class(condition.place)) if condition.place else set()
    for node_id in home.things_of(condition):
        fits = True
        if condition.held:
            fits = any(graph.sources(node_id, hand) for hand in HANDS)
        if condition.is_:
            fits = _is(home, node_id, condition.is_, condition.by)
        if fits and condition.place:
            fits = node_id in there
        if fits:
            yield node_id


def things_of(condition: HouseCondition, graph: Graph) -> list[int]:
    """Return the ids of all things that a condition may be meant of, sorted."""
    return _Household(graph, frozenset(), None).things_of(condition)


def _person_fits(condition: HouseCondition, home: _Household) -> bool:
    """
    Tell whether the person sits or lies, and where it does.

    That it is ON something alone says little: by VirtualHome's own rules this stays when it stands
    up or walks off. Where it sits it is close to, and sat down last.
    """
    graph = home.graph
    assert graph.character is not None  # the caller looked
    me = graph.nodes[graph.character]
    if State(str(condition.person).upper()) not in me.states:
        return False
    seats = graph.targets(me.id, Relation.ON)
    return condition.on is None or any(
        seat in seats
        and home.seat in (None, seat)
        and close_to(A)(Moment(graph, me, (graph.nodes[seat],), Memory()))
        for seat in home.of_class(condition.on)
    )


def _is(home: _Household, node_id: int, word: str, by: str | None) -> bool:
    if word in WORDS:
        return (node_id, word if by is None else by_device(word, by)) in home.derived
    return State(word.upper()) in home.graph.nodes[node_id].states


def lies(graph: Graph, node_id: int, relation: Relation, place: str) -> bool:
    """Tell whether a thing is in or on a thing of a class, or in or on something that is."""
    return node_id in lying(graph, relation, _of_class(graph, place))


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


def _of_class(graph: Graph, class_name: str) -> list[int]:
    return [node_id for node_id, node in graph.nodes.items() if node.class_name == class_name]


def _lack(condition: HouseCondition, n_fitting: int, home: _Household) -> str:
    """Say how it is instead."""
    graph = home.graph
    if condition.person:
        ids = [] if graph.character is None else [graph.character]
    else:
        ids = home.things_of(condition)
    told = '; '.join(_how_it_is(graph, node_id, home.derived) for node_id in sorted(ids)[:TOLD])
    more = f', and {len(ids) - TOLD} more' if len(ids) > TOLD else ''
    missing = 'It is not so' if condition.count == 1 else f'Only {n_fitting}'
    return f'{missing}: {condition}. {told[:1].upper()}{told[1:]}{more}.'


def _how_it_is(graph: Graph, node_id: int, derived: Derived) -> str:
    """Say where a thing is and what it is: `salmon_103 is on kitchencounter_110, heated`."""
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
