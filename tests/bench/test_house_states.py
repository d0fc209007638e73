"""What is taken for possible in a house, at the ends of what a suite's table of errors shows."""

from __future__ import annotations

from typing import Any

import pytest
from household_cases import case_of
from pydantic import ValidationError

from bbllm.bench.suites.house_goals import HouseCondition
from bbllm.bench.suites.house_suite import can_be, can_be_held
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.vocabulary import Property, Relation, State


@pytest.mark.parametrize(
    ('said', 'told'),
    [
        ({'person': 'sitting', 'count': 2}, 'of a person only what it is on'),
        ({'thing': 'salmon', 'inside': 'fridge', 'on': 'sofa'}, 'one of inside, on and is'),
        ({'thing': 'salmon', 'room': 'kitchen'}, 'one of inside, on and is'),
        ({'held': 'salmon', 'room': 'kitchen'}, 'room goes with a thing'),
    ],
)
def test_a_condition_says_one_thing(said: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        HouseCondition.model_validate(said)


def test_water_a_child_and_what_is_held_at_first_can_be_held_whatever_their_properties() -> None:
    graph = Graph()
    for node_id, name in enumerate(('character', 'water', 'child', 'sofa', 'tv'), start=1):
        graph.nodes[node_id] = Node(node_id, name)
    graph.add(1, Relation.HOLDS_LH, 5)

    assert [can_be_held(graph, node_id) for node_id in (2, 3, 4, 5)] == [True, True, False, True]


def test_what_is_neither_on_nor_off_cannot_be_switched_unless_the_task_says_what_it_is() -> None:
    graph = Graph()
    graph.nodes[1] = Node(1, 'tv', properties=frozenset({Property.HAS_SWITCH}))
    assert not can_be(graph, 1, 'on', frozenset())
    assert can_be(graph, 1, 'on', {'off'})

    graph.nodes[1].states = {State.OFF}
    assert can_be(graph, 1, 'on', frozenset())


def test_what_a_task_speaks_of_stays_where_it_is_in_every_trial() -> None:
    for trial in range(30):
        case = case_of('throw_away_apple', trial)
        house, drawn = load_house(case.house.name).graph, case.house.build()

        for node_id, node in house.nodes.items():
            if node.class_name in ('apple', 'garbagecan'):
                for word in (Relation.ON, Relation.INSIDE):
                    assert drawn.targets(node_id, word) == house.targets(node_id, word)
