"""Objects on others, in containers, towers, blocks at corners, and the heaviest in the hand."""

import dataclasses
from collections.abc import Collection
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.types import Pose, SceneObject
from bbllm.scene.scene_file import make_scene
from bbllm_bench.suites.goals import Conditions, Corners, Goal, Hold, Layout, Tower
from bbllm_bench.suites.scores import FinalState
from tests.bench.scorers.layouts import (
    STANDING,
    Spot,
    Spots,
    assert_judged,
    judged,
    leaning,
    moved,
    table,
)

# --- Blocks of hidden weights on the small table of the suite `partial`, and its goals.

MASSES_KG = {'red_cube': 0.15, 'green_cube': 0.1, 'blue_cube': 0.06}
TWO = Tower(kind='tower', height=2, order='any', near_m=0.02, still_m=0.01, **STANDING)
ON_FIXED = TWO.model_copy(update={'order': 'on_fixed'})
LIGHTER_UP = TWO.model_copy(update={'order': 'lighter_up'})
BY_WEIGHT = LIGHTER_UP.model_copy(update={'height': 3})
CORNERS = Corners(kind='corners', which='all', corner_m=0.08, still_m=0.01, **STANDING)
MOVABLE_CORNERS = CORNERS.model_copy(update={'which': 'movable'})
HEAVIEST = Hold(kind='hold', which='heaviest', raised_m=0.05, **STANDING)


def small_table(spots: Spots, *, start: Spots | None = None) -> FinalState:
    """A table of 36 by 60 cm, whose corners are within reach."""
    found = table(spots, start=start)
    top = dataclasses.replace(
        found.objects['table'], pose=Pose(position_m=(0.5, 0.0, -0.02)), size_m=(0.36, 0.6, 0.04)
    )
    return dataclasses.replace(
        found, objects={**found.objects, 'table': top}, start={**found.start, 'table': top}
    )


def weighing(situation: FinalState, *, held: str = '', fixed: Collection[str] = ()) -> FinalState:
    """The same table, with weights, and with what is in the hand or fixed."""
    return dataclasses.replace(situation, mass_kg=MASSES_KG, held=held, fixed=frozenset(fixed))


# --- Named things on named things; for suites of one's own.

ON_GOAL = Layout(
    kind='layout',
    on={'red_cube': 'blue_cube', 'blue_cube': 'location_A', 'grey_cylinder': 'table'},
    near_m=0.015,
    still_m=0.01,
    **STANDING,
)

ON_DONE: dict[str, Spot] = {
    'location_A': (0.5, 0.1),
    'location_B': (0.5, -0.1),
    'blue_cube': (0.5, 0.1),
    'red_cube': (0.5, 0.1, 0.06),
    'grey_cylinder': (0.4, 0.3),
    'green_cube': (0.6, 0.3),
}

ON_PASSING = {
    'a centimetre off': table(moved(ON_DONE, 'red_cube', 0.01, 0.005)),
    'the cylinder elsewhere on the table': table({**ON_DONE, 'grey_cylinder': (0.7, -0.3)}),
    'another on the tower': table({**ON_DONE, 'green_cube': (0.5, 0.1, 0.10)}),
}

ON_FAILING: dict[str, tuple[FinalState, str]] = {
    'the tower upside down': (
        table({**ON_DONE, 'red_cube': (0.5, 0.1), 'blue_cube': (0.5, 0.1, 0.06)}),
        'red_cube',
    ),
    'something between': (
        table({**ON_DONE, 'green_cube': (0.5, 0.1, 0.06), 'red_cube': (0.5, 0.1, 0.10)}),
        'red_cube is not on blue_cube: it is on green_cube',
    ),
    'the cylinder on a cube': (
        table({**ON_DONE, 'grey_cylinder': (0.6, 0.3, 0.06)}),
        'grey_cylinder is not on table',
    ),
    'the cylinder on its side': (
        leaning(table(ON_DONE), 'grey_cylinder', 90),
        'grey_cylinder has toppled',
    ),
}


# --- Things in containers: what counts as in, and what does not.

IN_GOAL = Conditions(
    kind='conditions',
    text='in(orange, bowl); not in(others, containers)',
    limits={'rim_m': 0.02, 'level_m': 0.012},
    level_m=0.012,
    tilt_deg=18,
)

SCENE = make_scene(
    {
        'objects': [
            {'name': 'bowl', 'kind': 'bowl', 'xy': [0.5, 0.0]},
            {'name': 'orange', 'kind': 'orange', 'xy': [0.5, 0.3]},
            {'name': 'can', 'kind': 'can', 'xy': [0.4, -0.3]},
        ]
    }
)

IN_START = {item.name: item for item in (*SCENE.fixtures, *SCENE.movables)}


def in_moved(name: str, x: float, y: float, z: float) -> SceneObject:
    return replace(IN_START[name], pose=replace(IN_START[name].pose, position_m=(x, y, z)))


def in_now(*changed: SceneObject) -> FinalState:
    now = {**IN_START, **{item.name: item for item in changed}}
    return FinalState(objects=now, start=IN_START)


IN_DONE = in_now(in_moved('orange', 0.52, 0.01, 0.036))
UPSIDE_DOWN = replace(
    IN_START['bowl'], pose=replace(IN_START['bowl'].pose, quat_xyzw=(1, 0, 0, 0))
)
IN_FAILING = {
    'beside': (in_now(in_moved('orange', 0.5, 0.3, 0.03)), 'orange is not in bowl'),
    'on the rim': (in_now(in_moved('orange', 0.5, 0.09, 0.075)), 'orange is not in bowl'),
    'above': (in_now(in_moved('orange', 0.5, 0.0, 0.12)), 'orange is not in bowl'),
    'on a bowl that lies upside down': (
        in_now(UPSIDE_DOWN, in_moved('orange', 0.5, 0.0, 0.076)),
        'orange is not in bowl',
    ),
    'another object in the container': (
        in_now(in_moved('orange', 0.5, 0.04, 0.036), in_moved('can', 0.5, -0.04, 0.046)),
        'can is in bowl.',
    ),
}


# --- Towers: as high as asked, upright, in the order of the weights, or on the fixed block.

APART: dict[str, Spot] = {'red_cube': (0.45, 0.1), 'green_cube': (0.55, -0.1)}
GREEN_ON_RED: dict[str, Spot] = {'red_cube': (0.45, 0.1), 'green_cube': (0.452, 0.105, 0.06)}
RED_ON_GREEN: dict[str, Spot] = {'green_cube': (0.45, 0.1), 'red_cube': (0.452, 0.105, 0.06)}
THREE: dict[str, Spot] = {**GREEN_ON_RED, 'blue_cube': (0.448, 0.1, 0.1)}


def two(spots: dict[str, Spot], *, held: str = '', fixed: Collection[str] = ()) -> FinalState:
    return weighing(small_table(spots, start=APART), held=held, fixed=fixed)


TOWER_PASSING = {
    'any order, heavier on top': (TWO, two(RED_ON_GREEN)),
    'the lighter on the heavier': (LIGHTER_UP, two(GREEN_ON_RED)),
    'on the fixed one': (ON_FIXED, two(GREEN_ON_RED, fixed=['red_cube'])),
    'a third one beside the two': (LIGHTER_UP, two({**GREEN_ON_RED, 'blue_cube': (0.6, 0.2)})),
    'shifted as far as may be': (TWO, two(moved(GREEN_ON_RED, 'green_cube', 0.016, 0.0))),
}

TOWER_FAILING = {
    'side by side': (TWO, two(APART), 'the highest tower of these has 1 of 2 objects'),
    'shifted too far': (
        TWO,
        two(moved(GREEN_ON_RED, 'green_cube', 0.022, 0.0)),
        'green_cube is 2.5 cm from the middle of red_cube, and 2.0 cm count',
    ),
    'tipped on top': (
        TWO,
        leaning(two(GREEN_ON_RED), 'green_cube', 30, 0.007),
        'green_cube is tipped',
    ),
    'still in the hand': (
        TWO,
        two(GREEN_ON_RED, held='green_cube'),
        'green_cube is in the hand',
    ),
    'the heavier on the lighter': (
        LIGHTER_UP,
        two(RED_ON_GREEN),
        'there is no tower of red_cube and green_cube',
    ),
    'unknown weights': (
        LIGHTER_UP,
        dataclasses.replace(two(GREEN_ON_RED), mass_kg={}),
        'no blocks can be in this order, by what they weigh',
    ),
    'the fixed one on top': (
        ON_FIXED,
        two(GREEN_ON_RED, fixed=['green_cube']),
        'there is no tower of green_cube and red_cube',
    ),
    'the fixed one moved': (
        ON_FIXED,
        two(GREEN_ON_RED | {'red_cube': (0.445, 0.112)}, fixed=['red_cube']),
        'red_cube has moved by 1.3 cm although it is fixed',
    ),
    'three where two are asked': (TWO, two(THREE), 'blue_cube is part of it too'),
    'a third beside the middle of the second': (
        TWO,
        two({**GREEN_ON_RED, 'blue_cube': (0.475, 0.1, 0.1)}),
        'blue_cube is part of it too',
    ),
}


@given(order=st.permutations(sorted(MASSES_KG)))
def test_of_all_orders_one_is_by_weight(order: list[str]) -> None:
    spots: dict[str, Spot] = {
        name: (0.5, 0.0, 0.02 + 0.04 * level) for level, name in enumerate(order)
    }

    passed = judged(BY_WEIGHT, weighing(small_table(spots))).verdict.value == 'passed'

    assert passed == (order == ['red_cube', 'green_cube', 'blue_cube'])


# --- Blocks at corners: near enough, on the table, no corner twice, fixed ones where they were.

CORNER_START: dict[str, Spot] = {'red_cube': (0.45, 0.1), 'green_cube': (0.55, -0.1)}
BOTH: dict[str, Spot] = {'red_cube': (0.36, 0.26), 'green_cube': (0.64, -0.26)}
RED: dict[str, Spot] = {**CORNER_START, 'red_cube': (0.36, 0.26)}
GREEN_FIXED = {'fixed': ['green_cube']}


def corner_now(spots: dict[str, Spot], **unseen: list[str]) -> FinalState:
    return weighing(small_table(spots, start=CORNER_START), fixed=unseen.get('fixed', ()))


CORNER_PASSING = {
    'both': (CORNERS, corner_now(BOTH)),
    'nearest to each other': (
        CORNERS,
        corner_now({'red_cube': (0.36, -0.26), 'green_cube': (0.64, -0.26)}),
    ),
    'just near enough': (CORNERS, corner_now({**BOTH, 'red_cube': (0.32, 0.221)})),
    'the movable one': (MOVABLE_CORNERS, corner_now(RED, **GREEN_FIXED)),
}

CORNER_FAILING = {
    'none': (CORNERS, corner_now(CORNER_START), 'red_cube is 23.9 cm from the nearest corner'),
    'both at one': (
        CORNERS,
        corner_now({'red_cube': (0.34, 0.28), 'green_cube': (0.375, 0.25)}),
        'red_cube and green_cube are at the same corner',
    ),
    'along an edge only': (CORNERS, corner_now({**BOTH, 'red_cube': (0.32, 0.2)}), '10.0 cm'),
    'still in the hand': (
        CORNERS,
        weighing(small_table(BOTH, start=CORNER_START), held='red_cube'),
        'red_cube is still in the hand',
    ),
    'the fixed one too': (
        MOVABLE_CORNERS,
        corner_now(BOTH, **GREEN_FIXED),
        'green_cube has moved by 18.4 cm although it is fixed',
    ),
    'only the fixed one': (
        MOVABLE_CORNERS,
        corner_now({**BOTH, 'red_cube': (0.45, 0.1)}, **GREEN_FIXED),
        'red_cube is 23.9 cm',
    ),
    'nothing that could be moved': (
        MOVABLE_CORNERS,
        corner_now(CORNER_START, fixed=['red_cube', 'green_cube']),
        'no block within reach can be moved',
    ),
}


# --- The heaviest block in the hand, well above the table, and everything else at rest.

HOLD_START: dict[str, Spot] = {
    'red_cube': (0.45, 0.1),
    'green_cube': (0.55, -0.1),
    'blue_cube': (0.5, 0.0),
}

UP: dict[str, Spot] = moved(HOLD_START, 'red_cube', 0.0, 0.0, 0.08)


def hold_now(spots: dict[str, Spot], held: str = 'red_cube') -> FinalState:
    return weighing(small_table(spots, start=HOLD_START), held=held)


HOLD_FAILING = {
    'held beside the table': (
        hold_now({**UP, 'red_cube': (0.9, 0.1, 0.1)}),
        'red_cube is not over the table.',
    ),
    'nothing in the hand': (hold_now(HOLD_START, ''), 'the hand is empty'),
    'the lighter one': (
        hold_now(moved(HOLD_START, 'green_cube', 0, 0, 0.08), 'green_cube'),
        'green_cube, in the hand, weighs 100 g, but red_cube weighs 150 g',
    ),
    'not high enough': (
        hold_now(moved(HOLD_START, 'red_cube', 0, 0, 0.04)),
        'red_cube is 4.0 cm above the table, not 5.0 cm',
    ),
    'another one in the air': (hold_now(moved(UP, 'blue_cube', 0, 0, 0.1)), 'blue_cube is'),
    'another one gone': (
        hold_now({name: spot for name, spot in UP.items() if name != 'blue_cube'}),
        'blue_cube is gone',
    ),
    'as heavy as another': (
        dataclasses.replace(hold_now(UP), mass_kg=dict.fromkeys(MASSES_KG, 0.1)),
        'weighs 100 g, but green_cube weighs 100 g',
    ),
    'unknown weights': (
        dataclasses.replace(hold_now(UP), mass_kg={}),
        'the mass of red_cube is unknown',
    ),
}


TOWER_BELOW: dict[str, Spot] = {
    'red_cube': (0.5, 0.0),
    'green_cube': (0.5, 0.0, 0.06),
    'blue_cube': (0.4, 0.2, 0.2),
}
TRAY = ON_GOAL.model_copy(update={'on': {'red_cube': 'tray'}})
FAR_UP = moved(HOLD_START, 'red_cube', 0.1, 0.1, 0.0501)

CASES: dict[str, tuple[Goal, FinalState, str | None]] = {
    'on: a name that is not there': (TRAY, table(ON_DONE), 'tray is no longer in the scene'),
    'in: on the floor of its container': (IN_GOAL, IN_DONE, None),
    **{f'in: {name}': (IN_GOAL, *case) for name, case in IN_FAILING.items()},
    'hold: the heaviest': (HEAVIEST, hold_now(UP), None),
    'hold: the heaviest, just high enough elsewhere': (HEAVIEST, hold_now(FAR_UP), None),
    'tower: one beside it in the hand': (TWO, hold_now(TOWER_BELOW, 'blue_cube'), 'blue_cube'),
    **{f'on: {name}': (ON_GOAL, state, None) for name, state in ON_PASSING.items()},
    **{f'tower: {name}': (*case, None) for name, case in TOWER_PASSING.items()},
    **{f'on: {name}': (ON_GOAL, *case) for name, case in ON_FAILING.items()},
    **{f'tower: {name}': case for name, case in TOWER_FAILING.items()},
    **{f'corner: {name}': (*case, None) for name, case in CORNER_PASSING.items()},
    **{f'corner: {name}': case for name, case in CORNER_FAILING.items()},
    **{f'hold: {name}': (HEAVIEST, *case) for name, case in HOLD_FAILING.items()},
}


@pytest.mark.parametrize(('goal', 'state', 'about'), CASES.values(), ids=CASES.keys())
def test_what_reaches_the_goal_passes_and_what_only_nearly_does_fails(
    goal: Goal, state: FinalState, about: str | None
) -> None:
    assert_judged(goal, state, about)
