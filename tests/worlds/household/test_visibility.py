"""What the character sees of a household."""

import pytest
from hypothesis import given, settings
from scripts_to_try import SCRIPTS
from small_houses import (
    BED,
    BEDROOM,
    BOOK,
    FRIDGE,
    KITCHEN,
    ME,
    MUG,
    SALMON,
    SHELF,
    SPOON,
    TABLE,
    do,
    household,
    two_rooms,
)

from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import Sight, Visibility, visible
from bbllm.worlds.household.vocabulary import Relation

CLOSED = Visibility(reach='room', hides='closed')
NOT_OPEN = Visibility(reach='room', hides='not_open')


@pytest.mark.parametrize('visibility', [CLOSED, NOT_OPEN])
def test_all_rooms_are_known_and_only_what_is_in_the_own_one_is_seen(
    visibility: Visibility,
) -> None:
    seen = visible(two_rooms(), visibility)

    assert {KITCHEN, BEDROOM, ME, TABLE, MUG, FRIDGE} <= seen
    assert not {BED, BOOK, SHELF} & seen


@pytest.mark.parametrize('visibility', [CLOSED, NOT_OPEN])
def test_what_is_in_a_closed_container_shows_once_it_is_open(visibility: Visibility) -> None:
    home = household(Mode.SANE)
    assert SALMON not in visible(home.graph, visibility)

    assert do(home, f'walk {FRIDGE}', f'open {FRIDGE}').succeeded

    assert SALMON in visible(home.graph, visibility)


def test_only_one_of_the_two_ways_hides_what_is_in_a_shelf_without_a_door() -> None:
    home = household(Mode.SANE)
    assert do(home, f'walk {SHELF}').succeeded

    assert BOOK in visible(home.graph, CLOSED)
    assert BOOK not in visible(home.graph, NOT_OPEN)


def test_what_is_held_is_seen_in_every_room_also_where_it_is_left_behind() -> None:
    for mode in Mode:
        home = household(mode)
        assert do(home, f'walk {TABLE}', f'grab {MUG}', f'walk {BED}').succeeded
        assert MUG in visible(home.graph, CLOSED)


def test_who_is_in_no_room_sees_itself_and_the_rooms_alone() -> None:
    graph = two_rooms()
    graph.remove(ME, Relation.INSIDE, KITCHEN)

    assert visible(graph, CLOSED) == {ME, KITCHEN, BEDROOM}


def test_who_is_inside_furniture_sees_the_room_around_it_and_what_stands_on_things_there() -> None:
    graph = two_rooms()
    graph.remove(ME, Relation.INSIDE, KITCHEN)
    graph.add(ME, Relation.INSIDE, SHELF)  # in the bedroom
    graph.remove(MUG, Relation.INSIDE, KITCHEN)
    graph.remove(MUG, Relation.ON, TABLE)
    graph.add(MUG, Relation.ON, BED)

    seen = visible(graph, CLOSED)

    assert {BED, BOOK, MUG, SPOON} <= seen
    assert TABLE not in seen


def test_what_was_seen_is_remembered_only_where_that_is_asked_for() -> None:
    home = household(Mode.SANE)
    forgets, keeps = Sight(CLOSED), Sight(Visibility(reach='room', accumulating=True))
    for sight in (forgets, keeps):
        sight.look(home.graph)
    assert do(home, f'walk {BED}').succeeded

    assert TABLE not in forgets.look(home.graph)
    assert {TABLE, SPOON, BED} <= keeps.look(home.graph)
    assert SALMON not in keeps.look(home.graph)


@settings(max_examples=40, deadline=None)
@given(SCRIPTS)
def test_hiding_more_never_shows_more(script: list[ScriptLine]) -> None:
    home = household(Mode.SANE)
    for step in script:
        home.step(step)
        assert (
            visible(home.graph, NOT_OPEN) <= visible(home.graph, CLOSED) <= set(home.graph.nodes)
        )
