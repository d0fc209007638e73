"""Five cubes as a plus sign, on whole tables; the fit itself is tested in test_plus_fit.py."""

from __future__ import annotations

import cmath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import PLUS, Spot, assert_fails, assert_passes, judged, moved, pattern, relaid, table

from bbllm.bench.suites.situation import Situation

CROSS = (0, 1, -1, 1j, -1j)
DONE = pattern(CROSS)


def with_cube(x: float, y: float, z: float = 0.02) -> dict[str, Spot]:
    """Add a white cube, seen from the middle of the sign."""
    return {**DONE, 'white_cube': (0.5 + x, -0.1 + y, z)}


PASSING = {
    'exact': table(DONE),
    'cubes that touch': table(pattern(CROSS, 0.04)),
    'arms as far as allowed': table(pattern(CROSS, 0.0999)),
    'turned a little': table(pattern(CROSS, turn_deg=14)),
    'turned a little the other way': table(pattern(CROSS, turn_deg=-14)),
    'one arm off by a centimetre': table(moved(DONE, 'orange_cube', 0.01, 0.005)),
    'another more than a pitch and a tolerance away': table(with_cube(-0.1325, 0.0)),
    'others elsewhere': table(with_cube(0.0, 0.4)),
    'cylinders between the arms': table({**DONE, 'grey_cylinder': (0.56, -0.16)}),
    'one out of reach elsewhere': table({**DONE, 'aqua_cube': (1.0, 0.1)}, beyond=['aqua_cube']),
    'on the left': table(pattern(CROSS, at=0.5 + 0.2j)),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'four cubes': (table(pattern((0, 1, -1, 1j))), 'needs five cubes'),
    'five cubes, one of them out of reach': (table(DONE, beyond=['blue_cube']), 'five cubes'),
    'an L': (table(pattern((0, 1, 2, -1j, -2j))), ''),
    'a T': (table(pattern((0, 1, 1j, -1j, -2))), ''),
    'a line': (table(pattern((0, 1, 2, -1, -2))), ''),
    'an X': (table(pattern((0, 1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j))), 'turned'),
    'a ring without a middle': (table(pattern((1, -1, 1j, -1j, 3j))), ''),
    'turned too far': (table(pattern(CROSS, turn_deg=17)), 'turned by 17'),
    'arms too far out': (table(pattern(CROSS, 0.103)), '10.3 cm'),
    'one arm too far out': (table(moved(DONE, 'orange_cube', 0.04, 0)), ''),
    'unlike arms': (table(pattern((0, 1, -1, 1.7j, -1.7j))), ''),
    'the middle off': (table(moved(DONE, 'red_cube', 0.02, 0)), 'from its place'),
    'a Latin cross: a sixth cube a pitch beyond an arm': (
        table(with_cube(-0.12, 0.0)),
        'white_cube is 6.0 cm from the plus sign',
    ),
    'one out of reach a pitch beyond an arm': (
        table(with_cube(0.0, 0.12), beyond=['white_cube']),
        'white_cube is 6.0 cm',
    ),
    'a cube in a corner': (table(with_cube(0.06, 0.06)), 'white_cube lies within'),
    'one out of reach in a corner': (
        table(with_cube(0.06, 0.06), beyond=['white_cube']),
        'white_cube lies within',
    ),
    'a cube on top': (table(with_cube(0.06, 0.0, 0.06)), 'white_cube lies within'),
    'an arm on another cube': (
        table({**moved(DONE, 'orange_cube', 0, 0, 0.04), 'white_cube': DONE['orange_cube']}),
        'orange_cube lies within',
    ),
    'an arm in the hand': (table(moved(DONE, 'orange_cube', 0, 0, 0.1)), 'five cubes'),
    'a whole plus sign on top of other cubes': (
        table(
            {
                **{f'grey_cube_{i}': spot for i, spot in enumerate(DONE.values())},
                **relaid(DONE, lambda x, y: (x, y, 0.06)),
            }
        ),
        'lies within the plus sign',
    ),
    'a cylinder as its middle': (
        table({**pattern((1, -1, 1j, -1j, 4j)), 'grey_cylinder': (0.5, -0.1)}),
        '',
    ),
    'a full square of nine': (
        table(
            {
                f'red_cube_{3 * i + j}': (0.5 + 0.06 * i, 0.06 * j)
                for i in range(3)
                for j in range(3)
            }
        ),
        'within the plus sign',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_a_plus_sign_passes(situation: Situation) -> None:
    assert_passes(PLUS, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_no_plus_sign_fails(situation: Situation, about: str) -> None:
    assert_fails(PLUS, situation, about)


def test_the_goal_s_own_tolerances_count() -> None:
    loose = PLUS.model_copy(update={'residual_edges': 0.5})
    strict = PLUS.model_copy(update={'residual_edges': 0.05})
    wide = PLUS.model_copy(update={'pitch_edges': (1.0, 4.0)})
    askew = PLUS.model_copy(update={'turn_deg': 30})

    assert_fails(strict, table(moved(DONE, 'orange_cube', 0.01, 0)), 'from its place')
    assert_passes(loose, table(moved(DONE, 'orange_cube', 0.03, 0)))
    assert_passes(wide, table(pattern(CROSS, 0.15)))
    assert_passes(askew, table(pattern(CROSS, turn_deg=25)))


def test_a_sixth_cube_beside_it_spoils_a_condition_of_its_own() -> None:
    broken = [
        one.text for one in judged(PLUS, table(with_cube(-0.12, 0.0))).conditions if not one.holds
    ]

    assert broken == ['no other cube in it or beside it']


def test_how_far_arms_are_above_the_centre_is_the_goal_s() -> None:
    loose = PLUS.model_copy(update={'level_edges': 0.5})
    steps = moved(moved(DONE, 'red_cube', 0, 0, -0.008), 'orange_cube', 0, 0, 0.008)

    assert_passes(PLUS, table(moved(DONE, 'orange_cube', 0, 0, 0.008)))
    assert_fails(PLUS, table(steps))
    assert_passes(loose, table(steps))


def test_places_are_counted_as_they_fill() -> None:
    def filled(count: int) -> int:
        spots = {name: DONE[name] for name in list(DONE)[:count]}
        far = {f'grey_cube_{i}': (1.0 - 0.3 * i, 0.6) for i in range(5 - count)}
        conditions = judged(PLUS, table({**spots, **far})).conditions
        return sum(one.holds for one in conditions if one.text.startswith('place'))

    assert [filled(count) for count in (3, 4, 5)] == [3, 4, 5]


def test_four_of_five_places_already_have_a_shape() -> None:
    def general(count: int) -> list[bool]:
        spots = {name: DONE[name] for name in list(DONE)[:count]}
        far = {f'grey_cube_{i}': (1.0 - 0.3 * i, 0.6) for i in range(5 - count)}
        return [one.holds for one in judged(PLUS, table({**spots, **far})).conditions[5:8]]

    assert general(3) == [False, False, False]
    assert general(4) == [True, True, True]


@given(
    pitch=st.floats(0.05, 0.09),
    turn=st.floats(-8, 8),
    which=st.integers(0, 4),
    angle=st.floats(0, 6.28),
    share=st.floats(0, 1),
    over=st.floats(1.05, 3),
)
def test_a_nudge_beyond_tolerance_flips_the_verdict(
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


@given(
    pitch=st.floats(0.041, 0.099),
    out=st.floats(15.2, 45),
    inside=st.floats(0, 14.8),
    left=st.booleans(),
)
def test_turning_it_too_far_flips_the_verdict(
    pitch: float, out: float, inside: float, left: bool
) -> None:
    sign = 1 if left else -1

    assert_passes(PLUS, table(pattern(CROSS, pitch, turn_deg=sign * inside)))
    assert_fails(PLUS, table(pattern(CROSS, pitch, turn_deg=sign * out)))


@given(x=st.floats(-0.0795, 0.0795), y=st.floats(-0.0795, 0.0795))
def test_another_cube_within_it_flips_the_verdict(x: float, y: float) -> None:
    stacked = table({**with_cube(x, y), 'black_cube': (0.5 + x, -0.1 + y, 0.06)})

    assert_fails(PLUS, stacked)
    assert_passes(PLUS, table(with_cube(x, y + (0.161 if y >= 0 else -0.161))))
