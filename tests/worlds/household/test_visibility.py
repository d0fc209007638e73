"""What the character sees of a household."""

import pytest
from hypothesis import given

from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import Sight, Visibility, visible
from bbllm.worlds.household.vocabulary import Relation
from tests.drawn import examples
from tests.worlds.household.scripts_to_try import SCRIPTS
from tests.worlds.household.small_houses import Id, do, household, two_rooms

CLOSED = Visibility(reach='room', hides='closed')
NOT_OPEN = Visibility(reach='room', hides='not_open')


@pytest.mark.parametrize('visibility', [CLOSED, NOT_OPEN])
def test_all_rooms_are_known_and_only_what_is_in_the_own_one_is_seen(
    visibility: Visibility,
) -> None:
    seen = visible(two_rooms(), visibility)

    assert {Id.KITCHEN, Id.BEDROOM, Id.ME, Id.TABLE, Id.MUG, Id.FRIDGE} <= seen
    assert not {Id.BED, Id.BOOK, Id.SHELF} & seen


@pytest.mark.parametrize('visibility', [CLOSED, NOT_OPEN])
def test_what_is_in_a_closed_container_shows_once_it_is_open(visibility: Visibility) -> None:
    home = household(Mode.SANE)
    assert Id.SALMON not in visible(home.graph, visibility)

    assert do(home, 'walk fridge', 'open fridge').succeeded

    assert Id.SALMON in visible(home.graph, visibility)


def test_only_one_of_the_two_ways_hides_what_is_in_a_shelf_without_a_door() -> None:
    home = household(Mode.SANE)
    assert do(home, 'walk shelf').succeeded

    assert Id.BOOK in visible(home.graph, CLOSED)
    assert Id.BOOK not in visible(home.graph, NOT_OPEN)


def test_what_is_held_is_seen_in_every_room_also_where_it_is_left_behind() -> None:
    for mode in Mode:
        home = household(mode)
        assert do(home, 'walk table', 'grab mug', 'walk bed').succeeded
        assert Id.MUG in visible(home.graph, CLOSED)


def test_who_is_in_no_room_sees_itself_and_the_rooms_alone() -> None:
    graph = two_rooms()
    graph.remove(Id.ME, Relation.INSIDE, Id.KITCHEN)

    assert visible(graph, CLOSED) == {Id.ME, Id.KITCHEN, Id.BEDROOM}


def test_who_is_inside_furniture_sees_the_room_around_it_and_what_stands_there() -> None:
    graph = two_rooms()
    graph.remove(Id.ME, Relation.INSIDE, Id.KITCHEN)
    graph.add(Id.ME, Relation.INSIDE, Id.SHELF)  # in the bedroom
    graph.remove(Id.MUG, Relation.INSIDE, Id.KITCHEN)
    graph.remove(Id.MUG, Relation.ON, Id.TABLE)
    graph.add(Id.MUG, Relation.ON, Id.BED)

    seen = visible(graph, CLOSED)

    assert {Id.BED, Id.BOOK, Id.MUG, Id.SPOON} <= seen
    assert Id.TABLE not in seen


def test_what_was_seen_is_remembered_only_where_that_is_asked_for() -> None:
    home = household(Mode.SANE)
    forgets, keeps = Sight(CLOSED), Sight(Visibility(reach='room', accumulating=True))
    for sight in (forgets, keeps):
        sight.update(home.graph)
    assert do(home, 'walk bed').succeeded

    assert Id.TABLE not in forgets.update(home.graph)
    assert {Id.TABLE, Id.SPOON, Id.BED} <= keeps.update(home.graph)
    assert Id.SALMON not in keeps.update(home.graph)


@examples(40)
@given(SCRIPTS)
def test_hiding_more_never_shows_more(script: list[ScriptLine]) -> None:
    home = household(Mode.SANE)
    for step in script:
        home.step(step)
        assert (
            visible(home.graph, NOT_OPEN) <= visible(home.graph, CLOSED) <= set(home.graph.nodes)
        )
