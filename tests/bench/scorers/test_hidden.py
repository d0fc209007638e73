"""Blocks at corners, and the heaviest block in the hand."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import Spot, assert_fails, assert_passes, moved
from unseen_layouts import (
    CORNERS,
    HEAVIEST,
    MASSES_KG,
    MOVABLE_CORNERS,
    TWO,
    small_table,
    weighing,
)

from bbllm.bench.suites.goals import Goal
from bbllm.bench.suites.scores import FinalState

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
        'still holds red_cube',
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


@given(
    side=st.sampled_from([(1, 1), (1, -1), (-1, 1), (-1, -1)]),
    inward=st.floats(0.0, 0.15),
    along=st.floats(0.0, 0.15),
)
def test_a_corner_reaches_as_far_as_the_goal_says_whichever_it_is(
    side: tuple[int, int], inward: float, along: float
) -> None:
    spot = (0.5 + side[0] * (0.18 - inward), side[1] * (0.3 - along))
    way = (inward**2 + along**2) ** 0.5
    if abs(way - 0.08) < 1e-6:
        return
    check = assert_passes if way < 0.08 else assert_fails
    check(CORNERS, small_table({'red_cube': spot}))


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
    'weights that nobody tells': (
        dataclasses.replace(hold_now(UP), mass_kg={}),
        'nothing tells what red_cube weighs',
    ),
}


def test_the_heaviest_block_in_the_hand_passes() -> None:
    assert_passes(HEAVIEST, hold_now(UP))
    assert_passes(HEAVIEST, hold_now(moved(HOLD_START, 'red_cube', 0.1, 0.1, 0.0501)))


def test_what_is_in_the_hand_is_at_rest_for_no_other_goal() -> None:
    tower: dict[str, Spot] = {'red_cube': (0.5, 0.0), 'green_cube': (0.5, 0.0, 0.06)}
    held = hold_now({**tower, 'blue_cube': (0.4, 0.2, 0.2)}, 'blue_cube')

    assert_fails(TWO, held, 'blue_cube')


PASSING: dict[str, tuple[Goal, FinalState]] = {
    **{f'corner: {name}': case for name, case in CORNER_PASSING.items()}
}
FAILING: dict[str, tuple[Goal, FinalState, str]] = {
    **{f'corner: {name}': case for name, case in CORNER_FAILING.items()},
    **{f'hold: {name}': (HEAVIEST, *case) for name, case in HOLD_FAILING.items()},
}


@pytest.mark.parametrize(('goal', 'state'), PASSING.values(), ids=PASSING.keys())
def test_what_reaches_the_goal_passes(goal: Goal, state: FinalState) -> None:
    assert_passes(goal, state)


@pytest.mark.parametrize(('goal', 'state', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_only_nearly_reaches_it_fails(goal: Goal, state: FinalState, about: str) -> None:
    assert_fails(goal, state, about)
