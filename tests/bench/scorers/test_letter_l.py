"""Cubes as a capital L."""

from __future__ import annotations

import cmath
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import LETTER, Spot, assert_fails, assert_passes, judged, moved, pattern, table

from bbllm.bench.suites.situation import Situation

SMALL = (0, 1, 2, -1j)
FIVE = (0, 1, 2, -1j, -2j)
SEVEN = (0, 1, 2, 3, 4, -1j, -2j)
FAR = (0.2, 0.3)
SIX_CENTIMETRES = pattern(FIVE)


def with_cube(spots: dict[str, Spot], x: float, y: float, z: float = 0.02) -> dict[str, Spot]:
    """Add a white cube, seen from the corner of the letter."""
    return {**spots, 'white_cube': (0.5 + x, -0.1 + y, z)}


PASSING = {
    'five cubes': table(pattern(FIVE)),
    'four cubes': table(pattern(SMALL)),
    'seven cubes': table(pattern(SEVEN)),
    'a foot longer than the upright': table(pattern((0, 1, 2, -1j, -2j, -3j))),
    'cubes that touch': table(pattern(FIVE, 0.04)),
    'as wide as allowed': table(pattern(FIVE, 0.0999)),
    'turned a little': table(pattern(FIVE, turn_deg=9)),
    'turned a little the other way': table(pattern(FIVE, turn_deg=-9)),
    'one cube off by a centimetre': table(moved(pattern(FIVE), 'orange_cube', 0.006, 0.008)),
    'every cube off by some millimetres': table(
        moved(
            moved(moved(pattern(FIVE), 'red_cube', 0.004, -0.003), 'blue_cube', 0, 0.005),
            'green_cube',
            -0.004,
            0.003,
        )
    ),
    'another cube far away': table(with_cube(pattern(FIVE), 0.0, 0.3)),
    'another cube more than a pitch away': table(with_cube(pattern(FIVE), 0.0, 0.075)),
    'cylinders beside it': table({**pattern(FIVE), 'grey_cylinder': (0.56, -0.16)}),
    'one out of reach elsewhere': table(
        {**pattern(FIVE), 'aqua_cube': (1.0, 0.1)}, beyond=['aqua_cube']
    ),
    'named in another order': table(dict(reversed(pattern(FIVE).items()))),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'mirrored': (table(pattern((0, 1, 2, 1j, 2j))), ''),
    'mirrored, of four': (table(pattern((0, 1, 2, 1j))), ''),
    'upside down': (table(pattern((0, -1, -2, -1j, -2j))), ''),
    'turned by a right angle': (table(pattern((0, -1j, -2j, -1, -2))), ''),
    'turned by two right angles': (table(pattern((0, -1, -2, 1j, 2j))), ''),
    'lying: one up and two to the right': (table(pattern((0, 1, -1j, -2j))), ''),
    'a long bar with a foot of one': (
        table(pattern((0, 1, 2, 3, -1j))),
        'cube',
    ),
    'three cubes': (table(pattern((0, 1, -1j))), ''),
    'a bar': (table(pattern((0, 1, 2, 3))), '3 of 4'),
    'a square': (table(pattern((0, 1, -1j, 1 - 1j))), '3 of 4'),
    'a T on its head': (table(pattern((0, 1, 2, 1j, -1j))), 'stay free'),
    'a plus sign': (table(pattern((0, 1, -1, 1j, -1j))), ''),
    'an L with a bar at its top': (table(pattern((0, 1, 2, -1j, -2j, 2 - 1j, 2 - 2j))), ''),
    'a U': (table(pattern((0, 1, 2, -1j, -2j, 1 - 2j, 2 - 2j))), 'stay free'),
    'a full block': (table(pattern((0, 1, 2, -1j, -2j, 1 - 1j))), 'stay free'),
    'turned too far': (table(pattern(FIVE, turn_deg=13)), 'turned by 13 degrees'),
    'turned too far the other way': (table(pattern(FIVE, turn_deg=-13)), 'turned by -13'),
    'too wide': (table(pattern(FIVE, 0.105)), 'its pitch is 10.5 cm'),
    'too narrow': (table(pattern(FIVE, 0.037)), 'its pitch is 3.7 cm'),
    'a gap in the upright': (table(pattern((0, 2, 3, -1j, -2j))), '4 places'),
    'a foot that is off the corner': (table(pattern((0, 1, 2, -2j, -3j))), '4 places'),
    'a corner that is not a right angle': (
        table(
            pattern(
                (0, 1, 2, cmath.rect(1, math.radians(-110)), cmath.rect(2, math.radians(-110)))
            )
        ),
        '',
    ),
    'one cube sideways': (table(moved(pattern(SMALL), 'yellow_cube', 0, 0.03)), ''),
    'the corner missing': (table(pattern((1, 2, -1j, -2j))), ''),
    'another cube in the angle': (
        table(with_cube(pattern(FIVE), 0.06, -0.06)),
        'white_cube is 6.0',
    ),
    'another cube on top': (
        table(with_cube(pattern(FIVE), 0.06, 0, 0.06)),
        'white_cube is 0.0 cm',
    ),
    'a cube on the table missing under another': (
        table(moved(pattern(SMALL), 'yellow_cube', 0, 0, 0.04)),
        '3 of 4',
    ),
    'one cube in the hand': (table(moved(pattern(SMALL), 'yellow_cube', 0, 0, 0.2)), '3 of 4'),
    'one cube out of reach': (table(pattern(SMALL), beyond=['red_cube']), 'places'),
    'one beside it that is out of reach': (
        table(with_cube(pattern(FIVE), 0.0, 0.06), beyond=['white_cube']),
        'white_cube is 6.0 cm',
    ),
    'a cylinder as its corner': (
        table({**pattern((1, 2, -1j, -2j)), 'grey_cylinder': (0.5, -0.1)}),
        '',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_an_l_passes(situation: Situation) -> None:
    assert_passes(LETTER, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_no_l_fails(situation: Situation, about: str) -> None:
    assert_fails(LETTER, situation, about)


def test_a_goal_of_six_cubes_takes_no_five() -> None:
    six = LETTER.model_copy(update={'least_cubes': 6})

    assert_fails(six, table(pattern(FIVE)), '5 of 6')
    assert_passes(six, table(pattern((0, 1, 2, 3, -1j, -2j))))
    assert_passes(six, table(pattern((0, 1, 2, -1j, -2j, -3j))))


def test_the_goal_says_how_many_cubes_each_bar_needs() -> None:
    lying = table(pattern((0, 1, -1j, -2j)))
    long = LETTER.model_copy(update={'least_bar': 3})
    short = LETTER.model_copy(update={'least_bar': 1})
    other = LETTER.model_copy(update={'smallest': (1, 2)})

    assert_fails(long, table(pattern(FIVE)))
    assert_passes(long, table(pattern(SMALL)))
    assert_passes(long, table(pattern((0, 1, 2, 3, -1j, -2j, -3j))))
    assert_passes(short, lying)
    assert_passes(short, table(pattern((0, 1, 2, 3, -1j))))
    assert_passes(other, lying)
    assert_fails(other, table(pattern(SMALL)))


def test_places_are_counted_as_they_fill_and_all_but_one_make_a_shape() -> None:
    def held(count: int) -> list[bool]:
        five = LETTER.model_copy(update={'least_cubes': 5})
        return [one.holds for one in judged(five, table(pattern(FIVE[:count]))).conditions]

    assert held(0) == [False] * 8 + [True]
    assert held(3) == [True] * 3 + [False] * 5 + [True]
    assert held(4) == [True] * 4 + [False] + [True] * 4
    assert held(5) == [True] * 9


cells = st.sampled_from([SMALL, FIVE, (0, 1, 2, 3, -1j, -2j), SEVEN])


@given(
    cells=cells,
    pitch=st.floats(0.055, 0.09),
    turn=st.floats(-5, 5),
    which=st.integers(0, 6),
    angle=st.floats(0, 6.28),
    share=st.floats(0, 1),
    far=st.floats(1.2, 2),
)
def test_a_nudge_beyond_tolerance_flips_the_verdict(
    cells: tuple[complex, ...],
    pitch: float,
    turn: float,
    which: int,
    angle: float,
    share: float,
    far: float,
) -> None:
    done = pattern(cells, pitch, turn_deg=turn)
    name = list(done)[which % len(cells)]
    small, large = cmath.rect(0.005 * share, angle), cmath.rect(far * pitch, angle)

    assert_passes(LETTER, table(done))
    assert_passes(LETTER, table(moved(done, name, small.real, small.imag)))
    if len(cells) == LETTER.least_cubes:  # a longer one may lose a cube and be an L still
        assert_fails(LETTER, table(moved(done, name, large.real, large.imag)))
        assert_fails(LETTER, table({other: done[other] for other in done if other != name}))


@given(
    cells=cells,
    cell=st.integers(0, 6),
    pitch=st.floats(0.055, 0.09),
    angle=st.floats(0, 6.28),
    share=st.floats(0, 0.99),
)
def test_another_cube_nudged_near_flips_the_verdict(
    cells: tuple[complex, ...], cell: int, pitch: float, angle: float, share: float
) -> None:
    done = pattern(cells, pitch)
    beside = 0.5 - 0.1j + pitch * cells[cell % len(cells)] + cmath.rect(pitch * share, angle)
    spoilt = {**done, 'white_cube': (beside.real, beside.imag, 0.06)}
    apart = {**done, 'white_cube': (beside.real, beside.imag + 0.5)}

    assert_fails(LETTER, table({**spoilt, 'black_cube': (beside.real, beside.imag)}), 'cube')
    assert_passes(LETTER, table(apart))


@given(
    cells=cells,
    pitch=st.floats(0.041, 0.099),
    out=st.floats(10.2, 30),
    inside=st.floats(0, 9.8),
    left=st.booleans(),
)
def test_turning_it_too_far_flips_the_verdict(
    cells: tuple[complex, ...], pitch: float, out: float, inside: float, left: bool
) -> None:
    sign = 1 if left else -1

    assert_passes(LETTER, table(pattern(cells, pitch, turn_deg=sign * inside)))
    assert_fails(LETTER, table(pattern(cells, pitch, turn_deg=sign * out)))


@given(
    pitch=st.floats(0.055, 0.09),
    angle=st.floats(0, 6.28),
    share=st.floats(0, 0.95),
    over=st.floats(1.05, 3),
)
def test_a_cube_nudged_off_its_place_flips_the_verdict(
    pitch: float, angle: float, share: float, over: float
) -> None:
    five = LETTER.model_copy(update={'least_cubes': 5})
    # The fit follows the middle of the upright by 1/5 + 0.52/6.4 of its way.
    limit = LETTER.residual_edges * LETTER.edge_m / (0.8 - 0.52 / 6.4)
    small, large = cmath.rect(share * limit, angle), cmath.rect(over * limit, angle)

    assert_passes(five, table(moved(pattern(FIVE, pitch), 'orange_cube', small.real, small.imag)))
    assert_fails(five, table(moved(pattern(FIVE, pitch), 'orange_cube', large.real, large.imag)))


@given(
    pitch=st.floats(0.045, 0.06),
    inside=st.floats(0, 9.5),
    out=st.floats(10.5, 40),
    up=st.booleans(),
)
def test_a_foot_bent_too_far_flips_the_verdict(
    pitch: float, inside: float, out: float, up: bool
) -> None:
    def bent(degrees: float) -> Situation:
        off = pitch * math.tan(math.radians(degrees))
        return table(moved(pattern(SMALL, pitch), 'green_cube', off if up else -off, 0))

    assert_passes(LETTER, bent(inside))
    assert_fails(LETTER, bent(out))
