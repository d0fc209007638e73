"""Goals of sides, lines and triangles: tables that reach them, and tables that only nearly do."""

import cmath
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import (
    CUBES_RIGHT,
    LINE,
    PAIRS,
    RAINBOW,
    SEGREGATED,
    TRIANGLE,
    Spot,
    assert_fails,
    assert_judged,
    assert_passes,
    leaning,
    moved,
    relaid,
    table,
)

from bbllm.bench.suites.goals import Goal
from bbllm.bench.suites.scores import FinalState

# --- Cubes to the right only: tables where they are, and tables where they only nearly are.

RIGHT_DONE: dict[str, Spot] = {
    'red_cube': (0.4, -0.2),
    'blue_cube': (0.5, -0.1),
    'green_cube': (0.6, -0.3),
    'grey_cylinder': (0.4, 0.2),
    'white_cylinder': (0.5, -0.4),
}

RIGHT_FAR: dict[str, Spot] = {**RIGHT_DONE, 'aqua_cube': (1.0, 0.3)}

RIGHT_PASSING = {
    'a cube exactly at the margin': table({**RIGHT_DONE, 'blue_cube': (0.5, -0.02)}),
    'one out of reach stays on the left': table(RIGHT_FAR, beyond=['aqua_cube']),
    'a cylinder moved by millimetres': table(
        moved(RIGHT_DONE, 'grey_cylinder', 0.005, 0.005), start=RIGHT_DONE
    ),
    'a cylinder a little askew': leaning(table(RIGHT_DONE), 'grey_cylinder', 17),
    'a cylinder upside down': leaning(table(RIGHT_DONE), 'grey_cylinder', 180),
}

RIGHT_FAILING: dict[str, tuple[FinalState, str]] = {
    'one within the margin': (
        table(moved(RIGHT_DONE, 'blue_cube', 0, 0.085)),
        'only 1.5 cm right',
    ),
    'a cylinder moved': (
        table(moved(RIGHT_DONE, 'grey_cylinder', 0.01, 0.01), start=RIGHT_DONE),
        'grey_cylinder has moved by 1.4 cm',
    ),
    'a cylinder that leans': (leaning(table(RIGHT_DONE), 'grey_cylinder', 19), 'by 19 degrees'),
    'cylinders that changed places': (
        table(
            {**RIGHT_DONE, 'grey_cylinder': (0.5, -0.4), 'white_cylinder': (0.4, 0.2)},
            start=RIGHT_DONE,
        ),
        'grey_cylinder',
    ),
    'one within reach on the left, one out of reach on the right': (
        table(RIGHT_FAR, beyond=['red_cube']),
        'aqua_cube',
    ),
    'no cube within reach': (
        table(RIGHT_DONE, beyond=['red_cube', 'blue_cube', 'green_cube']),
        'no cube is within reach',
    ),
}


def test_a_cube_where_it_was_may_be_on_another_face_but_on_no_edge() -> None:
    goal = CUBES_RIGHT.model_copy(update={'things': 'cylinder', 'side': 'left'})
    done = table({**RIGHT_DONE, 'white_cylinder': (0.5, 0.4)})

    assert_passes(goal, leaning(done, 'red_cube', 90))
    assert_fails(goal, leaning(done, 'red_cube', 45, 0.008), 'red_cube is tipped onto an edge')


def test_a_thing_that_is_gone_fails() -> None:
    gone = FinalState(objects=table(RIGHT_DONE).objects, start=table(RIGHT_FAR).objects)

    assert_fails(CUBES_RIGHT, gone, 'aqua_cube is gone')


right_nudges = st.floats(-0.1, 0.1)


@given(
    ys=st.lists(st.floats(-0.35, -0.03), min_size=3, max_size=3),  # off the white cylinder
    which=st.sampled_from(['red_cube', 'blue_cube', 'green_cube']),
    to=st.floats(-0.019, 0.5),
    x=right_nudges,
)
def test_a_nudge_over_the_margin_flips_the_verdict(
    ys: list[float], which: str, to: float, x: float
) -> None:
    names = ['red_cube', 'blue_cube', 'green_cube']
    done = {**RIGHT_DONE, **{name: (RIGHT_DONE[name][0], y) for name, y in zip(names, ys)}}
    inside = {**done, which: (RIGHT_DONE[which][0] + x, -0.021 - abs(to) / 2)}

    assert_passes(CUBES_RIGHT, table(done))
    assert_passes(CUBES_RIGHT, table(inside))
    assert_fails(CUBES_RIGHT, table({**done, which: (RIGHT_DONE[which][0] + x, to)}), which)


# --- Shapes apart: cubes in one half, cylinders in the other.

APART_DONE: dict[str, Spot] = {
    'red_cube': (0.4, 0.2),
    'blue_cube': (0.5, 0.1),
    'green_cube': (0.6, 0.3),
    'grey_cylinder': (0.4, -0.2),
    'white_cylinder': (0.5, -0.1),
}

APART_FAR: dict[str, Spot] = {**APART_DONE, 'aqua_cube': (1.0, -0.3), 'black_cylinder': (1.0, 0.3)}
APART_MIRRORED = relaid(APART_DONE, lambda x, y: (x, -y))

APART_PASSING = {
    'cubes right, cylinders left': table(APART_MIRRORED),
    'both exactly at the margin': table(
        {**APART_DONE, 'blue_cube': (0.5, 0.02), 'white_cylinder': (0.5, -0.02)}
    ),
    'one of each': table({'red_cube': (0.4, 0.2), 'grey_cylinder': (0.4, -0.2)}),
    'those out of reach in the wrong half': table(
        APART_FAR, beyond=['aqua_cube', 'black_cylinder']
    ),
}

APART_FAILING: dict[str, tuple[FinalState, str]] = {
    'a cube among the cylinders': (table(moved(APART_DONE, 'red_cube', 0, -0.5)), 'red_cube'),
    'all on one side': (table(relaid(APART_DONE, lambda x, y: (x, abs(y)))), 'cylinder'),
    'apart along x only': (
        table({'red_cube': (0.3, 0.1), 'blue_cube': (0.3, -0.1), 'grey_cylinder': (0.6, 0.1)}),
        'middle line',
    ),
    'one in the wrong half that is within reach': (
        table(APART_FAR, beyond=['black_cylinder']),
        'aqua_cube',
    ),
    'no cylinder within reach': (
        table(APART_DONE, beyond=['grey_cylinder', 'white_cylinder']),
        'no cylinder is within reach',
    ),
}


# --- One cube and one cylinder a side, each on a location of its own.

LOCATIONS: dict[str, Spot] = {
    'location_A': (0.4, 0.1),
    'location_B': (0.4, 0.3),
    'location_C': (0.55, 0.2),
    'location_D': (0.4, -0.1),
    'location_E': (0.4, -0.3),
    'location_F': (0.5, 0.0),
    'location_G': (1.0, 0.2),
}

PAIR_DONE: dict[str, Spot] = {
    **LOCATIONS,
    'red_cube': (0.4, 0.1),
    'grey_cylinder': (0.4, 0.3),
    'blue_cube': (0.4, -0.1),
    'white_cylinder': (0.4, -0.3),
}

PAIR_FAR: dict[str, Spot] = {**PAIR_DONE, 'aqua_cube': (1.0, 0.4), 'black_cylinder': (1.0, -0.3)}

PAIR_PASSING = {
    'another location': table({**PAIR_DONE, 'red_cube': (0.55, 0.2)}),
    'exactly as far off as allowed': table(moved(PAIR_DONE, 'red_cube', 0.02, 0)),
    'others out of reach on both sides': table(PAIR_FAR, beyond=['aqua_cube', 'black_cylinder']),
    'a third cube in the middle, on its own location': table(
        {**PAIR_DONE, 'green_cube': (0.5, 0.0)}
    ),
}

PAIR_FAILING: dict[str, tuple[FinalState, str]] = {
    'two cubes on one side': (
        table({**PAIR_DONE, 'blue_cube': (0.55, 0.2)}),
        'on the left is 2 cubes (red_cube, blue_cube)',
    ),
    'one on the middle line': (
        table({**PAIR_DONE, 'red_cube': (0.5, 0.0)}),
        'on the left is no cube',
    ),
    'a side without a cylinder': (
        table({name: spot for name, spot in PAIR_DONE.items() if name != 'white_cylinder'}),
        'on the right is no cylinder',
    ),
}


def test_one_location_cannot_be_given_to_two_things() -> None:
    wide = PAIRS.model_copy(update={'location_m': 0.03})
    spots = {**PAIR_DONE, 'location_A': (0.4, 0.2), 'location_B': (0.6, 0.4)}
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

    assert_passes(PAIRS, table(moved(PAIR_DONE, which, near.real, near.imag)))
    assert_fails(
        PAIRS, table(moved(PAIR_DONE, which, off.real, off.imag)), f'{which} stands on no location'
    )


# --- Cubes in a line by colour.


def line_line(
    colors: tuple[str, ...] = ('red', 'orange', 'yellow', 'green', 'blue'),
    pitch: float = 0.07,
    x: float = 0.5,
    y: float = 0.0,
) -> dict[str, Spot]:
    """Lay cubes from left to right, their middle at (x, y)."""
    left = y + pitch * (len(colors) - 1) / 2
    return {f'{color}_cube': (x, left - pitch * index) for index, color in enumerate(colors)}


def uneven(*ys: float) -> dict[str, Spot]:
    """Lay cubes in the order of the spectrum, at any distances."""
    return {name: (0.5, y) for name, y in zip(LINE_DONE, ys)}


LINE_DONE = line_line()
LINE_CYLINDER: dict[str, Spot] = {'grey_cylinder': (0.4, 0.2)}
LINE_WITH_FAR: dict[str, Spot] = {**LINE_DONE, 'violet_cube': (1.0, 0.1)}

PAIR: dict[str, Spot] = {
    'red_cube': (0.5, 0.1),
    'red_cube_2': (0.5, 0.03),
    'blue_cube': (0.5, -0.04),
}

LINE_PASSING = {
    'all seven colours': table(line_line(RAINBOW, 0.06)),
    'its middle is midway between its ends': table(uneven(0.14, 0.10, 0.06, 0.02, -0.08)),
    'closed up where one dropped out': table(
        {**line_line(('red', 'orange', 'green', 'blue'), y=0.035), 'yellow_cube': (1.0, 0.1)},
        beyond=['yellow_cube'],
    ),
    'one out of reach elsewhere': table(LINE_WITH_FAR, beyond=['violet_cube']),
    'cylinders about': table({**LINE_DONE, **LINE_CYLINDER}),
    'a white cube beyond an end': table({**LINE_DONE, 'white_cube': (0.5, 0.22)}),
    'two cubes of one colour': table(PAIR),
    'two cubes of one colour the other way': table(
        {**PAIR, 'red_cube': (0.5, 0.03), 'red_cube_2': (0.5, 0.1)}
    ),
}

LINE_FAILING: dict[str, tuple[FinalState, str]] = {
    'two exchanged': (
        table(line_line(('red', 'yellow', 'orange', 'green', 'blue'))),
        'orange_cube is 7.0 cm right of yellow_cube',
    ),
    'a line away from the robot': (
        table({name: (0.36 + 0.07 * i, 0.0) for i, name in enumerate(LINE_DONE)}),
        'off the line',
    ),
    'the middle between its ends too far off': (
        table(uneven(0.24, 0.14, 0.05, 0.01, -0.03)),
        'the middle of the line is 10.5 cm',
    ),
    'a hole where one dropped out': (
        table({**LINE_DONE, 'yellow_cube': (1.0, 0.1)}, beyond=['yellow_cube']),
        'a hole of 14.0 cm between orange_cube and green_cube; 10.0 cm are allowed.',
    ),
    'a cylinder in the hole': (
        table({**uneven(0.14, 0.10, 0.06, -0.05, -0.09), 'grey_cylinder': (0.5, 0.005)}),
        'a hole of 11.0 cm between yellow_cube and green_cube',
    ),
    'one pushed along that was out of reach': (
        table({**LINE_WITH_FAR, 'violet_cube': (0.5, 0.035)}, beyond=['violet_cube']),
        'violet_cube is in the line',
    ),
    'a white cube within': (
        table({**line_line(pitch=0.1), 'white_cube': (0.5, 0.05)}),
        'white_cube is in the line',
    ),
    'a single cube': (table({'red_cube': (0.5, 0.0)}), 'a line needs 2 cubes'),
    'two of one colour on the same spot of the line': (
        table({**PAIR, 'red_cube_2': (0.515, 0.08), 'red_cube': (0.485, 0.1)}),
        'red_cube_2 and red_cube are only 2.0 cm apart',
    ),
}

colors = st.lists(st.sampled_from(RAINBOW), min_size=4, max_size=7, unique=True).map(
    lambda some: tuple(sorted(some, key=RAINBOW.index))
)


@given(
    colors=colors,
    pitch=st.floats(0.05, 0.08),
    centre=st.tuples(st.floats(-0.06, 0.06), st.floats(-0.06, 0.06)),
    which=st.integers(0, 6),
    sign=st.sampled_from([-1, 1]),
    share=st.floats(0, 0.95),
    over=st.floats(1.05, 5),
)
def test_a_nudge_out_of_the_line_flips_the_verdict(
    colors: tuple[str, ...],
    pitch: float,
    centre: tuple[float, float],
    which: int,
    sign: int,
    share: float,
    over: float,
) -> None:
    done = line_line(colors, pitch, 0.5 + centre[0], centre[1])
    name = f'{colors[which % len(colors)]}_cube'
    # The mean follows a cube by 1/n of its way.
    limit = sign * LINE.straight_m / (1 - 1 / len(colors))

    assert_passes(LINE, table(done))
    assert_passes(LINE, table(moved(done, name, share * limit, 0)))
    assert_fails(LINE, table(moved(done, name, over * limit, 0)))


@given(
    colors=colors,
    which=st.integers(0, 6),
    near=st.floats(-0.1, 0.039),
    kept=st.floats(0.041, 0.099),
    far=st.floats(0.101, 0.2),
)
def test_a_nudge_along_the_line_flips_the_verdict(
    colors: tuple[str, ...], which: int, near: float, kept: float, far: float
) -> None:
    index = which % (len(colors) - 1)

    def with_gap(gap: float) -> FinalState:
        """Lay a line of 5 cm from cube to cube, but for one gap; its middle is the centre."""
        gaps = [gap if i == index else 0.05 for i in range(len(colors) - 1)]
        ys = [sum(gaps) / 2 - sum(gaps[:i]) for i in range(len(colors))]
        return table({f'{color}_cube': (0.5, y) for color, y in zip(colors, ys)})

    assert_passes(LINE, with_gap(kept))
    assert_fails(LINE, with_gap(near))
    assert_fails(LINE, with_gap(far), 'has a hole')


# --- Three reddish cubes as a triangle on the right.

TRIO: dict[str, Spot] = {
    'red_cube': (0.56, -0.20),
    'pink_cube': (0.48, -0.14),
    'salmon_cube': (0.48, -0.26),
}

TRI_DONE: dict[str, Spot] = {**TRIO, 'blue_cube': (0.4, 0.2), 'grey_cylinder': (0.5, -0.2)}
TRI_FAR: dict[str, Spot] = {**TRI_DONE, 'crimson_cube': (1.0, -0.2)}


def tri_corners(*points: Spot) -> dict[str, Spot]:
    return dict(zip(TRIO, points))


TRI_PASSING = {
    'as small as allowed': table(tri_corners((0.5, -0.2), (0.5, -0.26), (0.552, -0.23))),
    'a fourth reddish one on the left': table({**TRI_DONE, 'crimson_cube': (0.4, 0.1)}),
    'a fourth one out of reach on the right': table(TRI_FAR, beyond=['crimson_cube']),
    'another cube just apart enough': table({**TRI_DONE, 'green_cube': (0.399, -0.2)}),
}

TRI_FAILING: dict[str, tuple[FinalState, str]] = {
    'one within the margin': (table(moved(TRI_DONE, 'pink_cube', 0, 0.125)), 'only 2 cubes'),
    'in a line': (
        table(tri_corners((0.4, -0.2), (0.5, -0.2), (0.6, -0.2))),
        'smallest angle is 0',
    ),
    'too small': (table(tri_corners((0.5, -0.2), (0.5, -0.25), (0.543, -0.225))), 'are 5.0 cm'),
    'four reddish ones on the right': (
        table({**TRI_DONE, 'crimson_cube': (0.4, -0.5)}),
        '4 cubes of the colours',
    ),
    'another cube in it': (table({**TRI_DONE, 'blue_cube': (0.51, -0.2)}), 'blue_cube is 0.0 cm'),
    'another cube beside a corner': (
        table({**TRI_DONE, 'blue_cube': (0.60, -0.14)}),
        'blue_cube is 7.2 cm',
    ),
    'one out of reach beside it': (
        table({**TRI_DONE, 'crimson_cube': (0.60, -0.14)}, beyond=['crimson_cube']),
        'crimson_cube',
    ),
    'a corner that is out of reach': (table(TRI_DONE, beyond=['red_cube']), 'only 2 cubes'),
}

# Three angles that add up to 180 degrees, none below 27.
angles = st.tuples(st.floats(27, 70), st.floats(27, 70)).map(
    lambda two: (*two, 180.0 - two[0] - two[1])
)


def of_angles(angles: tuple[float, float, float], shortest: float, turn: float) -> list[complex]:
    """Return the corners of a triangle by its angles [deg] and its shortest side [m]."""
    a, b, c = (shortest * math.sin(math.radians(angle)) for angle in angles)
    a, b, c = (side / math.sin(math.radians(min(angles))) for side in (a, b, c))
    return [0j, cmath.rect(c, turn), cmath.rect(b, turn + math.radians(angles[0]))]


def tri_laid(points: list[complex]) -> dict[str, Spot]:
    """Lay the corners on the right, well within it."""
    shift = complex(0.5, -0.04 - max(point.imag for point in points))
    return tri_corners(*(((point + shift).real, (point + shift).imag) for point in points))


@given(angles=angles, shortest=st.floats(0.062, 0.1), turn=st.floats(0, 6.28))
def test_any_triangle_within_the_limits_passes(
    angles: tuple[float, float, float], shortest: float, turn: float
) -> None:
    assert_passes(TRIANGLE, table(tri_laid(of_angles(angles, shortest, turn))))


@given(
    flat=st.floats(1, 24), share=st.floats(0.3, 0.7), turn=st.floats(0, 6.28), size=st.floats(1, 2)
)
def test_a_triangle_with_a_narrow_angle_fails(
    flat: float, share: float, turn: float, size: float
) -> None:
    rest = 180.0 - flat
    points = of_angles((flat, rest * share, rest * (1 - share)), 0.06 * size, turn)

    assert_fails(TRIANGLE, table(tri_laid(points)))


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

    def with_other(way: float) -> FinalState:
        spot = foot + way * outward
        return table({**TRIO, 'blue_cube': (spot.real, spot.imag)})

    assert_fails(TRIANGLE, with_other(inside), 'blue_cube')
    assert_passes(TRIANGLE, with_other(0.0805))


CASES: dict[str, tuple[Goal, FinalState, str | None]] = {
    **{f'right: {name}': (CUBES_RIGHT, state, None) for name, state in RIGHT_PASSING.items()},
    **{f'apart: {name}': (SEGREGATED, state, None) for name, state in APART_PASSING.items()},
    **{f'pair: {name}': (PAIRS, state, None) for name, state in PAIR_PASSING.items()},
    **{f'right: {name}': (CUBES_RIGHT, *case) for name, case in RIGHT_FAILING.items()},
    **{f'apart: {name}': (SEGREGATED, *case) for name, case in APART_FAILING.items()},
    **{f'pair: {name}': (PAIRS, *case) for name, case in PAIR_FAILING.items()},
    **{f'line: {name}': (LINE, state, None) for name, state in LINE_PASSING.items()},
    **{f'tri: {name}': (TRIANGLE, state, None) for name, state in TRI_PASSING.items()},
    **{f'line: {name}': (LINE, *case) for name, case in LINE_FAILING.items()},
    **{f'tri: {name}': (TRIANGLE, *case) for name, case in TRI_FAILING.items()},
}


@pytest.mark.parametrize(('goal', 'state', 'about'), CASES.values(), ids=CASES.keys())
def test_what_reaches_the_goal_passes_and_what_only_nearly_does_fails(
    goal: Goal, state: FinalState, about: str | None
) -> None:
    assert_judged(goal, state, about)
