"""Judges a household at the end of an episode, by its graph and not by what a planner saw."""

from __future__ import annotations

from collections.abc import Iterator, Set

from bbllm.bench.checkers.parts import Part, finding_of, listed
from bbllm.bench.checkers.situation import Judgement, Verdict
from bbllm.bench.house_goals import ANYTHING, FinalStateGoal, HouseCondition, HouseholdGoal
from bbllm.core.instances import instance_name
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

TOLD = 3
"""How many things of a class a reason tells of."""
_PLACES = (Relation.INSIDE, Relation.ON)

Derived = Set[tuple[int, str]]
"""What has become of things, see worlds.household.derived."""


def judge_household(
    goal: HouseholdGoal | FinalStateGoal, graph: Graph, derived: Derived
) -> Judgement:
    """
    Judge a household.

    There is one formulation, and nothing to dispute: symbols have no tolerances.

    Args:
        goal: What must be so.
        graph: The household as it is now.
        derived: What has become of things so far.
    """
    if isinstance(goal, FinalStateGoal):
        parts = _final_parts(goal, graph, derived)
    else:
        parts = [_part(condition, graph, derived) for condition in goal.all]
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


def _part(condition: HouseCondition, graph: Graph, derived: Derived) -> Part:
    fitting = sorted(_fitting(condition, graph, derived))
    enough = len(fitting) >= condition.count
    if enough is not condition.not_:
        return Part(str(condition))
    if condition.not_:
        which = listed([_name(graph, node_id) for node_id in fitting[:TOLD]])
        return Part(str(condition), f'It is not wanted, but is so of {which}.')
    return Part(str(condition), _lack(condition, len(fitting), graph, derived))


def _fitting(condition: HouseCondition, graph: Graph, derived: Derived) -> Iterator[int]:
    """Yield the things that a condition holds of."""
    if condition.person:
        if graph.character is not None and _person_fits(condition, graph):
            yield graph.character
        return
    for node_id in things_of(condition, graph):
        fits = True
        if condition.held:
            fits = any(graph.sources(node_id, hand) for hand in HANDS)
        if condition.is_:
            fits = _is(graph, node_id, condition.is_, derived)
        if fits and condition.place:
            relation = Relation.INSIDE if condition.inside else Relation.ON
            fits = lies(graph, node_id, relation, condition.place)
        if fits:
            yield node_id


def things_of(condition: HouseCondition, graph: Graph) -> list[int]:
    """Return the ids of all things that a condition may be meant of, sorted."""
    name = condition.thing or condition.held or ''
    ids = [
        node_id
        for node_id, node in graph.nodes.items()
        if (Property.GRABBABLE in node.properties if name == ANYTHING else node.class_name == name)
    ]
    if condition.room is None:
        return sorted(ids)
    return sorted(n for n in ids if _in_room(graph, n, condition.room))


def _in_room(graph: Graph, node_id: int, name: str) -> bool:
    room = graph.room_of(node_id)
    return room is not None and graph.nodes[room].class_name == name


def _person_fits(condition: HouseCondition, graph: Graph) -> bool:
    assert graph.character is not None  # the caller looked
    seats = graph.targets(graph.character, Relation.ON)
    on = condition.on is None or any(graph.nodes[n].class_name == condition.on for n in seats)
    return on and State(str(condition.person).upper()) in graph.nodes[graph.character].states


def _is(graph: Graph, node_id: int, word: str, derived: Derived) -> bool:
    if word in WORDS:
        return (node_id, word) in derived
    return State(word.upper()) in graph.nodes[node_id].states


def lies(graph: Graph, node_id: int, relation: Relation, place: str) -> bool:
    """
    Tell whether a thing is in or on a thing of a class, or in or on something that is.

    What is on a plate in the fridge is in the fridge, and fruit in a bowl on the table on the
    table.
    """
    waiting, seen = [node_id], {node_id}
    while waiting:
        here = waiting.pop()
        if any(graph.nodes[other].class_name == place for other in graph.targets(here, relation)):
            return True
        for step in _PLACES:
            # A room leads nowhere else, and what is in the same room is not on one another.
            around = graph.targets(here, step) - seen
            waiting.extend(other for other in around if not graph.nodes[other].is_room)
            seen |= around
    return False


def _lack(condition: HouseCondition, n_fitting: int, graph: Graph, derived: Derived) -> str:
    """Say how it is instead."""
    if condition.person:
        ids = [] if graph.character is None else [graph.character]
    else:
        ids = things_of(condition, graph)
    told = '; '.join(_how_it_is(graph, node_id, derived) for node_id in sorted(ids)[:TOLD])
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
