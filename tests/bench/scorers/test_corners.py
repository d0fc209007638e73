"""Blocks at corners: near enough, on the table, no corner twice, fixed ones where they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import Spot, assert_fails, assert_passes, leaning, moved
from unseen_layouts import CORNERS, MOVABLE_CORNERS, small_table, weighing

from bbllm.bench.suites.goals import Goal
from bbllm.bench.suites.situation import Situation

START: dict[str, Spot] = {'red_cube': (0.45, 0.1), 'green_cube': (0.55, -0.1)}
BOTH: dict[str, Spot] = {'red_cube': (0.36, 0.26), 'green_cube': (0.64, -0.26)}
RED: dict[str, Spot] = {**START, 'red_cube': (0.36, 0.26)}
GREEN_FIXED = {'fixed': ['green_cube']}


def now(spots: dict[str, Spot], **unseen: list[str]) -> Situation:
    return weighing(small_table(spots, start=START), fixed=unseen.get('fixed', ()))


PASSING = {
    'both': (CORNERS, now(BOTH)),
    'on one side of the table': (CORNERS, now({**BOTH, 'green_cube': (0.64, 0.26)})),
    'nearest to each other': (
        CORNERS,
        now({'red_cube': (0.36, -0.26), 'green_cube': (0.64, -0.26)}),
    ),
    'just near enough': (CORNERS, now({**BOTH, 'red_cube': (0.32, 0.221)})),
    'the movable one': (MOVABLE_CORNERS, now(RED, **GREEN_FIXED)),
}
FAILING = {
    'none': (CORNERS, now(START), 'red_cube is 23.9 cm from the nearest corner'),
    'one of two': (CORNERS, now(RED), 'green_cube is'),
    'both at one': (
        CORNERS,
        now({'red_cube': (0.34, 0.28), 'green_cube': (0.375, 0.25)}),
        'red_cube and green_cube are at the same corner',
    ),
    'along an edge only': (CORNERS, now({**BOTH, 'red_cube': (0.32, 0.2)}), '10.0 cm'),
    'above the corner': (CORNERS, now(moved(BOTH, 'red_cube', 0, 0, 0.1)), 'above the table'),
    'off the corner': (CORNERS, now({**BOTH, 'red_cube': (0.3, 0.32)}), 'not over the table'),
    'on an edge of its own': (
        CORNERS,
        leaning(now(BOTH), 'red_cube', 45, 0.008),
        'red_cube is tipped',
    ),
    'still in the hand': (
        CORNERS,
        weighing(small_table(BOTH, start=START), held='red_cube'),
        'still holds red_cube',
    ),
    'the fixed one too': (
        MOVABLE_CORNERS,
        now(BOTH, **GREEN_FIXED),
        'green_cube has moved by 18.4 cm although it is fixed',
    ),
    'only the fixed one': (
        MOVABLE_CORNERS,
        now({**BOTH, 'red_cube': (0.45, 0.1)}, **GREEN_FIXED),
        'red_cube is 23.9 cm',
    ),
    'nothing that could be moved': (
        MOVABLE_CORNERS,
        now(START, fixed=['red_cube', 'green_cube']),
        'no block within reach can be moved',
    ),
}


@pytest.mark.parametrize(('goal', 'situation'), PASSING.values(), ids=PASSING.keys())
def test_blocks_at_corners_pass(goal: Goal, situation: Situation) -> None:
    assert_passes(goal, situation)


@pytest.mark.parametrize(('goal', 'situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_blocks_that_are_not_fail(goal: Goal, situation: Situation, about: str) -> None:
    assert_fails(goal, situation, about)


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
