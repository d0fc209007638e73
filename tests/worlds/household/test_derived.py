"""What has become of things while devices were on."""

import pytest

from bbllm.worlds.household.derived import (
    DerivedStates,
    by_device,
    can_become,
    derived,
)
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Relation, State
from bbllm.worlds.household.world import HouseholdWorld
from tests.worlds.household.small_houses import Id, execute, two_rooms, without_devices


def switch(graph: Graph, node_id: int, state: State) -> None:
    graph.nodes[node_id].states -= {State.ON, State.OFF}
    graph.nodes[node_id].states |= {state}


@pytest.mark.parametrize(
    ('entity', 'place', 'device', 'name', 'word'),
    [
        (Id.BREAD, Id.TOASTER, Id.TOASTER, 'toaster', 'toasted'),
        (Id.SALMON, Id.PAN, Id.STOVE, 'oven', 'heated'),
        (Id.SALMON, Id.MICROWAVE, Id.MICROWAVE, 'micro_wave', 'heated'),
        (Id.JUICE, Id.MICROWAVE, Id.MICROWAVE, 'microwave', 'heated'),
        (Id.MUG, Id.SINK, Id.FAUCET, 'Faucet', 'washed'),
        (Id.PHONE, Id.SHELF, Id.PHONE, 'cellphone', 'used'),
        (Id.PHONE, Id.SHELF, Id.PHONE, 'phone', 'used'),
    ],
)
def test_devices_are_known_by_all_their_names_and_drinks_are_food(
    entity: int, place: int, device: int, name: str, word: str
) -> None:
    graph = two_rooms()
    graph.remove(Id.JUICE, Relation.INSIDE, Id.FRIDGE)
    graph.nodes[Id.SINK].class_name = 'Bath_tub'  # as in some data sets
    graph.add(entity, Relation.INSIDE, place)
    graph.nodes[device].class_name = name
    graph.nodes[place].states -= {State.OPEN}
    switch(graph, device, State.ON)

    assert without_devices(derived(graph)) == {(entity, word)}


@pytest.mark.parametrize('state', [State.CLOSED, State.OPEN])
@pytest.mark.parametrize(
    ('name', 'washed'), [('washingmachine', {Id.SHIRT}), ('dishwasher', {Id.SHIRT, Id.PLATE})]
)
def test_a_washing_machine_that_is_shut_washes_clothes_and_a_dishwasher_anything(
    name: str, washed: set[int], state: State
) -> None:
    graph = two_rooms()
    graph.nodes[Id.MICROWAVE].class_name = name
    graph.nodes[Id.MICROWAVE].states = {state, State.ON}
    for entity in (Id.SHIRT, Id.PLATE):
        graph.add(entity, Relation.INSIDE, Id.MICROWAVE)

    shut = state is State.CLOSED
    assert without_devices(derived(graph)) == (
        {(entity, 'washed') for entity in washed} if shut else set()
    )


@pytest.mark.parametrize('skill', ['wash', 'rinse', 'scrub', 'wipe'])
def test_what_is_washed_by_hand_is_washed_and_what_is_wiped_is_not(skill: str) -> None:
    world = HouseholdWorld(two_rooms())
    assert not execute(world, f'{skill} mug_23').succeeded
    assert world.derived.of(Id.MUG) == ()

    steps = ('walk mug_23', 'find spoon_24', 'grab spoon_24', 'walk mug_23', f'{skill} mug_23')
    assert execute(world, *steps).succeeded

    assert world.derived.of(Id.MUG) == (() if skill == 'wipe' else ('washed',))


def test_what_is_no_food_or_in_a_pan_beside_the_stove_is_neither_heated_nor_toasted() -> None:
    graph = two_rooms()
    graph.add(Id.BOOK, Relation.INSIDE, Id.MICROWAVE)
    graph.nodes[Id.MICROWAVE].states -= {State.OPEN}
    graph.add(Id.PLATE, Relation.ON, Id.TOASTER)
    graph.add(Id.SALMON, Relation.ON, Id.PAN)
    graph.remove(Id.PAN, Relation.ON, Id.STOVE)
    for device in (Id.MICROWAVE, Id.TOASTER, Id.STOVE):
        switch(graph, device, State.ON)

    assert derived(graph) == frozenset()


def test_what_has_become_of_an_object_stays_when_the_device_is_off_again() -> None:
    graph, keeper = two_rooms(), DerivedStates()
    graph.add(Id.SALMON, Relation.INSIDE, Id.MICROWAVE)
    graph.nodes[Id.MICROWAVE].states = {State.CLOSED, State.OFF}
    for state in (State.ON, State.OFF):
        switch(graph, Id.MICROWAVE, state)
        keeper.update(graph)

    assert keeper.of(Id.SALMON) == ('heated',)
    assert keeper.of(Id.MUG) == ()


def test_it_is_remembered_which_device_did_it_also_after_another_did() -> None:
    graph = two_rooms()
    graph.add(Id.SALMON, Relation.INSIDE, Id.STOVE)
    graph.nodes[Id.STOVE].states -= {State.OPEN}
    switch(graph, Id.STOVE, State.ON)
    by_stove = derived(graph)
    graph.remove(Id.SALMON, Relation.INSIDE, Id.STOVE)
    graph.add(Id.SALMON, Relation.INSIDE, Id.MICROWAVE)
    graph.nodes[Id.MICROWAVE].states -= {State.OPEN}
    switch(graph, Id.MICROWAVE, State.ON)

    stove, microwave = by_device('heated', 'stove'), by_device('heated', 'microwave')
    assert {word for node_id, word in by_stove if node_id == Id.SALMON} == {'heated', stove}
    assert {(Id.SALMON, stove), (Id.SALMON, microwave)} <= derived(graph, by_stove)


@pytest.mark.parametrize(
    ('entity', 'word', 'device', 'able'),
    [
        (Id.SALMON, 'heated', 'microwave', True),
        (Id.SALMON, 'heated', 'toaster', False),
        (Id.SALMON, 'heated', 'oven', False),  # there is none
        (Id.MUG, 'washed', 'faucet', True),  # in the sink beside it
        (Id.MUG, 'washed', None, True),  # by hand
        (Id.MUG, 'washed', 'microwave', False),
    ],
)
def test_an_object_can_become_so_by_a_device_that_there_is_and_that_does_it(
    entity: int, word: str, device: str | None, able: bool
) -> None:
    assert can_become(two_rooms(), entity, word, device) is able
