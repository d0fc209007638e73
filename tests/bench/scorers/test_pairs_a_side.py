"""One cube and one cylinder a side, each on a location of its own."""

from __future__ import annotations

import cmath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import PAIRS, Spot, assert_fails, assert_passes, moved, table

from bbllm.bench.suites.situation import Situation

LOCATIONS: dict[str, Spot] = {
    'location_A': (0.4, 0.1),
    'location_B': (0.4, 0.3),
    'location_C': (0.55, 0.2),
    'location_D': (0.4, -0.1),
    'location_E': (0.4, -0.3),
    'location_F': (0.5, 0.0),
    'location_G': (1.0, 0.2),
}
DONE: dict[str, Spot] = {
    **LOCATIONS,
    'red_cube': (0.4, 0.1),
    'grey_cylinder': (0.4, 0.3),
    'blue_cube': (0.4, -0.1),
    'white_cylinder': (0.4, -0.3),
}
FAR: dict[str, Spot] = {**DONE, 'aqua_cube': (1.0, 0.4), 'black_cylinder': (1.0, -0.3)}

PASSING = {
    'exact': table(DONE),
    'cubes outside': table(
        {
            **DONE,
            'red_cube': (0.4, 0.3),
            'grey_cylinder': (0.4, 0.1),
            'blue_cube': (0.4, -0.3),
            'white_cylinder': (0.4, -0.1),
        }
    ),
    'another location': table({**DONE, 'red_cube': (0.55, 0.2)}),
    'a centimetre off its location': table(moved(DONE, 'red_cube', 0.01, -0.01)),
    'exactly as far off as allowed': table(moved(DONE, 'red_cube', 0.02, 0)),
    'others out of reach on both sides': table(FAR, beyond=['aqua_cube', 'black_cylinder']),
    'a third cube in the middle, on its own location': table({**DONE, 'green_cube': (0.5, 0.0)}),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'two cubes on one side': (
        table({**DONE, 'blue_cube': (0.55, 0.2)}),
        'on the left is 2 cubes (red_cube, blue_cube)',
    ),
    'cubes left, cylinders right': (
        table({**DONE, 'blue_cube': (0.4, 0.3), 'grey_cylinder': (0.4, -0.1)}),
        'on the left is',
    ),
    'one off its location': (
        table(moved(DONE, 'red_cube', 0.02, 0.015)),
        'red_cube stands on no location',
    ),
    'one beside all locations': (
        table({**DONE, 'red_cube': (0.6, 0.35)}),
        'red_cube stands on no location',
    ),
    'two on one location, one on the other': (
        table({**DONE, 'grey_cylinder': (0.4, 0.1, 0.06)}),
        'grey_cylinder is 4.0 cm above the table',
    ),
    'one on the middle line': (table({**DONE, 'red_cube': (0.5, 0.0)}), 'on the left is no cube'),
    'one in the air over its location': (table(moved(DONE, 'red_cube', 0, 0, 0.1)), 'above'),
    'a third cube on one side': (
        table({**DONE, 'green_cube': (0.55, 0.2)}),
        'on the left is 2 cubes',
    ),
    'a third cube that is no longer out of reach': (table(FAR), 'on the left is 2 cubes'),
    'a side without a cylinder': (
        table({name: spot for name, spot in DONE.items() if name != 'white_cylinder'}),
        'on the right is no cylinder',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_a_pair_on_either_side_passes(situation: Situation) -> None:
    assert_passes(PAIRS, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_not_a_pair_a_side_fails(situation: Situation, about: str) -> None:
    assert_fails(PAIRS, situation, about)


def test_two_things_within_reach_of_two_locations_are_given_one_each() -> None:
    """Locations as near as 3 cm: each thing has its nearest, and the matching finds the same."""
    close = {**DONE, 'location_C': (0.4, 0.13), 'location_B': (0.4, 0.17)}

    assert_passes(PAIRS, table({**close, 'red_cube': (0.4, 0.11), 'grey_cylinder': (0.4, 0.17)}))


def test_one_location_cannot_be_given_to_two_things() -> None:
    wide = PAIRS.model_copy(update={'location_m': 0.03})
    spots = {**DONE, 'location_A': (0.4, 0.2), 'location_B': (0.6, 0.4)}
    beside: dict[str, Spot] = {'red_cube': (0.4, 0.178), 'grey_cylinder': (0.4, 0.222)}

    assert_fails(wide, table({**spots, **beside}), 'shares location_A with')
    assert_passes(wide, table({**spots, **beside, 'location_B': (0.4, 0.23)}))


@given(
    which=st.sampled_from(['red_cube', 'grey_cylinder', 'blue_cube', 'white_cylinder']),
    angle=st.floats(0, 6.28),
    inside=st.floats(0, 0.0195),
    outside=st.floats(0.0205, 0.06),
)
def test_a_nudge_off_its_location_flips_the_verdict(
    which: str, angle: float, inside: float, outside: float
) -> None:
    near, off = cmath.rect(inside, angle), cmath.rect(outside, angle)

    assert_passes(PAIRS, table(moved(DONE, which, near.real, near.imag)))
    assert_fails(
        PAIRS, table(moved(DONE, which, off.real, off.imag)), f'{which} stands on no location'
    )


@given(swap=st.sampled_from([('red_cube', 'white_cylinder'), ('grey_cylinder', 'blue_cube')]))
def test_exchanging_unlike_things_across_the_middle_flips_the_verdict(
    swap: tuple[str, str],
) -> None:
    one, other = swap

    assert_fails(PAIRS, table({**DONE, one: DONE[other], other: DONE[one]}), 'on the left is')
