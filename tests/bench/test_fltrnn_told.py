"""What `expert` reads in the prompts of FLTRNN: what is where, how it is, and what is untold."""

from __future__ import annotations

from collections.abc import Sequence

from household_cases import case_of

from bbllm.bench.household_expert.fltrnn_told import ToldHouse, read_told
from bbllm.core.delimiters import without_delimiters
from bbllm.core.instance_names import class_of, id_of
from bbllm.core.types import SkillCall
from bbllm.planners.common.goal_predicates import parse_goal
from bbllm.planners.fltrnn.context_selection import remembered, remembered_of
from bbllm.planners.fltrnn.demonstrations import household_demonstrations
from bbllm.planners.fltrnn.memory_graph import MemoryGraph
from bbllm.planners.fltrnn.prompting import FLTRNNPrompts, LongTerm, ShortTerm
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.vocabulary import HANDS, Relation, State
from bbllm.worlds.household.world import HouseholdWorld

DEMONSTRATIONS = household_demonstrations()[:3]


def start() -> Household:
    return Household(case_of('put_salmon_in_the_fridge').house.build())


def memory_after(*calls: tuple[str, ...]) -> MemoryGraph:
    """Return a memory graph after calls on the first things of some classes."""
    memory = MemoryGraph(HouseholdWorld(start().graph).observe())
    for skill, *words in calls:
        memory.apply(SkillCall(skill, tuple(memory.of_class(word)[0] for word in words)))
    return memory


def told_by(memory: MemoryGraph, chosen: Sequence[str], *, terse: bool = True) -> ToldHouse:
    text = remembered_of(memory, chosen, terse=terse)
    scene = HouseholdWorld(start().graph).observe()
    told = ShortTerm('x', text, DEMONSTRATIONS)
    return read_told(without_delimiters(FLTRNNPrompts().cell(scene, LongTerm('x'), told)))


def test_what_was_put_held_and_opened_is_so_in_the_household_that_is_read() -> None:
    memory = memory_after(
        ('open', 'fridge'), ('grab', 'salmon'), ('putin', 'salmon', 'fridge'), ('grab', 'plate')
    )
    fridge, salmon, plate = (memory.of_class(word)[0] for word in ('fridge', 'salmon', 'plate'))

    for terse in (True, False):
        graph = told_by(memory, [fridge, salmon, plate], terse=terse).household(start()).graph

        assert graph.has(id_of(salmon) or 0, Relation.INSIDE, id_of(fridge) or 0)
        assert graph.has(graph.character or 0, HANDS[0], id_of(plate) or 0)
        assert State.OPEN in graph.nodes[id_of(fridge) or 0].states
        assert State.CLOSED not in graph.nodes[id_of(fridge) or 0].states


def test_what_is_not_told_of_is_not_there_but_for_walls_and_rooms() -> None:
    memory = memory_after()
    (fridge,) = memory.of_class('fridge')
    before = start().graph

    graph = told_by(memory, [fridge]).household(start()).graph

    left = {node.class_name for node in graph.nodes.values()}
    assert {'fridge', 'wall', 'floor', 'character'} <= left
    assert not {'salmon', 'sofa', 'plate', 'door'} & left
    assert {n.class_name for n in graph.nodes.values() if n.is_room} == {
        n.class_name for n in before.nodes.values() if n.is_room
    }


def test_nothing_is_near_in_it_as_no_prompt_tells_what_is() -> None:
    memory = memory_after()
    household = start()
    graph = household.graph
    (fridge,) = memory.of_class('fridge')
    graph.add_both_ways(graph.character or 0, Relation.CLOSE, [id_of(fridge) or 0])

    told_by(memory, [fridge]).household(household)

    assert not graph.targets(graph.character or 0, Relation.CLOSE)
    assert not graph.sources(graph.character or 0, Relation.CLOSE)


def test_things_of_the_examples_are_not_of_the_house() -> None:
    memory = memory_after()
    (fridge,) = memory.of_class('fridge')

    house = told_by(memory, [fridge])

    assert fridge in house.names
    assert {class_of(name) for name in house.names} == {'fridge', 'kitchen'}


def test_classes_that_are_not_in_sight_are_read_with_where_one_can_look() -> None:
    memory = memory_after()
    predicates = parse_goal('on_unicorn_sofa: 1', ('unicorn', 'sofa')) or ()
    scene = HouseholdWorld(start().graph).observe()
    told = ShortTerm('on_unicorn_sofa: 1', remembered(memory, predicates), DEMONSTRATIONS)

    house = read_told(without_delimiters(FLTRNNPrompts().cell(scene, LongTerm('x'), told)))

    assert house.unseen == ('unicorn',)
    assert memory.of_class('fridge')[0] in house.closed
    assert not house.seated
