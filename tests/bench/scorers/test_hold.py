"""The heaviest block in the hand, well above the table, and everything else at rest."""

from __future__ import annotations

import dataclasses

import pytest
from layouts import Spot, assert_fails, assert_passes, moved
from unseen_layouts import HEAVIEST, MASSES_KG, TWO, small_table, weighing

from bbllm.bench.suites.situation import Situation

START: dict[str, Spot] = {
    'red_cube': (0.45, 0.1),
    'green_cube': (0.55, -0.1),
    'blue_cube': (0.5, 0.0),
}
UP: dict[str, Spot] = moved(START, 'red_cube', 0.0, 0.0, 0.08)


def now(spots: dict[str, Spot], held: str = 'red_cube') -> Situation:
    return weighing(small_table(spots, start=START), held=held)


FAILING = {
    'nothing in the hand': (now(START, ''), 'the hand is empty'),
    'the lighter one': (
        now(moved(START, 'green_cube', 0, 0, 0.08), 'green_cube'),
        'green_cube, in the hand, weighs 100 g, but red_cube weighs 150 g',
    ),
    'not high enough': (
        now(moved(START, 'red_cube', 0, 0, 0.04)),
        'red_cube is 4.0 cm above the table, not 5.0 cm',
    ),
    'still on the table': (now(START), 'red_cube is 0.0 cm above the table'),
    'another one in the air': (now(moved(UP, 'blue_cube', 0, 0, 0.1)), 'blue_cube is'),
    'another one gone': (
        now({name: spot for name, spot in UP.items() if name != 'blue_cube'}),
        'blue_cube is gone',
    ),
    'as heavy as another': (
        dataclasses.replace(now(UP), mass_kg=dict.fromkeys(MASSES_KG, 0.1)),
        'weighs 100 g, but green_cube weighs 100 g',
    ),
    'weights that nobody tells': (
        dataclasses.replace(now(UP), mass_kg={}),
        'nothing tells what red_cube weighs',
    ),
}


def test_the_heaviest_block_in_the_hand_passes() -> None:
    assert_passes(HEAVIEST, now(UP))
    assert_passes(HEAVIEST, now(moved(START, 'red_cube', 0.1, 0.1, 0.0501)))


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_anything_else_fails(situation: Situation, about: str) -> None:
    assert_fails(HEAVIEST, situation, about)


def test_what_is_in_the_hand_is_at_rest_for_no_other_goal() -> None:
    tower: dict[str, Spot] = {'red_cube': (0.5, 0.0), 'green_cube': (0.5, 0.0, 0.06)}
    held = now({**tower, 'blue_cube': (0.4, 0.2, 0.2)}, 'blue_cube')

    assert_fails(TWO, held, 'blue_cube')
