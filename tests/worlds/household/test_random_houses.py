"""Houses and scripts that are drawn to compare two simulators."""

import random

import pytest

from bbllm.worlds.household.graph import Graph, GraphError
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import parse_line
from bbllm.worlds.household.vocabulary import Relation
from tests.worlds.household.random_houses import draw_house
from tests.worlds.household.random_scripts import draw_script


@pytest.mark.parametrize('seed', range(6))
def test_a_house_without_oddities_is_one_that_anybody_could_live_in(seed: int) -> None:
    graph = Graph.from_dict(draw_house(random.Random(seed), 120, odd=0.0))

    assert len(graph.nodes) == 120
    for node_id, node in graph.nodes.items():
        around = graph.targets(node_id, Relation.INSIDE)
        assert len([n for n in around if graph.nodes[n].is_room]) <= 1, str(node)
        assert graph.room_of(node_id) is not None, str(node)


def test_odd_houses_have_what_the_reader_of_tidy_ones_refuses_and_things_in_no_room() -> None:
    refused = lost = 0
    for seed in range(40):
        house = draw_house(random.Random(seed), 60, odd=0.2)
        graph = Graph.from_dict(house, strict=False)
        assert not graph.drop_rings()  # these alone are never drawn: the original would not end
        lost += any(graph.room_of(node_id) is None for node_id in graph.nodes)
        try:
            Graph.from_dict(house)
        except GraphError:
            refused += 1

    assert 0 < refused < 40
    assert lost > 20


def test_a_third_of_the_lines_of_a_script_can_be_done() -> None:
    done = lines = 0
    for seed in range(20):
        house = draw_house(random.Random(seed), 80, odd=0.0)
        household = Household(Graph.from_dict(house, strict=False), mode=Mode.PERSISTENT)
        script = draw_script(random.Random(seed), house, 40)
        assert len(script) == 40
        done += sum(household.step(parse_line(line)).succeeded for line in script)
        lines += len(script)

    assert done > lines / 3
