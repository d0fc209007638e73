"""Three reddish cubes as a triangle on the right."""

from __future__ import annotations

import cmath
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import TRIANGLE, Spot, assert_fails, assert_passes, moved, relaid, table

from bbllm.bench.suites.situation import Situation

TRIO: dict[str, Spot] = {
    'red_cube': (0.56, -0.20),
    'pink_cube': (0.48, -0.14),
    'salmon_cube': (0.48, -0.26),
}
DONE: dict[str, Spot] = {**TRIO, 'blue_cube': (0.4, 0.2), 'grey_cylinder': (0.5, -0.2)}
FAR: dict[str, Spot] = {**DONE, 'crimson_cube': (1.0, -0.2)}


def corners(*points: Spot) -> dict[str, Spot]:
    return dict(zip(TRIO, points))


PASSING = {
    'exact': table(DONE),
    'pointing at the robot': table(corners((0.4, -0.2), (0.48, -0.14), (0.48, -0.26))),
    'aslant': table(corners((0.4, -0.1), (0.55, -0.12), (0.45, -0.25))),
    'large': table(corners((0.35, -0.05), (0.55, -0.05), (0.45, -0.25))),
    'as small as allowed': table(corners((0.5, -0.2), (0.5, -0.26), (0.552, -0.23))),
    'an acute one': table(corners((0.4, -0.2), (0.6, -0.16), (0.6, -0.26))),
    'a fourth reddish one on the left': table({**DONE, 'crimson_cube': (0.4, 0.1)}),
    'a fourth one out of reach on the right': table(FAR, beyond=['crimson_cube']),
    'other cubes on the right, apart': table({**DONE, 'green_cube': (0.35, -0.4)}),
    'another cube just apart enough': table({**DONE, 'green_cube': (0.399, -0.2)}),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'mirrored to the left': (table(relaid(DONE, lambda x, y: (x, -y))), 'only 0 cubes'),
    'two only': (table({**DONE, 'red_cube': (0.5, 0.3)}), 'only 2 cubes'),
    'a single one': (
        table({**DONE, 'red_cube': (0.5, 0.3), 'pink_cube': (0.4, 0.3)}),
        'only 1 cube of the colours stands on the right.',
    ),
    'one within the margin': (table(moved(DONE, 'pink_cube', 0, 0.125)), 'only 2 cubes'),
    'in a line': (table(corners((0.4, -0.2), (0.5, -0.2), (0.6, -0.2))), 'smallest angle is 0'),
    'nearly in a line': (
        table(corners((0.4, -0.2), (0.5, -0.23), (0.6, -0.2))),
        'smallest angle is 17',
    ),
    'too small': (table(corners((0.5, -0.2), (0.5, -0.25), (0.543, -0.225))), 'are 5.0 cm'),
    'too large': (table(corners((0.3, -0.05), (0.56, -0.05), (0.45, -0.25))), 'are 26.0 cm'),
    'a blue cube for a red one': (
        table({**DONE, 'red_cube': (0.4, 0.3), 'blue_cube': (0.56, -0.2)}),
        'only 2 cubes',
    ),
    'four reddish ones on the right': (
        table({**DONE, 'crimson_cube': (0.4, -0.5)}),
        '4 cubes of the colours',
    ),
    'four reddish ones as a square': (
        table({**corners((0.4, -0.1), (0.4, -0.2), (0.5, -0.1)), 'crimson_cube': (0.5, -0.2)}),
        'crimson_cube',
    ),
    'another cube in it': (table({**DONE, 'blue_cube': (0.51, -0.2)}), 'blue_cube is 0.0 cm'),
    'another cube beside a corner': (
        table({**DONE, 'blue_cube': (0.60, -0.14)}),
        'blue_cube is 7.2 cm',
    ),
    'another cube beside a side': (table({**DONE, 'blue_cube': (0.41, -0.2)}), 'is 7.0 cm'),
    'one out of reach beside it': (
        table({**DONE, 'crimson_cube': (0.60, -0.14)}, beyond=['crimson_cube']),
        'crimson_cube',
    ),
    'another cube on a corner': (table({**DONE, 'blue_cube': (0.56, -0.2, 0.06)}), 'blue_cube'),
    'a corner on another cube': (
        table({**moved(DONE, 'red_cube', 0, 0, 0.04), 'blue_cube': (0.56, -0.2)}),
        'only 2 cubes',
    ),
    'a corner in the air': (table(moved(DONE, 'red_cube', 0, 0, 0.2)), 'only 2 cubes'),
    'a corner that is out of reach': (table(DONE, beyond=['red_cube']), 'only 2 cubes'),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_a_triangle_passes(situation: Situation) -> None:
    assert_passes(TRIANGLE, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_no_triangle_fails(situation: Situation, about: str) -> None:
    assert_fails(TRIANGLE, situation, about)


# Three angles that add up to 180 degrees, none below 27.
angles = st.tuples(st.floats(27, 70), st.floats(27, 70)).map(
    lambda two: (*two, 180.0 - two[0] - two[1])
)


def of_angles(angles: tuple[float, float, float], shortest: float, turn: float) -> list[complex]:
    """Return the corners of a triangle by its angles [deg] and its shortest side [m]."""
    a, b, c = (shortest * math.sin(math.radians(angle)) for angle in angles)
    a, b, c = (side / math.sin(math.radians(min(angles))) for side in (a, b, c))
    return [0j, cmath.rect(c, turn), cmath.rect(b, turn + math.radians(angles[0]))]


def laid(points: list[complex]) -> dict[str, Spot]:
    """Lay the corners on the right, well within it."""
    shift = complex(0.5, -0.04 - max(point.imag for point in points))
    return corners(*(((point + shift).real, (point + shift).imag) for point in points))


@given(angles=angles, shortest=st.floats(0.062, 0.1), turn=st.floats(0, 6.28))
def test_any_triangle_within_the_limits_passes(
    angles: tuple[float, float, float], shortest: float, turn: float
) -> None:
    assert_passes(TRIANGLE, table(laid(of_angles(angles, shortest, turn))))


@given(angles=angles, shortest=st.floats(0.02, 0.0595), turn=st.floats(0, 6.28))
def test_a_triangle_that_shrinks_below_the_limit_fails(
    angles: tuple[float, float, float], shortest: float, turn: float
) -> None:
    assert_fails(TRIANGLE, table(laid(of_angles(angles, shortest, turn))))


@given(angles=angles, turn=st.floats(0, 6.28), longest=st.floats(0.242, 0.4))
def test_a_triangle_that_grows_beyond_the_limit_fails(
    angles: tuple[float, float, float], turn: float, longest: float
) -> None:
    points = of_angles(angles, 0.1, turn)
    scale = longest / max(abs(points[i] - points[i - 1]) for i in range(3))

    assert_fails(TRIANGLE, table(laid([point * scale for point in points])), 'apart, not between')


@given(
    flat=st.floats(1, 24), share=st.floats(0.3, 0.7), turn=st.floats(0, 6.28), size=st.floats(1, 2)
)
def test_a_triangle_with_a_narrow_angle_fails(
    flat: float, share: float, turn: float, size: float
) -> None:
    rest = 180.0 - flat
    points = of_angles((flat, rest * share, rest * (1 - share)), 0.06 * size, turn)

    assert_fails(TRIANGLE, table(laid(points)))


@given(
    y=st.floats(-0.019, 0.3), inside=st.floats(0.021, 0.03), which=st.sampled_from(sorted(TRIO))
)
def test_a_corner_nudged_over_the_margin_flips_the_verdict(
    y: float, inside: float, which: str
) -> None:
    shift = max(spot[1] for spot in TRIO.values()) + inside
    placed = {name: (spot[0], spot[1] - shift) for name, spot in TRIO.items()}

    assert_passes(TRIANGLE, table(placed))
    assert_fails(TRIANGLE, table({**placed, which: (placed[which][0], y)}), 'only 2 cubes')


@given(side=st.integers(0, 2), along=st.floats(0, 1), inside=st.floats(0, 0.0795))
def test_another_cube_nudged_near_flips_the_verdict(
    side: int, along: float, inside: float
) -> None:
    points = [complex(*TRIO[name][:2]) for name in TRIO]
    a, b, c = points[side], points[side - 2], points[side - 1]
    foot = a + along * (b - a)
    outward = (b - a) * 1j / abs(b - a)
    if ((c - a) * outward.conjugate()).real > 0:
        outward = -outward

    def with_other(way: float) -> Situation:
        spot = foot + way * outward
        return table({**TRIO, 'blue_cube': (spot.real, spot.imag)})

    assert_fails(TRIANGLE, with_other(inside), 'blue_cube')
    assert_passes(TRIANGLE, with_other(0.0805))
