"""Least steps: what is shut in is opened first, and of which beginnings nothing is claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bbllm.bench.optimal.least_bound import bound
from bbllm.bench.optimal.least_steps import least_steps
from bbllm.bench.optimal.relaxed_house import NotProvenError, relax
from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import build
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

STEADY = (Constraint(puts_only_on='furniture'),)
SHUT_TOASTER = {'kitchencabinet': {'inside': ['toaster']}}
SHUT_MICROWAVE = {'closet': {'inside': ['microwave']}}


def steps(items: list[Any], *conditions: dict[str, Any]) -> list[str]:
    """Return what a shortest plan does, each step as the action and the first thing's class."""
    house = Household(build({'rooms': {'kitchen': items}}, 'made up'), constraints=STEADY)
    goal = HouseholdGoal(
        kind='household', all=tuple(map(HouseCondition.model_validate, conditions))
    )
    lines = least_steps(house, goal).lines
    copy = house.copy()
    assert all(copy.step(line).succeeded for line in lines)
    return [f'{line.action.value.lower()} {line.objects[0][0]}' for line in lines]


def test_a_device_in_a_closed_cabinet_is_switched_on_when_that_is_open() -> None:
    found = steps([SHUT_TOASTER], {'thing': 'toaster', 'is': 'on'})

    assert len(found) == 3
    assert found[1:] == ['open kitchencabinet', 'switchon toaster']


def test_a_door_behind_a_door_is_the_second_that_is_opened() -> None:
    found = steps([SHUT_MICROWAVE], {'thing': 'microwave', 'is': 'open'})

    assert found[1:] == ['open closet', 'open microwave']


@pytest.mark.parametrize('closed', [False, True])
def test_what_is_put_behind_two_doors_takes_both_to_be_opened(closed: bool) -> None:
    goal = [{'thing': 'plum', 'inside': 'microwave'}]
    if closed:
        goal.append({'thing': 'closet', 'is': 'closed'})

    found = steps(['plum', SHUT_MICROWAVE], *goal)

    assert [item for item in found if item.startswith('open')] == ['open closet', 'open microwave']
    assert ('close closet' in found) is closed
    assert len(found) == 6 + closed


FLAT = {
    'rooms': {
        'kitchen': [{'fridge': {'inside': ['plum']}}, {'kitchencounter': {'on': ['toaster']}}],
        'livingroom': ['sofa', 'tv', 'clothesshirt', {'desk': {'on': ['lime']}}],
    }
}
Change = Callable[[dict[str, Any], Callable[[str], int]], None]


def edge(source: str, relation: str, target: str) -> Change:
    """Return what adds an edge between the first things of two classes."""

    def change(graph: dict[str, Any], id_of: Callable[[str], int]) -> None:
        graph['edges'].append(
            {'from_id': id_of(source), 'relation_type': relation, 'to_id': id_of(target)}
        )

    return change


def states(thing: str, *words: str) -> Change:
    """Return what gives a thing other states."""

    def change(graph: dict[str, Any], id_of: Callable[[str], int]) -> None:
        node = next(node for node in graph['nodes'] if node['id'] == id_of(thing))
        node['states'] = [*words]

    return change


def changed(*changes: Change) -> Household:
    graph = build(FLAT, 'made up').to_dict()

    def id_of(word: str) -> int:
        return next(node['id'] for node in graph['nodes'] if node['class_name'] == word)

    for change in changes:
        change(graph, id_of)
    return Household(Graph.from_dict(graph), constraints=STEADY)


def goal(*conditions: dict[str, Any]) -> HouseholdGoal:
    return HouseholdGoal(
        kind='household', all=tuple(map(HouseCondition.model_validate, conditions))
    )


PLUM_ON_DESK = goal({'thing': 'plum', 'on': 'desk'})


@pytest.mark.parametrize(
    ('change', 'told'),
    [
        (edge('clothesshirt', 'ON', 'character'), 'wears something at the start'),
        (edge('plum', 'ON', 'desk'), 'is in two places at the start'),
        (states('fridge'), 'neither open nor closed'),
    ],
)
def test_of_a_beginning_that_the_argument_does_not_know_nothing_is_claimed(
    change: Change, told: str
) -> None:
    assert least_steps(changed(), PLUM_ON_DESK).lines
    with pytest.raises(NotProvenError, match=told):
        least_steps(changed(change), PLUM_ON_DESK)


def test_who_stands_in_two_zones_is_told() -> None:
    near = (edge('character', 'CLOSE', 'fridge'), edge('character', 'CLOSE', 'sofa'))

    assert least_steps(changed(near[0]), PLUM_ON_DESK).lines
    with pytest.raises(NotProvenError, match='stands in two zones'):
        least_steps(changed(*near), PLUM_ON_DESK)


@pytest.mark.parametrize(
    ('words', 'told'),
    [(('CLEAN', 'PLUGGED_IN'), 'neither on nor off'), (('OFF', 'PLUGGED_OUT'), 'is plugged out')],
)
def test_a_device_that_is_neither_on_nor_off_or_has_no_current_is_told(
    words: tuple[str, ...], told: str
) -> None:
    watch = goal({'thing': 'tv', 'is': 'on'})

    assert least_steps(changed(states('tv', 'OFF', 'PLUGGED_IN')), watch).lines
    with pytest.raises(NotProvenError, match=told):
        least_steps(changed(states('tv', *words)), watch)


def test_who_sits_at_the_start_is_told() -> None:
    household = changed()
    sofa = next(n for n, x in household.graph.nodes.items() if x.class_name == 'sofa')
    for step in (Action.WALK, Action.SIT):
        assert household.step(ScriptLine(step, (('sofa', sofa),))).succeeded

    with pytest.raises(NotProvenError, match='the person sits at the start'):
        least_steps(household, PLUM_ON_DESK)


def test_where_one_place_would_do_for_two_conditions_nothing_is_claimed() -> None:
    both = goal({'thing': 'plum', 'on': 'kitchencounter'}, {'thing': 'plum', 'inside': 'toaster'})

    with pytest.raises(NotProvenError, match='one place counts for two conditions'):
        least_steps(changed(), both)


def test_what_stands_on_something_that_is_shut_in_is_shut_in_too() -> None:
    on_microwave = {'closet': {'inside': [{'microwave': {'on': ['toaster']}}]}}

    found = steps([on_microwave], {'thing': 'toaster', 'is': 'on'})

    assert found[1:] == ['open closet', 'switchon toaster']


def test_on_top_of_something_closed_nothing_has_to_be_opened() -> None:
    found = steps(['plum', 'kitchencabinet'], {'thing': 'plum', 'on': 'kitchencabinet'})

    assert found == ['walk plum', 'grab plum', 'walk kitchencabinet', 'putback plum']


def test_that_conditions_are_of_one_and_the_same_thing_is_not_claimed() -> None:
    one = goal({'thing': 'plum', 'on': 'desk'}, {'thing': 'tv', 'is': 'on'})

    with pytest.raises(NotProvenError, match='one and the same thing'):
        least_steps(changed(), one.model_copy(update={'same': ('plum',)}))


def test_on_something_and_inside_it_are_two_places() -> None:
    found = steps(
        [{'kitchencabinet': {'on': ['plum']}}], {'thing': 'plum', 'inside': 'kitchencabinet'}
    )

    assert len(found) == 4
    assert {'open kitchencabinet', 'grab plum', 'putin plum'} < set(found)


@pytest.mark.parametrize(
    ('items', 'conditions', 'least'),
    [
        # Another plum is shut in, and need not be had.
        (
            [{'fridge': {'inside': ['plum']}}, {'stool': {'on': ['plum']}}, 'desk'],
            [{'thing': 'plum', 'on': 'desk'}],
            4,
        ),
        # Another cabinet is closed, and need not be used.
        (
            ['plum', {'kitchencabinet': {'is': ['open']}}, 'kitchencabinet'],
            [{'thing': 'plum', 'inside': 'kitchencabinet'}],
            4,
        ),
        # It is opened once, for the plum and for good.
        (
            ['plum', 'fridge'],
            [{'thing': 'plum', 'inside': 'fridge'}, {'thing': 'fridge', 'is': 'open'}],
            5,
        ),
    ],
)
def test_the_bound_counts_no_door_that_one_can_do_without_and_none_twice(
    items: list[Any], conditions: list[dict[str, Any]], least: int
) -> None:
    graph = build({'rooms': {'kitchen': items}}, 'made up')
    house = relax(graph, goal(*conditions))

    assert len(steps(items, *conditions)) == least
    assert bound(house, house.start()) <= least
