"""Towers: as high as asked, upright, in the order of the weights, or on the fixed block."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import Spot, assert_fails, assert_passes, judged, leaning, moved
from unseen_layouts import BY_WEIGHT, LIGHTER_UP, MASSES_KG, ON_FIXED, TWO, small_table, weighing

from bbllm.bench.suites.goals import Goal
from bbllm.bench.suites.situation import Situation

APART: dict[str, Spot] = {'red_cube': (0.45, 0.1), 'green_cube': (0.55, -0.1)}
GREEN_ON_RED: dict[str, Spot] = {'red_cube': (0.45, 0.1), 'green_cube': (0.452, 0.105, 0.06)}
RED_ON_GREEN: dict[str, Spot] = {'green_cube': (0.45, 0.1), 'red_cube': (0.452, 0.105, 0.06)}
THREE: dict[str, Spot] = {**GREEN_ON_RED, 'blue_cube': (0.448, 0.1, 0.1)}


def two(spots: dict[str, Spot], *, held: str = '', fixed: Collection[str] = ()) -> Situation:
    return weighing(small_table(spots, start=APART), held=held, fixed=fixed)


PASSING = {
    'any order, heavier on top': (TWO, two(RED_ON_GREEN)),
    'any order, lighter on top': (TWO, two(GREEN_ON_RED)),
    'the lighter on the heavier': (LIGHTER_UP, two(GREEN_ON_RED)),
    'on the fixed one': (ON_FIXED, two(GREEN_ON_RED, fixed=['red_cube'])),
    'three by weight': (BY_WEIGHT, two(THREE)),
    'a third one beside the two': (LIGHTER_UP, two({**GREEN_ON_RED, 'blue_cube': (0.6, 0.2)})),
    'shifted as far as may be': (TWO, two(moved(GREEN_ON_RED, 'green_cube', 0.016, 0.0))),
}
FAILING = {
    'side by side': (TWO, two(APART), 'the highest tower has 1 block, not 2'),
    'shifted too far': (
        TWO,
        two(moved(GREEN_ON_RED, 'green_cube', 0.022, 0.0)),
        'green_cube is 2.5 cm from the middle of red_cube, where 2.0 cm are allowed',
    ),
    'tipped on top': (
        TWO,
        leaning(two(GREEN_ON_RED), 'green_cube', 30, 0.007),
        'green_cube is tipped',
    ),
    'in the air above it': (TWO, two(moved(GREEN_ON_RED, 'green_cube', 0, 0, 0.02)), 'tower'),
    'still in the hand': (TWO, two(GREEN_ON_RED, held='green_cube'), 'still holds green_cube'),
    'the heavier on the lighter': (
        LIGHTER_UP,
        two(RED_ON_GREEN),
        'red_cube, which weighs 150 g, is on green_cube, which weighs 100 g',
    ),
    'weights that nobody tells': (
        LIGHTER_UP,
        dataclasses.replace(two(GREEN_ON_RED), mass_kg={}),
        'nothing tells what red_cube and green_cube weigh',
    ),
    'weights that are the same': (
        LIGHTER_UP,
        dataclasses.replace(two(GREEN_ON_RED), mass_kg=dict.fromkeys(MASSES_KG, 0.1)),
        '100 g',
    ),
    'the fixed one on top': (
        ON_FIXED,
        two(GREEN_ON_RED, fixed=['green_cube']),
        'red_cube, at the bottom, is not the fixed one',
    ),
    'the fixed one moved': (
        ON_FIXED,
        two(GREEN_ON_RED | {'red_cube': (0.445, 0.112)}, fixed=['red_cube']),
        'red_cube has moved by 1.3 cm although it is fixed',
    ),
    'two of three': (BY_WEIGHT, two({**GREEN_ON_RED, 'blue_cube': (0.6, 0.2)}), '2 blocks, not 3'),
    'three where two are asked': (TWO, two(THREE), '3 blocks, not 2'),
    'three in another order': (
        BY_WEIGHT,
        two({**RED_ON_GREEN, 'blue_cube': (0.448, 0.1, 0.1)}),
        'red_cube, which weighs 150 g, is on green_cube',
    ),
    'beside the table': (TWO, two({'red_cube': (0.9, 0), 'green_cube': (0.9, 0, 0.06)}), 'block'),
}


@pytest.mark.parametrize(('goal', 'situation'), PASSING.values(), ids=PASSING.keys())
def test_towers_as_asked_pass(goal: Goal, situation: Situation) -> None:
    assert_passes(goal, situation)


@pytest.mark.parametrize(('goal', 'situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_no_such_tower_fails(goal: Goal, situation: Situation, about: str) -> None:
    assert_fails(goal, situation, about)


@given(order=st.permutations(sorted(MASSES_KG)))
def test_of_all_orders_one_is_by_weight(order: list[str]) -> None:
    spots: dict[str, Spot] = {
        name: (0.5, 0.0, 0.02 + 0.04 * level) for level, name in enumerate(order)
    }

    passed = judged(BY_WEIGHT, weighing(small_table(spots))).verdict.value == 'passed'

    assert passed == (order == ['red_cube', 'green_cube', 'blue_cube'])
