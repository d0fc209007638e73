"""What has become of things while devices were on."""

from __future__ import annotations

import pytest
from small_houses import (
    BEDROOM,
    BOOK,
    BREAD,
    FAUCET,
    KITCHEN,
    MICROWAVE,
    MUG,
    PAN,
    PHONE,
    PLATE,
    SALMON,
    SINK,
    STOVE,
    TOASTER,
    two_rooms,
)

from bbllm.worlds.household.derived import DerivedStates, derived
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import Relation, State


def switch(graph: Graph, node_id: int, state: State) -> None:
    graph.nodes[node_id].states -= {State.ON, State.OFF}
    graph.nodes[node_id].states |= {state}


@pytest.mark.parametrize(
    ('thing', 'relation', 'place', 'device', 'word'),
    [
        (SALMON, Relation.INSIDE, MICROWAVE, MICROWAVE, 'heated'),
        (SALMON, Relation.INSIDE, STOVE, STOVE, 'heated'),
        (SALMON, Relation.ON, PAN, STOVE, 'heated'),
        (MUG, Relation.INSIDE, SINK, FAUCET, 'washed'),
        (BREAD, Relation.INSIDE, TOASTER, TOASTER, 'toasted'),
        (BREAD, Relation.ON, TOASTER, TOASTER, 'toasted'),
    ],
)
def test_a_device_works_while_it_is_on(
    thing: int, relation: Relation, place: int, device: int, word: str
) -> None:
    graph = two_rooms()
    graph.add(thing, relation, place)
    assert derived(graph) == frozenset()

    switch(graph, device, State.ON)

    assert derived(graph) == {(thing, word)}


def test_a_phone_that_is_on_is_used() -> None:
    graph = two_rooms()
    switch(graph, PHONE, State.ON)

    assert derived(graph) == {(PHONE, 'used')}


def test_what_is_no_food_is_neither_heated_nor_toasted() -> None:
    graph = two_rooms()
    graph.add(BOOK, Relation.INSIDE, MICROWAVE)
    graph.add(PLATE, Relation.ON, TOASTER)
    switch(graph, MICROWAVE, State.ON)
    switch(graph, TOASTER, State.ON)

    assert derived(graph) == frozenset()


def test_a_pan_heats_only_while_it_stands_on_the_stove() -> None:
    graph = two_rooms()
    graph.add(SALMON, Relation.ON, PAN)
    graph.remove(PAN, Relation.ON, STOVE)
    switch(graph, STOVE, State.ON)

    assert derived(graph) == frozenset()


def test_a_faucet_washes_in_the_sinks_of_its_own_room_only() -> None:
    graph = two_rooms()
    graph.add(MUG, Relation.INSIDE, SINK)
    graph.remove(FAUCET, Relation.INSIDE, KITCHEN)
    graph.add(FAUCET, Relation.INSIDE, BEDROOM)
    switch(graph, FAUCET, State.ON)

    assert derived(graph) == frozenset()


def test_what_has_become_of_a_thing_stays_when_the_device_is_off_again() -> None:
    graph, keeper = two_rooms(), DerivedStates()
    graph.add(SALMON, Relation.INSIDE, MICROWAVE)
    for state in (State.ON, State.OFF):
        switch(graph, MICROWAVE, state)
        keeper.look(graph)

    assert keeper.of(SALMON) == ('heated',)
    assert keeper.of(MUG) == ()
