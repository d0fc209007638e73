"""What the character sees of a household."""

from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.visibility import Visibility, visible
from bbllm.worlds.household.vocabulary import Relation
from bbllm.worlds.household.world import HouseholdWorld
from tests.worlds.household.small_houses import Id, do, execute, household, two_rooms

ROOMS_SEEN = Visibility(reach='rooms_seen')


def test_all_rooms_are_known_and_only_what_is_in_the_own_one_is_seen() -> None:
    seen = visible(two_rooms(), ROOMS_SEEN)

    assert {Id.KITCHEN, Id.BEDROOM, Id.ME, Id.TABLE, Id.MUG, Id.FRIDGE} <= seen
    assert not {Id.BED, Id.BOOK, Id.SHELF} & seen
    assert {Id.BED, Id.BOOK, Id.SHELF} <= visible(two_rooms(), Visibility(reach='all_rooms'))


def test_what_is_in_a_closed_container_shows_once_it_is_open() -> None:
    home = household(Mode.SANE)
    assert Id.SALMON not in visible(home.graph, ROOMS_SEEN)

    assert do(home, 'walk fridge', 'open fridge').succeeded

    assert Id.SALMON in visible(home.graph, ROOMS_SEEN)


def test_what_is_held_is_seen_in_every_room_also_where_it_is_left_behind() -> None:
    for mode in Mode:
        home = household(mode)
        assert do(home, 'walk table', 'grab mug', 'walk bed').succeeded
        assert Id.MUG in visible(home.graph, ROOMS_SEEN)


def test_who_is_in_no_room_sees_itself_and_the_rooms_alone() -> None:
    graph = two_rooms()
    graph.remove(Id.ME, Relation.INSIDE, Id.KITCHEN)

    assert visible(graph, ROOMS_SEEN) == {Id.ME, Id.KITCHEN, Id.BEDROOM}


def test_who_is_inside_furniture_sees_the_room_around_it_and_what_stands_there() -> None:
    graph = two_rooms()
    graph.remove(Id.ME, Relation.INSIDE, Id.KITCHEN)
    graph.add(Id.ME, Relation.INSIDE, Id.SHELF)  # in the bedroom
    graph.remove(Id.MUG, Relation.INSIDE, Id.KITCHEN)
    graph.remove(Id.MUG, Relation.ON, Id.TABLE)
    graph.add(Id.MUG, Relation.ON, Id.BED)

    seen = visible(graph, ROOMS_SEEN)

    assert {Id.BED, Id.BOOK, Id.MUG, Id.SPOON} <= seen
    assert Id.TABLE not in seen


def test_what_was_seen_is_remembered() -> None:
    world = HouseholdWorld(two_rooms(), visibility=ROOMS_SEEN)
    assert 'bed_26' not in world.observe().names
    assert execute(world, 'walk bedroom_2').succeeded

    assert Id.TABLE not in visible(world.graph, ROOMS_SEEN)
    names = world.observe().names
    assert {'kitchentable_20', 'spoon_24', 'bed_26'} <= set(names)
    assert 'salmon_22' not in names
