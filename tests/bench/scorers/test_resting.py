"""Named things on named things; for suites of one's own."""

from __future__ import annotations

import cmath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import STANDING, Spot, assert_fails, assert_passes, leaning, moved, table

from bbllm.bench.suites.goals import Resting
from bbllm.bench.suites.situation import Situation

GOAL = Resting(
    kind='resting',
    on={'red_cube': 'blue_cube', 'blue_cube': 'location_A', 'grey_cylinder': 'table'},
    near_m=0.015,
    **STANDING,
)
DONE: dict[str, Spot] = {
    'location_A': (0.5, 0.1),
    'location_B': (0.5, -0.1),
    'blue_cube': (0.5, 0.1),
    'red_cube': (0.5, 0.1, 0.06),
    'grey_cylinder': (0.4, 0.3),
    'green_cube': (0.6, 0.3),
}
PASSING = {
    'exact': table(DONE),
    'a centimetre off': table(moved(DONE, 'red_cube', 0.01, 0.005)),
    'millimetres above': table(moved(DONE, 'red_cube', 0, 0, 0.003)),
    'the cylinder elsewhere on the table': table({**DONE, 'grey_cylinder': (0.7, -0.3)}),
    'another on the tower': table({**DONE, 'green_cube': (0.5, 0.1, 0.10)}),
    'out of reach or not': table(DONE, beyond=['red_cube']),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'beside it': (table({**DONE, 'red_cube': (0.5, 0.2)}), 'underside of red_cube'),
    'the tower upside down': (
        table({**DONE, 'red_cube': (0.5, 0.1), 'blue_cube': (0.5, 0.1, 0.06)}),
        'red_cube',
    ),
    'something between': (
        table({**DONE, 'green_cube': (0.5, 0.1, 0.06), 'red_cube': (0.5, 0.1, 0.10)}),
        '4.0 cm above the top of blue_cube',
    ),
    'too far off the middle': (table(moved(DONE, 'red_cube', 0.018, 0)), '1.8 cm from'),
    'in the air over it': (table(moved(DONE, 'red_cube', 0, 0, 0.05)), 'above the top'),
    'the tower elsewhere': (
        table({**DONE, 'blue_cube': (0.5, -0.1), 'red_cube': (0.5, -0.1, 0.06)}),
        'location_A',
    ),
    'the cylinder on a cube': (
        table({**DONE, 'grey_cylinder': (0.6, 0.3, 0.06)}),
        'above the top of table',
    ),
    'the cylinder on its side': (
        leaning(table(DONE), 'grey_cylinder', 90),
        'grey_cylinder has toppled',
    ),
    'another thing in the hand': (
        table({**DONE, 'green_cube': (0.6, 0.3, 0.3)}),
        'green_cube is 28.0 cm above the table',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_what_rests_as_named_passes(situation: Situation) -> None:
    assert_passes(GOAL, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_does_not_rest_as_named_fails(situation: Situation, about: str) -> None:
    assert_fails(GOAL, situation, about)


def test_a_name_that_is_not_there_fails() -> None:
    goal = Resting(kind='resting', on={'red_cube': 'tray'}, near_m=0.015, **STANDING)

    assert_fails(goal, table(DONE), 'there is no tray')


def test_a_goal_that_names_nothing_never_passes() -> None:
    assert_fails(
        Resting(kind='resting', on={}, near_m=0.015, **STANDING), table(DONE), 'names nothing'
    )


@given(angle=st.floats(0, 6.28), inside=st.floats(0, 0.0145), outside=st.floats(0.0155, 0.019))
def test_a_nudge_off_the_middle_flips_the_verdict(
    angle: float, inside: float, outside: float
) -> None:
    near, off = cmath.rect(inside, angle), cmath.rect(outside, angle)

    assert_passes(GOAL, table(moved(DONE, 'red_cube', near.real, near.imag)))
    assert_fails(GOAL, table(moved(DONE, 'red_cube', off.real, off.imag)), 'red_cube is 1.')
