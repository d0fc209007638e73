"""What ProgPrompt's published program says has become of things, where that is not what we say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_houses import (
    BEDROOM,
    BREAD,
    FAUCET,
    KITCHEN,
    MICROWAVE,
    MUG,
    PAN,
    PHONE,
    SALMON,
    SINK,
    STOVE,
    TOASTER,
    two_rooms,
    without_devices,
)

from bbllm.core.naming import instance_name
from bbllm.core.types import SkillCall
from bbllm.worlds.household.derived import DerivedStates, add_published, derived, published
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Relation, State
from bbllm.worlds.household.world import HouseholdWorld


@pytest.fixture
def house() -> Graph:
    """Two rooms whose food has the category that VirtualHome's graphs give it."""
    graph = two_rooms()
    for thing in (SALMON, BREAD):
        graph.nodes[thing] = replace(graph.nodes[thing], category='Food')
    return graph


def turn_on(graph: Graph, device: int) -> None:
    graph.nodes[device].states -= {State.OFF}
    graph.nodes[device].states |= {State.ON}


@pytest.mark.parametrize(
    ('thing', 'relation', 'place', 'device', 'theirs', 'ours'),
    [
        (SALMON, Relation.INSIDE, MICROWAVE, MICROWAVE, 'heated', 'heated'),
        (SALMON, Relation.ON, PAN, STOVE, 'heated', 'heated'),
        (SALMON, Relation.INSIDE, PAN, STOVE, '', 'heated'),
        (SALMON, Relation.INSIDE, STOVE, STOVE, '', 'heated'),
        (MUG, Relation.INSIDE, MICROWAVE, MICROWAVE, '', ''),
        (MUG, Relation.INSIDE, SINK, FAUCET, 'washed', 'washed'),
        (BREAD, Relation.INSIDE, TOASTER, TOASTER, '', 'toasted'),
    ],
)
def test_fewer_devices_do_something(
    house: Graph, thing: int, relation: Relation, place: int, device: int, theirs: str, ours: str
) -> None:
    graph = house
    graph.add(thing, relation, place)
    for node in graph.nodes.values():
        node.states -= {State.OPEN}
    turn_on(graph, device)

    assert published(graph) == ({(thing, theirs)} if theirs else frozenset())
    assert without_devices(derived(graph)) == ({(thing, ours)} if ours else set())


def test_a_microwave_heats_with_its_door_open(house: Graph) -> None:
    graph = house
    graph.add(SALMON, Relation.INSIDE, MICROWAVE)
    graph.nodes[MICROWAVE].states = {State.OPEN, State.ON}

    assert published(graph) == {(SALMON, 'heated')}
    assert derived(graph) == frozenset()


def test_a_faucet_washes_in_the_sink_of_another_room() -> None:
    graph = two_rooms()
    graph.add(MUG, Relation.INSIDE, SINK)
    graph.remove(FAUCET, Relation.INSIDE, KITCHEN)
    graph.add(FAUCET, Relation.INSIDE, BEDROOM)
    turn_on(graph, FAUCET)

    assert published(graph) == {(MUG, 'washed')}
    assert derived(graph) == frozenset()


def test_a_phone_that_is_on_is_used_and_stays_so() -> None:
    graph, states = two_rooms(), DerivedStates(add_published)
    turn_on(graph, PHONE)
    states.look(graph)
    graph.nodes[PHONE].states = {State.OFF}
    states.look(graph)

    assert states.of(PHONE) == ('used',)


@pytest.mark.parametrize(
    ('states', 'washed'), [(DerivedStates(add_published), ()), (DerivedStates(), ('washed',))]
)
def test_a_world_goes_by_the_rules_it_is_given(
    states: DerivedStates, washed: tuple[str, ...]
) -> None:
    graph = two_rooms()
    world = HouseholdWorld(graph, derived=states)
    for skill in ('walk', 'wash'):
        name = instance_name(graph.nodes[MUG].class_name, MUG)
        assert world.execute(SkillCall(skill, (name,))).succeeded

    assert world.derived.of(MUG) == washed
