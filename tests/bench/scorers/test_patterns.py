"""Cubes as a capital L, and as a plus sign."""

import cmath
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import (
    LETTER,
    PLUS,
    Spot,
    assert_fails,
    assert_judged,
    assert_passes,
    judged,
    moved,
    pattern,
    table,
)

from bbllm.bench.suites.goals import Goal
from bbllm.bench.suites.scores import FinalState

# --- Cubes as a capital L.

L_SMALL = (0, 1, 2, -1j)
FIVE = (0, 1, 2, -1j, -2j)
SEVEN = (0, 1, 2, 3, 4, -1j, -2j)


def l_with_cube(spots: dict[str, Spot], x: float, y: float, z: float = 0.02) -> dict[str, Spot]:
    """Add a white cube, seen from the corner of the letter."""
    return {**spots, 'white_cube': (0.5 + x, -0.1 + y, z)}


L_PASSING = {
    'four cubes': table(pattern(L_SMALL)),
    'a foot longer than the upright': table(pattern((0, 1, 2, -1j, -2j, -3j))),
    'another cube more than a pitch away': table(l_with_cube(pattern(FIVE), 0.0, 0.075)),
    'cylinders beside it': table({**pattern(FIVE), 'grey_cylinder': (0.56, -0.16)}),
    'one out of reach elsewhere': table(
        {**pattern(FIVE), 'aqua_cube': (1.0, 0.1)}, beyond=['aqua_cube']
    ),
    'named in another order': table(dict(reversed(pattern(FIVE).items()))),
}

L_FAILING: dict[str, tuple[FinalState, str]] = {
    'mirrored': (table(pattern((0, 1, 2, 1j, 2j))), ''),
    'turned by a right angle': (table(pattern((0, -1j, -2j, -1, -2))), ''),
    'lying: one up and two to the right': (table(pattern((0, 1, -1j, -2j))), ''),
    'a long bar with a foot of one': (table(pattern((0, 1, 2, 3, -1j))), 'cube'),
    'a bar': (table(pattern((0, 1, 2, 3))), '3 of 4'),
    'a square': (table(pattern((0, 1, -1j, 1 - 1j))), '3 of 4'),
    'a T on its head': (table(pattern((0, 1, 2, 1j, -1j))), 'stay free'),
    'a U': (table(pattern((0, 1, 2, -1j, -2j, 1 - 2j, 2 - 2j))), 'stay free'),
    'turned too far': (table(pattern(FIVE, turn_deg=13)), 'turned by 13 degrees'),
    'too wide': (table(pattern(FIVE, 0.105)), 'its pitch is 10.5 cm'),
    'too narrow': (table(pattern(FIVE, 0.037)), 'its pitch is 3.7 cm'),
    'a corner that is not a right angle': (
        table(
            pattern(
                (0, 1, 2, cmath.rect(1, math.radians(-110)), cmath.rect(2, math.radians(-110)))
            )
        ),
        '',
    ),
    'the corner missing': (table(pattern((1, 2, -1j, -2j))), ''),
    'another cube in the angle': (
        table(l_with_cube(pattern(FIVE), 0.06, -0.06)),
        'white_cube is 6.0',
    ),
    'one cube out of reach': (table(pattern(L_SMALL), beyond=['red_cube']), 'places'),
    'one beside it that is out of reach': (
        table(l_with_cube(pattern(FIVE), 0.0, 0.06), beyond=['white_cube']),
        'white_cube is 6.0 cm',
    ),
    'a cylinder as its corner': (
        table({**pattern((1, 2, -1j, -2j)), 'grey_cylinder': (0.5, -0.1)}),
        '',
    ),
}


def test_the_goal_says_how_many_cubes_each_bar_needs() -> None:
    lying = table(pattern((0, 1, -1j, -2j)))
    long = LETTER.model_copy(update={'least_bar': 3})
    short = LETTER.model_copy(update={'least_bar': 1})
    other = LETTER.model_copy(update={'smallest': (1, 2)})

    assert_fails(long, table(pattern(FIVE)))
    assert_passes(long, table(pattern(L_SMALL)))
    assert_passes(long, table(pattern((0, 1, 2, 3, -1j, -2j, -3j))))
    assert_passes(short, lying)
    assert_passes(short, table(pattern((0, 1, 2, 3, -1j))))
    assert_passes(other, lying)
    assert_fails(other, table(pattern(L_SMALL)))


def test_places_are_counted_as_they_fill_and_all_but_one_make_a_shape() -> None:
    def held(count: int) -> list[bool]:
        five = LETTER.model_copy(update={'least_cubes': 5})
        return [one.holds for one in judged(five, table(pattern(FIVE[:count]))).conditions]

    assert held(0) == [False] * 8 + [True]
    assert held(3) == [True] * 3 + [False] * 5 + [True]
    assert held(4) == [True] * 4 + [False] + [True] * 4
    assert held(5) == [True] * 9


cells = st.sampled_from([L_SMALL, FIVE, (0, 1, 2, 3, -1j, -2j), SEVEN])


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


# --- Five cubes as a plus sign, on whole tables; the fit itself is tested in test_plus_fit.py.

CROSS = (0, 1, -1, 1j, -1j)
PLUS_DONE = pattern(CROSS)


def plus_with_cube(x: float, y: float, z: float = 0.02) -> dict[str, Spot]:
    """Add a white cube, seen from the middle of the sign."""
    return {**PLUS_DONE, 'white_cube': (0.5 + x, -0.1 + y, z)}


PLUS_PASSING = {
    'another more than a pitch and a tolerance away': table(plus_with_cube(-0.1325, 0.0)),
    'cylinders between the arms': table({**PLUS_DONE, 'grey_cylinder': (0.56, -0.16)}),
    'one out of reach elsewhere': table(
        {**PLUS_DONE, 'aqua_cube': (1.0, 0.1)}, beyond=['aqua_cube']
    ),
}

PLUS_FAILING: dict[str, tuple[FinalState, str]] = {
    'five cubes, one of them out of reach': (
        table(PLUS_DONE, beyond=['blue_cube']),
        '4 of 5 places',
    ),
    'an X': (table(pattern((0, 1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j))), 'turned'),
    'a ring without a middle': (table(pattern((1, -1, 1j, -1j, 3j))), ''),
    'arms too far out': (table(pattern(CROSS, 0.103)), '10.3 cm'),
    'unlike arms': (table(pattern((0, 1, -1, 1.7j, -1.7j))), ''),
    'a Latin cross: a sixth cube a pitch beyond an arm': (
        table(plus_with_cube(-0.12, 0.0)),
        'white_cube is 6.0 cm from the plus sign',
    ),
    'a cube in a corner': (table(plus_with_cube(0.06, 0.06)), 'white_cube lies within'),
    'an arm on another cube': (
        table(
            {**moved(PLUS_DONE, 'orange_cube', 0, 0, 0.04), 'white_cube': PLUS_DONE['orange_cube']}
        ),
        'orange_cube lies within',
    ),
    'a cylinder as its middle': (
        table({**pattern((1, -1, 1j, -1j, 4j)), 'grey_cylinder': (0.5, -0.1)}),
        '',
    ),
}


def test_the_goal_s_own_tolerances_count() -> None:
    loose = PLUS.model_copy(update={'residual_edges': 0.5})
    strict = PLUS.model_copy(update={'residual_edges': 0.05})
    wide = PLUS.model_copy(update={'pitch_edges': (1.0, 4.0)})
    askew = PLUS.model_copy(update={'turn_deg': 30})

    assert_fails(strict, table(moved(PLUS_DONE, 'orange_cube', 0.01, 0)), 'of 5 places')
    assert_passes(loose, table(moved(PLUS_DONE, 'orange_cube', 0.03, 0)))
    assert_passes(wide, table(pattern(CROSS, 0.15)))
    assert_passes(askew, table(pattern(CROSS, turn_deg=25)))


def test_how_far_arms_are_above_the_centre_is_the_goal_s() -> None:
    loose = PLUS.model_copy(update={'level_edges': 0.5})
    steps = moved(moved(PLUS_DONE, 'red_cube', 0, 0, -0.008), 'orange_cube', 0, 0, 0.008)

    assert_passes(PLUS, table(moved(PLUS_DONE, 'orange_cube', 0, 0, 0.008)))
    assert_fails(PLUS, table(steps))
    assert_passes(loose, table(steps))


@given(
    pitch=st.floats(0.05, 0.09),
    turn=st.floats(-8, 8),
    which=st.integers(0, 4),
    angle=st.floats(0, 6.28),
    share=st.floats(0, 1),
    over=st.floats(1.05, 3),
)
def test_a_nudge_beyond_tolerance_flips_the_verdict_plus(
    pitch: float, turn: float, which: int, angle: float, share: float, over: float
) -> None:
    done = pattern(CROSS, pitch, turn_deg=turn)
    name = list(done)[which]
    # The fit follows the middle by 1/5 of its way and an arm by 9/20.
    limit = PLUS.residual_edges * PLUS.edge_m / (0.8 if which == 0 else 0.55)
    small, large = cmath.rect(0.5 * share * limit, angle), cmath.rect(over * limit, angle)

    assert_passes(PLUS, table(done))
    assert_passes(PLUS, table(moved(done, name, small.real, small.imag)))
    assert_fails(PLUS, table(moved(done, name, large.real, large.imag)))


CASES: dict[str, tuple[Goal, FinalState, str | None]] = {
    **{f'l: {name}': (LETTER, state, None) for name, state in L_PASSING.items()},
    **{f'plus: {name}': (PLUS, state, None) for name, state in PLUS_PASSING.items()},
    **{f'l: {name}': (LETTER, *case) for name, case in L_FAILING.items()},
    **{f'plus: {name}': (PLUS, *case) for name, case in PLUS_FAILING.items()},
}


@pytest.mark.parametrize(('goal', 'state', 'about'), CASES.values(), ids=CASES.keys())
def test_what_reaches_the_goal_passes_and_what_only_nearly_does_fails(
    goal: Goal, state: FinalState, about: str | None
) -> None:
    assert_judged(goal, state, about)
