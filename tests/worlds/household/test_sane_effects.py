"""What a step of the clean rules changes beside its purpose, and whose rules it shares."""

from __future__ import annotations

import pytest
from small_houses import (
    BED,
    BEDROOM,
    BOX,
    BREAD,
    CHAIR,
    FRIDGE,
    JUICE,
    KITCHEN,
    ME,
    MUG,
    PLATE,
    SALMON,
    SHIRT,
    SPOON,
    TABLE,
    TV,
    do,
    household,
    places,
)

from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.vocabulary import Property, Relation, State


@pytest.fixture
def home() -> Household:
    return household(Mode.SANE)


def test_who_walks_faces_nothing_and_nothing_that_is_left_is_close(home: Household) -> None:
    assert do(home, f'walk {TABLE}', f'turnto {TABLE}', f'walk {BED}').succeeded

    assert not home.graph.targets(ME, Relation.FACING)
    assert not home.graph.has(ME, Relation.CLOSE, TABLE)
    assert not home.graph.has(TABLE, Relation.CLOSE, ME)


def test_who_walks_is_close_to_its_own_body_and_to_what_the_thing_is_on(home: Household) -> None:
    home.graph.nodes[SPOON].properties |= {Property.BODY_PART}

    assert do(home, f'walk {MUG}').succeeded
    assert {MUG, TABLE, SPOON} <= set(home.graph.targets(ME, Relation.CLOSE))


def test_who_grabs_stays_close_to_the_place_and_the_thing_leaves_its_neighbours(
    home: Household,
) -> None:
    for other in (PLATE, BREAD):
        home.graph.add(MUG, Relation.CLOSE, other)
        home.graph.add(other, Relation.CLOSE, MUG)
    home.graph.add(ME, Relation.CLOSE, MUG)

    assert do(home, f'grab {MUG}').succeeded
    assert home.graph.has(ME, Relation.CLOSE, TABLE)
    assert home.graph.targets(MUG, Relation.CLOSE) == {ME}


def test_what_was_dropped_is_close_and_its_old_place_forgotten(home: Household) -> None:
    assert do(home, f'walk {TABLE}', f'grab {MUG}').succeeded
    home.graph.remove(ME, Relation.CLOSE, MUG)
    assert do(home, f'drop {MUG}').succeeded

    assert home.graph.has(ME, Relation.CLOSE, MUG)
    assert do(home, f'putobjback {MUG}').broken == 'not_grabbed'
    assert do(home, f'grab {MUG}', f'putobjback {MUG}').broken == 'not_grabbed'


def test_what_stood_nowhere_is_put_back_to_no_place_of_before(home: Household) -> None:
    assert do(home, f'walk {TABLE}', f'grab {MUG}').succeeded
    # Taken from the hand by nobody: as where another program changes the graph.
    home.graph.remove(ME, Relation.HOLDS_RH, MUG)

    assert do(home, f'grab {MUG}', f'putobjback {MUG}').broken == 'not_grabbed'


def test_who_sits_down_elsewhere_is_only_there_and_faces_what_the_seat_faces() -> None:
    home = household(Mode.SANE)
    home.graph.add(ME, Relation.ON, BED)

    assert do(home, f'find {CHAIR}').succeeded
    home.graph.add(ME, Relation.ON, BED)  # a graph that somebody brought
    assert do(home, f'sit {CHAIR}').succeeded

    assert places(home.graph, ME) == {CHAIR, KITCHEN}
    assert home.graph.targets(ME, Relation.FACING) == {TABLE}


def test_what_is_put_down_its_place_and_the_person_are_close(home: Household) -> None:
    assert do(home, f'walk {TABLE}', f'grab {MUG}', f'walk {PLATE}').succeeded
    home.graph.remove(ME, Relation.CLOSE, TABLE)
    home.graph.add(PLATE, Relation.CLOSE, TABLE)  # so that the table is close by way of it
    assert do(home, f'putback {MUG} {TABLE}').succeeded

    assert home.graph.has(ME, Relation.CLOSE, TABLE)
    assert home.graph.has(MUG, Relation.CLOSE, TABLE)
    assert home.graph.has(TABLE, Relation.CLOSE, MUG)


def test_what_is_put_on_a_thing_in_no_room_is_in_the_room_of_who_does_it(home: Household) -> None:
    home.graph.remove(TABLE, Relation.INSIDE, KITCHEN)
    home.graph.add(ME, Relation.CLOSE, TABLE)
    home.graph.add(ME, Relation.CLOSE, SHIRT)

    assert do(home, f'grab {SHIRT}', f'putback {SHIRT} {TABLE}').succeeded
    assert places(home.graph, SHIRT) == {TABLE, KITCHEN}


def test_clothes_that_were_put_on_have_no_place_to_go_back_to(home: Household) -> None:
    home.graph.add(SHIRT, Relation.ON, BED)
    wear = (f'walk {SHIRT}', f'grab {SHIRT}', f'puton {SHIRT}', f'putoff {SHIRT}')

    assert do(home, *wear, f'putobjback {SHIRT}').broken == 'not_grabbed'


def test_clothes_come_off_into_a_free_hand_only(home: Household) -> None:
    wear = (f'walk {SHIRT}', f'grab {SHIRT}', f'puton {SHIRT}')
    fill = (f'walk {TABLE}', f'grab {MUG}', f'grab {PLATE}')
    for thing in (MUG, PLATE):
        home.graph.add(thing, Relation.CLOSE, TABLE)

    assert do(home, *wear, *fill, f'putoff {SHIRT}').broken == 'no_free_hand'


@pytest.mark.parametrize('line', ['pour {juice} {box}', 'putback {juice} {box}'])
def test_nothing_goes_into_what_is_shut_in_or_into_itself(home: Household, line: str) -> None:
    fetch = (f'walk {FRIDGE}', f'open {FRIDGE}', f'find {JUICE}', f'grab {JUICE}')
    assert do(home, *fetch).succeeded
    home.graph.nodes[BOX].properties |= {Property.RECIPIENT}
    home.graph.nodes[JUICE].properties |= {Property.RECIPIENT}
    home.graph.add(BOX, Relation.INSIDE, FRIDGE)
    home.graph.add(ME, Relation.CLOSE, BOX)

    assert do(home, line.format(juice=JUICE, box=JUICE)).broken == 'inside_itself'
    home.graph.nodes[FRIDGE].states = {State.CLOSED}
    assert do(home, line.format(juice=JUICE, box=BOX)).broken == 'inside_closed'


@pytest.mark.parametrize(
    'action',
    [
        'grab', 'touch', 'watch', 'open', 'close', 'switchon', 'switchoff', 'eat', 'wipe', 'wash',
        'rinse', 'scrub', 'squeeze', 'cut', 'type', 'plugin',
    ],
)  # fmt: skip
def test_what_is_shut_in_two_deep_can_be_used_for_nothing(home: Household, action: str) -> None:
    thing = home.graph.nodes[SPOON]
    thing.properties = frozenset(Property)
    thing.states = {
        'open': {State.CLOSED}, 'close': {State.OPEN}, 'switchon': {State.OFF},
        'switchoff': {State.ON}, 'plugin': {State.PLUGGED_OUT},
    }.get(action, set())  # fmt: skip
    home.graph.add(MUG, Relation.INSIDE, FRIDGE)
    home.graph.add(ME, Relation.CLOSE, SPOON)
    home.graph.add(ME, Relation.FACING, SPOON)
    home.graph.nodes[BREAD].class_name = 'knife'
    home.graph.add(ME, Relation.HOLDS_LH, BREAD)
    assert State.CLOSED in home.graph.nodes[FRIDGE].states

    assert do(home, f'{action} {SPOON}').broken == 'inside_closed'

    home.graph.nodes[FRIDGE].states = {State.OPEN}
    assert do(home, f'{action} {SPOON}').succeeded


def test_a_room_that_is_said_to_be_closed_shuts_nothing_in(home: Household) -> None:
    home.graph.nodes[KITCHEN].states = {State.CLOSED}

    assert do(home, f'walk {TABLE}', f'grab {MUG}').succeeded


def test_what_was_taken_out_of_a_thing_is_not_put_back_once_that_is_closed(
    home: Household,
) -> None:
    fetch = (f'walk {FRIDGE}', f'open {FRIDGE}', f'find {SALMON}', f'grab {SALMON}')

    assert do(home, *fetch, f'close {FRIDGE}', f'putobjback {SALMON}').broken == 'not_open'


def test_finding_what_is_far_is_a_walk_that_takes_along_what_is_held(home: Household) -> None:
    assert do(home, f'walk {TABLE}', f'grab {MUG}', f'find {TV}').succeeded

    assert home.graph.room_of(MUG) == BEDROOM
