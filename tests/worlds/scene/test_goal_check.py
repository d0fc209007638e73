"""Goals: the grammar, its words, and what a scene shows of each condition."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ParseError, UnknownNameError
from bbllm.core.goals import TABLE_KINDS, TaskGoal, parse_goal, parse_goal_reply, withdrawn
from bbllm.core.observation import Observed, last_moves, observed
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject
from bbllm.scene.relations import build_scene
from bbllm.skills.shapes import yaw_pose
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.vocabulary import Relation
from bbllm.worlds.household.world import HouseholdWorld
from bbllm.worlds.scene import table_shapes
from bbllm.worlds.scene.goal_check import check_goal, undecided
from bbllm.worlds.scene.table_tolerances import TableTolerances

EDGE_M = 0.04
ON_RED = 0.06
"""Height of the middle of a cube that stands on another [m]."""
Places = Mapping[str, tuple[float, ...]]


def item(name: str, at: tuple[float, ...]) -> SceneObject:
    """Make an object of a name like `red_cube`, at x, y and, if given, a height and a yaw."""
    kind = Kind.LOCATION if name.startswith('location') else Kind(name.split('_')[1])
    size = {Kind.CUBE: (EDGE_M,) * 3, Kind.CONTAINER: (0.16, 0.16, 0.05)}.get(kind, (0.0,) * 3)
    z = at[2] if len(at) > 2 else size[2] / 2
    pose = yaw_pose((at[0], at[1], z), math.radians(at[3] if len(at) > 3 else 0))
    return SceneObject(name=name, kind=kind, pose=pose, size_m=size)


TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.45, 0.0, -0.02)),
    size_m=(1.0, 1.4, 0.04),
)


def scene(places: Places, held: str = '', far: Sequence[str] = ()) -> Scene:
    """Return a table on which each object is where it is said to be, some of them out of reach."""
    items = (TABLE, *(item(name, at) for name, at in places.items()))
    made = build_scene(items, None, skills=(), stamp_s=0.0, now_s=0.0)
    beyond = [Fact(name, 'reachable', 'no') for name in far]
    facts = (*made.facts, *beyond, *([Fact(held, 'held_by', 'hand')] if held else []))
    return Scene(items, (), facts, 0.0)


START: Places = {
    'red_cube': (0.40, 0.10),
    'blue_cube': (0.50, 0.20),
    'green_cube': (0.60, -0.10),
    'pink_cube': (0.30, -0.30),
    'white_container': (0.45, -0.30),
    'location_A': (0.50, -0.10),
    'location_B': (0.60, 0.30),
}


def at(*place: float) -> Places:
    return {'red_cube': place}


def unmet(goal: str, moved: Places | None = None, held: str = '') -> tuple[str, ...]:
    """Return the faults of a goal after some objects were moved."""
    start = scene(START)
    return check_goal(
        parse_goal(goal, start), scene({**START, **(moved or {})}, held), start
    ).unmet


@pytest.mark.parametrize(
    ('goal', 'met', 'not_met'),
    [
        ('on(red_cube, blue_cube)', {'red_cube': (0.50, 0.20, ON_RED)}, {}),
        ('on(red_cube, blue_cube)', {'red_cube': (0.51, 0.19, ON_RED)}, {'red_cube': (0.5, 0.15)}),
        ('on(red_cube, location_A)', {'red_cube': (0.50, -0.11)}, {'red_cube': (0.50, -0.13)}),
        ('on(red_cube, table)', {}, {'red_cube': (0.50, 0.20, ON_RED)}),
        ('in(red_cube, white_container)', {'red_cube': (0.45, -0.3, 0.03)}, {}),
        ('beside(red_cube, blue_cube)', {'red_cube': (0.50, 0.12)}, {'red_cube': (0.50, 0.11)}),
        ('beside(red_cube, blue_cube)', {'red_cube': (0.5, 0.24)}, {'red_cube': (0.5, 0.2, 0.06)}),
        ('left_of(red_cube, green_cube)', {'red_cube': (0.60, 0.0)}, {'red_cube': (0.5, -0.2)}),
        ('right_of(red_cube, blue_cube)', {'red_cube': (0.50, 0.10)}, {'red_cube': (0.5, 0.3)}),
        ('nearer(red_cube, blue_cube)', {'red_cube': (0.40, 0.20)}, {'red_cube': (0.60, 0.20)}),
        ('farther(red_cube, blue_cube)', {'red_cube': (0.60, 0.20)}, {'red_cube': (0.40, 0.20)}),
        ('side(red_cube, left)', {'red_cube': (0.5, 0.02)}, {'red_cube': (0.5, 0.015)}),
        ('side(red_cube, right)', {'red_cube': (0.5, -0.02)}, {}),
        ('side(red_cube, far)', {'red_cube': (0.5, 0.0)}, {}),
        ('side(red_cube, near)', {}, {'red_cube': (0.5, 0.0)}),
        ('not side(red_cube, left)', {'red_cube': (0.5, -0.01)}, {'red_cube': (0.5, 0.01)}),
        ('not on(red_cube, table)', {'red_cube': (0.50, 0.20, ON_RED)}, {}),
        ('moved(red_cube)', {'red_cube': (0.42, 0.10)}, {'red_cube': (0.41, 0.10)}),
        ('not moved(red_cube)', {}, {'red_cube': (0.5, 0.0)}),
        ('at_place_of(red_cube, blue_cube)', {'red_cube': (0.5, 0.18), 'blue_cube': (0, 0)}, {}),
        (
            'at_place_of(red_cube, blue_cube)',
            {'red_cube': (0.5, 0.2), 'blue_cube': (0.3, 0.3)},
            {'red_cube': (0.5, 0.2, ON_RED)},
        ),
        ('shifted(red_cube, left)', {'red_cube': (0.4, 0.12)}, {'red_cube': (0.4, 0.11)}),
        ('shifted(red_cube, near)', {'red_cube': (0.38, 0.10)}, {'red_cube': (0.5, 0.10)}),
        (
            'between(pink_cube, red_cube, blue_cube)',
            {'red_cube': (0.5, 0.0), 'pink_cube': (0.515, 0.1)},
            {'red_cube': (0.5, 0.0), 'pink_cube': (0.525, 0.1)},
        ),
        (
            'not between(pink_cube, location_A, blue_cube)',
            {'pink_cube': (0.5, 0.21)},
            {'pink_cube': (0.5, 0.1)},
        ),
        ('line(red_cube, blue_cube)', {'red_cube': (0.50, 0.28)}, {'red_cube': (0.50, 0.12)}),
        ('line(2 of red_cube|blue_cube)', {'red_cube': (0.50, 0.12)}, {'red_cube': (0.5, 0.31)}),
        (
            'line(red_cube, blue_cube, green_cube)',
            {'red_cube': (0.52, 0.28), 'green_cube': (0.50, 0.12)},
            {'red_cube': (0.55, 0.28), 'blue_cube': (0.5, 0.19), 'green_cube': (0.55, 0.12)},
        ),
        ('tower(blue_cube, red_cube)', {'red_cube': (0.50, 0.20, ON_RED)}, {}),
        ('tower(2 of red_cube|blue_cube|pink_cube)', {'red_cube': (0.50, 0.20, ON_RED)}, {}),
        (
            'tower(2 of red_cube|blue_cube)',
            {'red_cube': (0.50, 0.20, ON_RED)},
            {'red_cube': (0.50, 0.20, ON_RED), 'pink_cube': (0.50, 0.20, 0.10)},
        ),
        (
            'side(all of red_cube|blue_cube|pink_cube, left)',
            {'pink_cube': (0.3, 0.3)},
            {'blue_cube': (0.5, -0.2), 'pink_cube': (0.3, 0.3)},
        ),
        ('side(2 of green_cube|pink_cube|blue_cube, right)', {}, {'pink_cube': (0.3, 0.3)}),
        ('on(red_cube|pink_cube, location_A|location_B)', {'pink_cube': (0.6, 0.3)}, {}),
        # Amounts, at their tolerance and beside it.
        ('distance(red_cube, blue_cube, 20 cm)', at(0.5, 0.01), at(0.5, 0.011)),
        ('distance(red_cube, location_A, 0.1 m)', at(0.5, 0.01), at(0.5, 0.011)),
        (
            'distance(red_cube, blue_cube|green_cube, at most 10 cm)',
            {'green_cube': (0.4, 0.2)},
            {},
        ),
        ('gap(red_cube, blue_cube, 5 cm)', at(0.5, 0.10), at(0.5, 0.099)),
        ('gap(red_cube, blue_cube, at least 5 cm)', at(0.5, 0.112), at(0.5, 0.113)),
        ('gap(red_cube, blue_cube, <= 50 mm)', at(0.5, 0.108), at(0.5, 0.107)),
        ('gap(red_cube, blue_cube, at most 3 cm)', at(0.44, 0.14), at(0.435, 0.135)),
        ('gap(all of cubes, cubes, at least 3 cm)', {}, {'green_cube': (0.4, 0.165)}),
        ('not gap(red_cube, blue_cube, at most 6 cm)', {}, at(0.5, 0.11)),
        ('shifted(red_cube, left, 10 cm)', at(0.7, 0.21), at(0.4, 0.211)),
        ('shifted(red_cube, near, at least 10 cm)', at(0.302, 0.1), at(0.303, 0.1)),
        (
            'between(pink_cube, red_cube, blue_cube, 50 %)',
            {**at(0.5, 0.0), 'pink_cube': (0.5, 0.11)},
            {**at(0.5, 0.0), 'pink_cube': (0.5, 0.111)},
        ),
        ('yaw(red_cube, 45 deg)', at(0.4, 0.1, 0.02, 50), at(0.4, 0.1, 0.02, 51)),
        ('yaw(red_cube, -30 deg)', at(0.4, 0.1, 0.02, 60), at(0.4, 0.1, 0.02, 30)),
        ('turned(red_cube, 30 deg)', at(0.4, 0.1, 0.02, -35), at(0.4, 0.1, 0.02, 36)),
        ('turned(red_cube, +30 deg)', at(0.4, 0.1, 0.02, -60), at(0.4, 0.1, 0.02, -30)),
        ('turned(red_cube, at least 20°)', at(0.4, 0.1, 0.02, 19), at(0.4, 0.1, 0.02, 18)),
        ('aligned(red_cube, blue_cube)', at(0.4, 0.1, 0.02, 95), at(0.4, 0.1, 0.02, 6)),
        ('nearest(red_cube, blue_cube|green_cube, arm)', {}, {'green_cube': (0.41, 0.0)}),
        ('nearest(red_cube, cubes, location_B)', at(0.6, 0.2), {}),
        ('farthest(red_cube, blue_cube|pink_cube, green_cube)', at(0.2, -0.3), {}),
        (
            'unchanged(red_cube|blue_cube)',
            {**at(0.409, 0.1, 0.02, 94), 'pink_cube': (0.3, 0.3)},
            {'blue_cube': (0.511, 0.2)},
        ),
        ('unchanged(others)', {}, at(0.4, 0.1, 0.02, 6)),
        # Parts of a shape in any order.
        (
            'tower(blue_cube, all of red_cube|pink_cube)',
            {'pink_cube': (0.50, 0.20, ON_RED), 'red_cube': (0.50, 0.20, 0.10)},
            {'blue_cube': (0.50, 0.20, ON_RED), 'pink_cube': (0.5, 0.2), **at(0.5, 0.2, 0.10)},
        ),
        (
            'line(blue_cube, all of red_cube|green_cube, pink_cube)',
            {**at(0.5, 0.12), 'green_cube': (0.5, 0.04), 'pink_cube': (0.5, -0.04)},
            {**at(0.5, 0.12), 'green_cube': (0.5, -0.04), 'pink_cube': (0.5, 0.04)},
        ),
    ],
)
def test_a_condition_holds_where_it_should_and_has_a_fault_where_not(
    goal: str, met: Places, not_met: Places
) -> None:
    (fault,) = unmet(goal, not_met)

    assert unmet(goal, met) == ()
    assert '_cube' in fault


def test_a_plus_sign_has_a_middle_and_four_arms_of_one_length() -> None:
    names = ('red_cube', 'blue_cube', 'green_cube', 'pink_cube', 'grey_cube')
    cells = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1))
    goal = f'plus(5 of {"|".join(names)}|teal_cube)'

    def layout(pitch_m: float, turn_deg: float) -> Places:
        turn = math.radians(turn_deg)
        cos, sin = math.cos(turn) * pitch_m, math.sin(turn) * pitch_m
        rows = ((0.5 + cos * x - sin * y, sin * x + cos * y) for x, y in cells)
        return {**dict(zip(names, rows, strict=True)), 'teal_cube': (0.3, 0.5)}

    def faults(places: Places) -> tuple[str, ...]:
        table = scene(places)
        return check_goal(parse_goal(goal, table), table, table).unmet

    assert faults(layout(0.07, 0)) == faults(layout(0.06, 12)) == faults(layout(0.1, -12)) == ()
    assert 'turned by 20 degrees' in faults(layout(0.07, 20))[0]
    assert 'arms are 11.0 cm long' in faults(layout(0.11, 0))[0]
    assert 'from its place' in faults({**layout(0.07, 0), 'pink_cube': (0.46, 0.0)})[0]
    aside = faults({**layout(0.06, 0), 'pink_cube': (0.44, 0.02)})
    assert 'an arm is 1.5 cm beside its line through the middle' in aside[0]
    assert 'stands next to it' in faults({**layout(0.07, 0), 'teal_cube': (0.5, 0.14)})[0]


def test_tolerances_are_data_that_a_caller_may_state() -> None:
    start = scene(START)
    wide = TableTolerances(offset=1.0, location_m=0.04)
    moved = scene({**START, 'red_cube': (0.50, -0.13), 'blue_cube': (0.50, 0.03)})

    def finds(goal: str, limits: TableTolerances) -> bool:
        return check_goal(parse_goal(goal, start), moved, start, limits).met

    for goal, met in (('on(red_cube, location_A)', True), ('side(blue_cube, left)', False)):
        assert finds(goal, wide) is met
        assert finds(goal, TableTolerances()) is not met


def test_what_is_in_the_hand_is_held_and_nowhere_else() -> None:
    up = {'red_cube': (0.50, 0.20, 0.30)}

    assert unmet('held(red_cube)', up, 'red_cube') == ()
    assert unmet('held(red_cube)') == ('red_cube is not in the hand',)
    assert unmet('on(red_cube, blue_cube)', up, 'red_cube') == ('red_cube is in the hand',)
    assert 'red_cube is in the hand' in unmet('tower(blue_cube, red_cube)', up, 'red_cube')[0]
    for goal in ('on(blue_cube, red_cube)', 'farther(blue_cube, red_cube)'):
        met = {'red_cube': (0.40, 0.20, 0.30), 'blue_cube': (0.5, 0.2, 0.34)}
        assert unmet(goal, met, 'red_cube') == ('red_cube is in the hand',)
    assert unmet('at_place_of(blue_cube, red_cube)', {'blue_cube': (0.4, 0.1)}, 'red_cube') == ()


def test_a_fault_has_the_figure_and_where_the_object_is() -> None:
    assert unmet('on(red_cube, blue_cube)') == ('red_cube is not on blue_cube: it is on table',)
    assert unmet('on(red_cube, location_A)') == (
        'red_cube is 22.4 cm from location_A, and 2.0 cm count as on it',
    )
    assert unmet('beside(red_cube, blue_cube)') == (
        'red_cube is 6.0 cm away from blue_cube, and at most 4.0 cm count as right next to it',
    )


@pytest.mark.parametrize(
    ('text', 'stated'),
    [
        ('', 'is no condition'),
        ('red on blue', 'is no condition'),
        ('on(red_cube)', 'write on(a, b)'),
        ('on(red_cube, blue_cube, table)', 'write on(a, b)'),
        ('fly(red_cube)', 'is no condition. Conditions are on(a, b)'),
        ('on(red_cube, red_cube)', 'relates an object to itself. on(a, b) takes different'),
        ('between(red_cube, red_cube, blue_cube)', 'relates an object to itself'),
        ('between(red_cube, blue_cube, blue_cube)', 'two different ones'),
        ('between(red_cube, blue_cube|pink_cube, blue_cube)', 'two different ones'),
        ('between(red_cube, blue_cube)', 'write between(a, b, c, 50 %)'),
        ('distance(red_cube, blue_cube)', 'ends with an amount in cm, "at least" or'),
        ('gap(red_cube, blue_cube, 5 deg)', "not with '5 deg'; write gap(a, b, 5 cm)"),
        ('gap(red_cube, blue_cube, -5 cm)', "not with '-5 cm'"),
        ('yaw(red_cube, at least 5 deg)', "amount in deg, not with 'at least 5 deg'"),
        ('left_of(red_cube, blue_cube, 5 cm)', 'write left_of(a, b). Conditions are'),
        ('gap(red_cube, red_cube, 5 cm)', 'relates an object to itself'),
        ('nearest(red_cube, blue_cube, red_cube)', 'relates an object to itself'),
        ('nearest(red_cube, blue_cube, cubes)', 'write one object there, or arm'),
        ('distance(red_cube, 2 of red_cube|blue_cube, 5 cm)', 'relates an object to itself'),
        ('tower(exactly 2 of red_cube|blue_cube|pink_cube)', 'write 2 of; a tower is of just'),
        ('not beside(red_cube, all of blue_cube|pink_cube)', 'in second place is not clear'),
        ('on(x=red_cube, y=red_cube)', 'different objects'),
        ('on(x=red_cube, table); on(x=blue_cube, table)', 'has a meaning already'),
        ('on(table=red_cube, blue_cube)', 'has a meaning already'),
        ('on(exactly all of red_cube|blue_cube, table)', 'any number from 1 to 2'),
        ('at(red_cube, blue_cube)', 'is no position; write x y or x y z'),
        ('at(red_cube, 0.5 0.1 0.02 90)', 'is no position'),
        ('tower(red_cube, 2 of red_cube|blue_cube|pink_cube)', 'each once'),
        (
            'not moved(2 of red_cube|blue_cube|pink_cube)',
            'takes no number. Write not moved(red_cube|blue_cube|pink_cube) where that is meant',
        ),
        ('not side(2 of red_cube|blue_cube, left)', 'Write not side(red_cube|blue_cube, left)'),
        ('not on(1 of red_cube|blue_cube, table)', 'Write not on(red_cube|blue_cube, table)'),
        ('not on(red_cube, 1 of blue_cube|table)', 'Write not on(red_cube, blue_cube|table)'),
        ('not held(1 of red_cube)', 'Write not held(red_cube)'),
        ('shifted(red_cube, up)', 'none of left, right, near, far'),
        ('on(location_A, red_cube)', 'location_A is a location, which nothing can move'),
        ('side(red_cube, up)', 'none of left, right, near, far'),
        ('tower(red_cube)', 'two or more'),
        ('tower(red_cube, red_cube)', 'each once'),
        ('tower(2 of white_container|red_cube|blue_cube)', 'comes second, as b in in(a, b).'),
        ('plus(red_cube, blue_cube)', '5 objects'),
        ('on(3 of red_cube|blue_cube, table)', 'any number from 1 to 2'),
        ('on(red_cube, table) please on(blue_cube, table)', 'is no condition'),
        ('on(red_cube, table)); import os', 'is no condition'),
        ('; '.join(f'on(red_cube, {n})' for n in ('table', 'blue_cube')) + ' or so', 'no cond'),
        ('state(red_cube, on)', 'is no condition'),
    ],
)
def test_what_is_not_in_the_grammar_is_refused_with_what_is(text: str, stated: str) -> None:
    with pytest.raises(ParseError, match=re.escape(stated)):
        parse_goal(text, scene(START))


def test_a_fault_of_an_amount_has_what_is_and_what_is_wanted_with_its_tolerance() -> None:
    assert unmet('distance(red_cube, blue_cube, 20 cm)') == (
        'red_cube is 14.1 cm from blue_cube, middle to middle; wanted: 20 cm, within 1 cm',
    )
    assert unmet('gap(red_cube, blue_cube, at least 9 cm)') == (
        'red_cube is 8.5 cm from blue_cube, outline to outline; wanted: at least 9 cm',
    )
    turned = 'red_cube is turned by 0 deg; wanted: 30 deg, within 5 deg'
    assert unmet('turned(red_cube, 30 deg)') == (f'{turned} (it looks the same after 90 deg)',)
    assert unmet('nearest(blue_cube, red_cube|pink_cube, arm)') == (
        'red_cube is nearer to the arm: 41.2 cm, and blue_cube 53.9 cm',
    )


@pytest.mark.parametrize(
    ('goal', 'words'),
    [
        ('between(red_cube, blue_cube, pink_cube, 50 %)', '50 % of the way between blue_cube and'),
        ('gap(red_cube, cubes, at least 3 cm)', 'is at least 3 cm clear of blue_cube, green_cube'),
        ('gap(2 of red_cube|blue_cube, red_cube|blue_cube, 3 cm)', 'are 3 cm clear of each other'),
        ('farthest(red_cube, blue_cube, arm)', 'the farthest from the arm, compared with blue_'),
        ('shifted(red_cube, left, 100 mm)', 'red_cube is 10 cm farther left than before'),
        ('not turned(red_cube, at most 20 deg)', 'red_cube is not turned by at most 20 deg'),
    ],
)
def test_amounts_are_read_out_in_words(goal: str, words: str) -> None:
    assert words in parse_goal(goal, scene(START)).in_words[0]


def test_a_turn_that_cannot_be_seen_is_not_decided() -> None:
    table = scene({**START, 'white_cylinder': (0.2, 0.2)})
    for goal in (
        'turned(red_cube, 90 deg)',
        'turned(red_cube, at least 60 deg)',
        'yaw(white_cylinder, 45 deg)',
        'moved_before(red_cube, blue_cube)',
    ):
        found = check_goal(parse_goal(goal, table), table, table)
        assert (found.status, found.unmet) == ('not checked', ()), goal
        assert found.unseen


def test_the_order_of_moves_is_that_of_the_last_places() -> None:
    start = scene(START)
    first = {**START, 'red_cube': (0.5, 0.0)}
    second = {**first, 'blue_cube': (0.6, 0.0)}
    seen = [observed(scene(places)) for places in (START, first, second, second)]
    back = [*seen, observed(scene({**second, 'red_cube': (0.4, 0.0)}))]

    def faults(goal: str, seen: Sequence[Observed]) -> tuple[str, ...]:
        return check_goal(parse_goal(goal, start), start, start, observations=seen).unmet

    assert last_moves(seen) == {'red_cube': 1, 'blue_cube': 2}
    assert faults('moved_before(red_cube, others)', seen) == ()
    assert faults('moved_before(blue_cube, green_cube)', seen) == ()
    assert faults('moved_before(red_cube, blue_cube)', back) == (
        'red_cube was moved after blue_cube was in its last place',
    )
    assert faults('moved_before(green_cube, red_cube)', seen) == ('green_cube was not moved',)


def test_what_had_to_hold_once_is_judged_by_the_looks_on_the_way() -> None:
    start = scene(START)
    over = {**START, 'red_cube': (0.50, 0.20, ON_RED)}
    seen = [observed(scene(places)) for places in (START, over, START)]
    held = [seen[0], replace(seen[1], eef=(0.50, 0.20, 0.07, 0.0, 0.0, 0.0, 1.0)), seen[2]]

    def status(goal: str, seen: Sequence[Observed] | None) -> str:
        return check_goal(parse_goal(goal, start), start, start, observations=seen).status

    assert status('once on(red_cube, blue_cube); unchanged(red_cube)', seen) == 'met'
    assert status('once tower(blue_cube, red_cube)', seen) == 'met'
    assert status('once on(red_cube, blue_cube)', held) == 'unmet'
    assert status('once on(red_cube, blue_cube)', seen[:1]) == 'unmet'
    assert status('once on(red_cube, blue_cube)', None) == 'not checked'
    goal = parse_goal('once on(red_cube, blue_cube)', start)
    assert parse_goal(str(goal), start) == goal
    assert goal.in_words == ('red_cube is on blue_cube, at some time on the way',)
    for wrong in (
        'once held(red_cube)',
        'once not on(red_cube, table)',
        'once once moved(red_cube)',
    ):
        with pytest.raises(ParseError):
            parse_goal(wrong, start)


def test_what_all_leaves_out_is_named_and_what_is_named_counts() -> None:
    table = scene(START, far=['pink_cube', 'white_container'])

    goal = parse_goal('side(all of cubes, left)', table)
    assert goal.left_out == ('pink_cube',)
    assert goal.in_words[-1] == 'left out, out of reach: pink_cube'
    assert parse_goal(str(goal), table) == goal
    assert parse_goal('on(red_cube, table); side(all of others, left)', table).left_out == (
        'pink_cube',
    )
    named = 'side(all of red_cube|green_cube|blue_cube, left)'
    assert parse_goal(named, table).left_out == ('pink_cube',)
    for text in (
        'unchanged(all of cubes)',
        'side(all of cubes|pink_cube, left)',
        'not side(all of cubes, left)',
    ):
        assert parse_goal(text, table).left_out == ()


def test_a_shape_with_a_member_out_of_reach_is_judged_by_the_others() -> None:
    row = {'red_cube': (0.5, 0.12), 'blue_cube': (0.5, 0.2), 'green_cube': (0.5, 0.04)}
    goal = 'line(all of red_cube|blue_cube|green_cube|pink_cube)'

    for moved, fault in ((row, 'pink_cube is out of reach'), ({**row, **at(0.6, 0.12)}, 'of the')):
        table = scene({**START, **moved}, far=['pink_cube'])
        (found,) = check_goal(parse_goal(goal, table), table, table).unmet
        assert fault in found
        assert 'pink_cube is out of reach' in found
    assert 'red_cube is 10.0 cm off the line' in found


def test_a_withdrawn_condition_is_what_is_not_checked() -> None:
    start = scene(START)
    goal = parse_goal('beside(red_cube, blue_cube); on(red_cube, table)', start)

    left = withdrawn(goal, 'beside(red_cube, blue_cube)', 'room to grab', start)

    assert str(left) == (
        'on(red_cube, table); not checked: red_cube is right next to blue_cube (withdrawn by the '
        'planner: room to grab)'
    )
    assert check_goal(left, start, start).status == 'met as far as checked'
    for text in ('beside(blue_cube, red_cube)', 'all of it', 'on(moon, table)', str(goal)):
        with pytest.raises(ParseError):
            withdrawn(goal, text, 'x', start)


def test_a_name_that_the_scene_lacks_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'red_cube'"):
        parse_goal('on(red_cub, table)', scene(START))


def test_every_kind_of_condition_is_read_from_its_own_form_and_written_back() -> None:
    letters = {'a': 'red_cube', 'b': 'blue_cube', 'c': 'green_cube', 'd': 'pink_cube'}
    table = scene({**START, 'e_cube': (0.2, 0.2), 'f_cube': (0.2, 0.3)})
    for kind in TABLE_KINDS:
        text = re.sub(r'\b([a-d])\b', lambda found: letters[found[1]], kind.form)
        text = re.sub(r'\b([ef])\b', r'\1_cube', text)

        goal = parse_goal(text, table)

        assert [condition.kind for condition in goal.conditions] == [kind]
        assert parse_goal(str(goal), table) == goal
        assert goal.in_words[0].startswith(('red_cube', '5 of the 6 cubes'))


@pytest.mark.parametrize(
    ('names', 'words'),
    [
        ('red_cube|blue_cube|pink_cube', '2 of the 3 cubes'),
        ('red_cube|blue_cube|e_cylinder', '2 of: red_cube, blue_cube, e_cylinder'),
    ],
)
def test_some_of_several_objects_are_counted_by_their_noun(names: str, words: str) -> None:
    table = scene({**START, 'e_cylinder': (0.2, 0.2)})

    (text,) = parse_goal(f'moved(2 of {names})', table).in_words

    assert text.startswith(f'{words} are ')


NAMES = st.sampled_from([name for name in START if name.endswith('cube')])
AMOUNT = st.builds(
    '{}{:g} {}'.format,
    st.sampled_from(('', 'at least ', '<= ')),
    st.floats(0, 300).map(lambda x: round(x, 1)),
    st.sampled_from(('mm', 'cm', 'm')),
)
SOME = st.one_of(
    NAMES,
    st.sampled_from(
        ['all of cubes', '2 of cubes', 'exactly 2 of cubes', 'x=cubes', 'cubes', 'others', 'x']
    ),
)


@given(
    st.lists(
        st.one_of(
            st.builds('gap({}, {}, {})'.format, SOME, SOME, AMOUNT),
            st.builds('not distance({}, {}, {})'.format, NAMES, SOME, AMOUNT),
            st.builds('turned({}, {:+d} deg)'.format, SOME, st.integers(-180, 180)),
            st.builds('nearest({}, {}, {})'.format, SOME, SOME, st.one_of(st.just('arm'), NAMES)),
            st.builds('line({}, {}, {})'.format, SOME, SOME, SOME),
            st.builds('unchanged({})'.format, SOME),
            st.builds('beside({}, {})'.format, SOME, SOME),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_read_is_written_as_what_is_read_again(conditions: list[str]) -> None:
    table = scene(START, far=['pink_cube'])
    try:
        goal = parse_goal('; '.join(conditions), table)
    except (ParseError, UnknownNameError):
        return

    again = parse_goal(str(goal), table)

    assert again.conditions == goal.conditions
    assert again.in_words == goal.in_words or goal.left_out
    assert check_goal(again, table, table) == check_goal(goal, table, table)


@pytest.mark.parametrize(
    'reply',
    [
        'on(red_cube, blue_cube)\nside(blue_cube, left)',
        '```\n1. on(Red cube, blue_cube)\n2. side(blue_cube, left)\n```',
        'The conditions:\n- on(red_cube, blue_cube); side(blue_cube, left).',
        'on(red_cube, blue_cube)\nside(blue_cube, left)\non(red_cube, blue_cube)',
    ],
)
def test_a_reply_is_read_through_what_models_put_around_it(reply: str) -> None:
    goal = parse_goal_reply(reply, scene(START))

    assert goal is not None
    assert goal.in_words == ('red_cube is on blue_cube', 'blue_cube is on the left side')


@pytest.mark.parametrize(
    'reply', ['none', 'None.', '- none', '"none"', 'on(red_cube, table)\nnone']
)
def test_none_is_no_goal_whatever_stands_beside_it(reply: str) -> None:
    assert parse_goal_reply(reply, scene(START)) is None
    chatter = 'None of the cubes moves before that.\non(red_cube, blue_cube)'
    assert str(parse_goal_reply(chatter, scene(START))) == 'on(red_cube, blue_cube)'


def test_the_words_of_numbers_variables_and_positions_are_sentences() -> None:
    text = (
        'on(exactly 1 of red_cube|blue_cube, x=location_A|location_B); '
        'beside(y=red_cube|blue_cube, 2 of green_cube|pink_cube|blue_cube); not on(y, x); '
        'at(pink_cube, 0.5 -0.1); line(red_cube, blue_cube, at least 2 cm)'
    )

    assert parse_goal(text, scene(START)).in_words == (
        'exactly 1 of the 2 cubes is on x (location_A or location_B)',
        'y (red_cube or blue_cube) is right next to 2 of the 3 cubes',
        'y (red_cube or blue_cube) is not on x (location_A or location_B)',
        'pink_cube is at 0.5 -0.1',
        'red_cube, blue_cube form one straight line with at least 2 cm between neighbours, '
        'in this order',
    )


def test_a_fault_names_the_choice_for_a_variable_that_fits_best() -> None:
    goal = 'on(x=red_cube|blue_cube, location_A); beside(x, pink_cube)'

    (fault,) = unmet(goal, {'blue_cube': (0.5, -0.1)})

    assert fault.startswith('with x = blue_cube, blue_cube is 16.0 cm away from pink_cube')
    assert not unmet(goal, {'blue_cube': (0.5, -0.1), 'pink_cube': (0.5, -0.17)})
    both = {'blue_cube': (0.5, 0.2), 'red_cube': (0.5, -0.1), 'pink_cube': (0.5, 0.27)}
    assert len(unmet(goal, both)) == 1  # each line has a cube that meets it, not the same one


def test_a_condition_on_a_variable_can_be_withdrawn_by_its_name() -> None:
    start = scene(START)
    goal = parse_goal('on(x=red_cube|blue_cube, location_A); beside(x, pink_cube)', start)

    left = withdrawn(goal, 'beside(x, pink_cube)', 'no room', start)

    assert str(left).startswith('on(x=red_cube|blue_cube, location_A); not checked: x (red')


def test_too_many_are_a_fault_of_exactly_and_others_are_what_no_condition_names() -> None:
    on_table = 'on(exactly 1 of red_cube|blue_cube, table)'
    assert unmet(on_table) == (
        'of exactly 1 of red_cube|blue_cube, red_cube and blue_cube are so',
    )
    assert not unmet(on_table, {'red_cube': (0.50, 0.20, ON_RED)})

    compared = 'gap(red_cube, blue_cube, at least 1 cm); unchanged(others)'
    assert not unmet(compared, {'blue_cube': (0.5, 0.25)})
    assert unmet(compared + '; unchanged(blue_cube)', {'blue_cube': (0.5, 0.25)})


def test_a_tied_choice_that_is_met_at_the_start_shows_nothing() -> None:
    start = scene(START)
    for text, why in (
        ('on(x=red_cube|blue_cube, table); beside(x, pink_cube)', ''),
        ('on(x=red_cube|blue_cube, table); not beside(x, pink_cube)', 'is met before'),
    ):
        assert why in undecided(parse_goal(text, start), start)
        assert bool(why) is bool(undecided(parse_goal(text, start), start))


def test_conditions_are_counted_without_duplicates() -> None:
    cubes = [name for name in START if name.endswith('cube')]
    pairs = [f'{a}, {b}' for a in cubes for b in (*cubes, 'table') if a != b]
    texts = [f'{kind}({pair})' for kind in ('on', 'beside', 'nearer') for pair in pairs][:40]
    table = scene(START)

    assert len(parse_goal('; '.join([*texts, texts[0]]), table).conditions) == 40
    with pytest.raises(ParseError, match=r'has 41 conditions; write 40 at most, with all of'):
        parse_goal('; '.join([*texts, texts[0], 'moved(red_cube)']), table)


def test_a_shape_that_has_too_many_choices_is_not_decided_and_its_best_fault_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stacked = {'red_cube': (0.50, 0.20, ON_RED)}
    tower = 'tower(3 of green_cube|pink_cube|red_cube|blue_cube)'
    line = 'line(2 of red_cube|pink_cube|green_cube|blue_cube)'

    assert '2 of 3 objects (blue_cube, red_cube)' in unmet(tower, stacked)[0]
    assert 'blue_cube and red_cube are 14.1 cm apart' in unmet(line)[0]
    monkeypatch.setattr(table_shapes, 'MOST_SUBSETS', 3)
    start = scene(START)
    for goal in (tower, f'not {tower}'):
        found = check_goal(parse_goal(goal, start), start, start)
        assert (found.unmet, found.met) == ((), False)
        assert 'has too many choices' in found.unseen


def test_what_conditions_do_not_express_keeps_a_goal_from_being_met_but_not_from_being_unmet() -> (
    None
):
    start = scene(START)
    reply = '- on(red_cube, blue_cube)\n**Not checked:** the way; over (the) bowl\n'
    goal = parse_goal_reply(reply, start)

    assert goal is not None
    assert str(goal) == 'on(red_cube, blue_cube); not checked: the way, over (the) bowl'
    assert goal.in_words[-1] == 'not checked: the way, over (the) bowl'
    assert parse_goal(str(goal), start) == goal
    stacked = scene({**START, 'red_cube': (0.50, 0.20, ON_RED)})
    assert check_goal(goal, start, start).unmet
    found = check_goal(goal, stacked, start)
    assert (found.status, found.n_met) == ('met as far as checked', 1)
    assert 'the way, over (the) bowl' in found.unseen
    bare = parse_goal_reply('none\nnot checked: the way', start)
    assert bare == TaskGoal((), 'the way') == parse_goal(str(bare), start)
    assert check_goal(bare, start, start).status == 'not checked'


@pytest.mark.parametrize('reply', ['', 'I cannot tell.', 'on(red_cube, moon)', 'on(red_cube'])
def test_a_reply_without_a_usable_condition_is_refused_with_the_whole_form(reply: str) -> None:
    with pytest.raises(ParseError, match=r'Conditions are|There is no object'):
        parse_goal_reply(reply, scene(START))


def test_a_choice_that_is_met_before_anything_moves_decides_nothing() -> None:
    start = scene({**START, 'pink_cube': (0.5, -0.1)})

    assert 'is met before' in undecided(
        parse_goal('on(red_cube|pink_cube, location_A)', start), start
    )
    assert not undecided(parse_goal('on(pink_cube, location_A)', start), start)
    assert not undecided(parse_goal('on(red_cube|blue_cube, location_A)', start), start)


def test_a_goal_of_a_house_is_checked_by_its_facts_at_any_depth() -> None:
    house = HouseholdWorld('family_flat').observe()

    def shown(text: str) -> tuple[str, ...]:
        return check_goal(parse_goal(text, house), house, house).unmet

    assert shown('in(salmon, kitchen); in(salmon, fridge); state(fridge, closed)') == ()
    assert shown('in(character, kitchen); not held(salmon); in(4 of breadslice, kitchen)') == ()
    assert 'salmon_110 is not in microwave' in shown('in(salmon, microwave)')[0]
    assert 'plate_174 is not in kitchentable' in shown('in(plate_174, kitchentable)')[0]
    assert shown('in(plate_174, kitchen); on(plate_174, kitchentable)') == ()
    assert shown('state(fridge, open)') == ('fridge_109 is not open',)
    with pytest.raises(ParseError, match='is no condition'):
        parse_goal('tower(plate, bowl)', house)


def test_what_is_on_a_plate_on_the_table_is_on_the_table() -> None:
    graph = load_house('family_flat').graph.copy()
    apple, plate = 170, 174
    graph.remove_from(apple, Relation.ON)
    graph.add(apple, Relation.ON, plate)
    house = HouseholdWorld(graph).observe()

    for goal, met in (('on(apple_170, kitchentable)', True), ('on(plate_174, apple_170)', False)):
        found = check_goal(parse_goal(goal, house), house, house)
        assert found.met is met
        assert check_goal(parse_goal(f'not {goal}', house), house, house).met is not met


def test_what_is_out_of_sight_is_not_decided() -> None:
    start = HouseholdWorld('family_flat').observe()
    goal = parse_goal('in(salmon, microwave)', start)
    seen = HouseholdWorld('family_flat', visibility=Visibility(reach='rooms_seen')).observe()

    finding = check_goal(goal, seen, start)

    assert (finding.unmet, finding.met) == ((), False)
    assert 'salmon_110 is not in sight' in finding.unseen
    for text, fault in (
        ('not on(milk_111|apple_170, kitchentable)', 'apple_170 is on kitchentable_169'),
        ('on(all of milk_111|apple_170, sink_141)', 'apple_170 is not on sink'),
        ('on(milk_111|apple_170, sink_141)', ''),
        ('not on(milk_111|apple_170, sink_141)', ''),
    ):
        found = check_goal(parse_goal(text, start), seen, start)
        assert fault in ''.join(found.unmet), text
        assert bool(found.unseen) is not bool(fault), text
