"""Actions from probes: what they need and change is what the skills themselves state."""

from collections.abc import Iterable

from bbllm_planners.pddl.formulas import Action, Atom
from bbllm_planners.pddl.grounding import Grounding, Wishes
from tests.doubles.box_table import BoxTable

CLEAR_RED, EMPTY = Atom('clear', ('red_cube',)), Atom('handempty')


def grounded(places: dict[str, tuple[float, ...]], **wishes: object) -> Grounding:
    return Grounding(BoxTable(places).observe(), Wishes(**wishes))  # type: ignore[arg-type]


def calls(actions: Iterable[Action], *call: str) -> list[Action]:
    return [action for action in actions if action.call == call]


def test_a_pick_needs_an_empty_hand_and_nothing_on_top() -> None:
    table = grounded({'red_cube': (0.45, 0.1), 'blue_cube': (0.45, 0.1, 0.06)})

    at_home = next(a for a in calls(table.actions, 'pick', 'red_cube') if 'home' in str(a.needs))

    assert {EMPTY, CLEAR_RED} <= at_home.needs
    assert Atom('holding', ('red_cube',)) in at_home.adds
    assert {EMPTY, CLEAR_RED} <= at_home.removes
    assert CLEAR_RED not in table.so
    assert Atom('on', ('blue_cube', 'red_cube')) in table.so


def test_what_leaves_the_fingers_no_room_must_not_be_there() -> None:
    ring = {
        **{'north': (0.492, 0.0), 'south': (0.408, 0.0)},
        **{'east': (0.45, -0.042), 'west': (0.45, 0.042)},
    }
    table = grounded({'red_cube': (0.45, 0.0), **ring})

    picks = [a for a in calls(table.actions, 'pick', 'red_cube') if 'home' in str(a.needs)]

    around = {frozenset(atom.args[0] for atom in action.never) for action in picks}
    assert around == {frozenset({'north', 'south'}), frozenset({'east', 'west'})}


def test_an_object_far_from_all_others_has_one_pick_that_needs_no_room() -> None:
    table = grounded({'red_cube': (0.45, 0.2), 'blue_cube': (0.45, -0.2)})

    (pick,) = (a for a in calls(table.actions, 'pick', 'red_cube') if 'home' in str(a.needs))

    assert not pick.never


def test_one_location_takes_one_object() -> None:
    table = grounded({'red_cube': (0.45, 0.2), 'location_A': (0.45, -0.2)})

    (place,) = calls(table.actions, 'place', 'location_A')

    assert {Atom('free', ('location_A',)), Atom('holding', ('red_cube',))} <= place.needs
    assert Atom('at', ('red_cube', 'location_A')) in place.adds
    assert Atom('free', ('location_A',)) in table.so


def test_free_spots_are_those_that_place_finds() -> None:
    table = grounded({'red_cube': (0.45, 0.2), 'location_A': (0.45, -0.2)})

    free = [spot for spot in table.spots if spot.name.startswith('free')]

    assert len({spot.target for spot in free}) == len(free) > 1
    assert all(('red_cube', spot.name) in table.resting for spot in free)


def test_what_always_holds_leaves_out_actions() -> None:
    places = {'red_cube': (0.45, 0.2), 'blue_cube': (0.45, 0.0), 'location_A': (0.45, -0.2)}
    table = grounded(places, tallest=2, only_on=frozenset({'location_A', 'blue_cube'}))

    targets = {action.call for action in table.actions if action.call[0] == 'place'}
    assert targets == {('place', 'location_A'), ('place', 'blue_cube')}
    (stacked,) = calls(table.actions, 'place', 'blue_cube')
    assert Atom('level', ('blue_cube', '1')) in stacked.needs
    assert Atom('level', ('red_cube', '2')) in stacked.adds


def test_each_object_is_at_one_place() -> None:
    places = {'red_cube': (0.45, 0.2), 'blue_cube': (0.45, 0.0), 'location_A': (0.45, 0.0)}
    table = grounded({**places, 'green_cube': (0.45, 0.2, 0.06)})

    where = {str(atom) for atom in table.so if atom.predicate in ('at', 'on')}

    assert where == {
        'at red_cube home of red_cube',
        'at blue_cube location_A',
        'at green_cube home of green_cube',
        'on green_cube red_cube',
    }
