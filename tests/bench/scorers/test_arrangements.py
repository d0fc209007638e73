"""Goals of sides, lines and shapes: tables that reach them, and tables that only nearly do."""

import cmath
import math
from typing import Any

import pytest

from bbllm_bench.suites.goals import Goal
from bbllm_bench.suites.scores import FinalState
from tests.bench.scorers.layouts import (
    CUBES_RIGHT,
    LETTER,
    LINE,
    PAIRS,
    PLUS,
    RAINBOW,
    SEGREGATED,
    TRIANGLE,
    Spot,
    assert_fails,
    assert_judged,
    assert_passes,
    judged,
    leaning,
    moved,
    pattern,
    relaid,
    table,
)

Failing = dict[str, tuple[FinalState, str]]

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
    'a cube on another': table({**RIGHT_DONE, 'blue_cube': (0.4, -0.2, 0.06)}),
    'a cylinder moved by millimetres': table(
        moved(RIGHT_DONE, 'grey_cylinder', 0.005, 0.005), start=RIGHT_DONE
    ),
    'a cylinder a little askew': leaning(table(RIGHT_DONE), 'grey_cylinder', 17),
    'a cylinder upside down': leaning(table(RIGHT_DONE), 'grey_cylinder', 180),
}

RIGHT_FAILING: Failing = {
    'a cube on another, on the left': (
        table({**RIGHT_DONE, 'red_cube': (0.4, 0.1), 'blue_cube': (0.4, 0.1, 0.06)}),
        'red_cube is 10.0 cm on the other side of the middle line',
    ),
    'a cube on a cylinder': (
        table({**RIGHT_DONE, 'blue_cube': (0.5, -0.4, 0.06)}),
        'blue_cube is on cylinders.',
    ),
    'a cube in the air': (table({**RIGHT_DONE, 'blue_cube': (0.4, -0.1, 0.3)}), '28.0 cm above'),
    'one within the margin': (
        table(moved(RIGHT_DONE, 'blue_cube', 0, 0.085)),
        'only 1.5 cm beyond the middle line',
    ),
    'a cylinder moved': (
        table(moved(RIGHT_DONE, 'grey_cylinder', 0.01, 0.01), start=RIGHT_DONE),
        'grey_cylinder is somewhere else than before',
    ),
    'a cylinder that leans': (leaning(table(RIGHT_DONE), 'grey_cylinder', 19), 'grey_cylinder'),
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
        "no object named 'cubes'",
    ),
}


def test_neighbours_along_a_bar_of_a_letter_are_equally_far_apart() -> None:
    def letter(upright: tuple[float, float], foot: float) -> FinalState:
        x, y = 0.4, -0.05
        away = (x, x + upright[0], x + sum(upright))
        cubes = {'red_cube': (away[0], y), 'blue_cube': (away[1], y), 'green_cube': (away[2], y)}
        return table({**cubes, 'yellow_cube': (x, y - foot)})

    assert_passes(LETTER, letter((0.08, 0.08), 0.045))  # each bar by itself
    assert_fails(LETTER, letter((0.05, 0.09), 0.07), '3 of 4 places of the best L are filled')


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
    'one on another, and one that lies on its side': leaning(
        table({**APART_DONE, 'red_cube': (0.5, 0.1, 0.06)}), 'white_cylinder', 90
    ),
    'a cylinder on a cylinder': table({**APART_DONE, 'white_cylinder': (0.4, -0.2, 0.06)}),
    'those out of reach in the wrong half': table(
        APART_FAR, beyond=['aqua_cube', 'black_cylinder']
    ),
}

APART_FAILING: Failing = {
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
        "no object named 'cylinders'",
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
}

PAIR_FAILING: Failing = {
    'two cubes on one side': (
        table({**PAIR_DONE, 'blue_cube': (0.55, 0.2)}),
        'blue_cube is 20.0 cm on the other side',
    ),
    'one on the middle line': (
        table({**PAIR_DONE, 'red_cube': (0.5, 0.0)}),
        'red_cube is only 0.0 cm beyond the middle line',
    ),
    'a side without a cylinder': (
        table({name: spot for name, spot in PAIR_DONE.items() if name != 'white_cylinder'}),
        'grey_cylinder is 30.0 cm on the other side',
    ),
}


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

LINE_FAILING: Failing = {
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
    'a fourth reddish one on the right': table({**TRI_DONE, 'crimson_cube': (0.4, -0.5)}),
    'a fourth one out of reach on the right': table(TRI_FAR, beyond=['crimson_cube']),
    'another cube just apart enough': table({**TRI_DONE, 'green_cube': (0.399, -0.2)}),
}

TRI_FAILING: Failing = {
    'one within the margin': (table(moved(TRI_DONE, 'pink_cube', 0, 0.125)), 'only 2 cubes'),
    'in a line': (
        table(tri_corners((0.4, -0.2), (0.5, -0.2), (0.6, -0.2))),
        'smallest angle is 0',
    ),
    'too small': (table(tri_corners((0.5, -0.2), (0.5, -0.25), (0.543, -0.225))), 'are 5.0 cm'),
    'a fourth reddish one near it': (
        table({**TRI_DONE, 'crimson_cube': (0.52, -0.2)}),
        'cm from the triangle; 8.0 cm are to stay free',
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
    'a pitch of its own for each bar': table(pattern((0, 1, 2, -1.5j))),
    'the same with the widest and the narrowest pitch': table(
        pattern((0, 1, 2, 3, -2.4j, -4.8j), 0.041)
    ),
    'another cube more than a pitch away': table(l_with_cube(pattern(FIVE), 0.0, 0.075)),
    'cylinders beside it': table({**pattern(FIVE), 'grey_cylinder': (0.56, -0.16)}),
    'one out of reach elsewhere': table(
        {**pattern(FIVE), 'aqua_cube': (1.0, 0.1)}, beyond=['aqua_cube']
    ),
}

L_FAILING: Failing = {
    'mirrored': (table(pattern((0, 1, 2, 1j, 2j))), ''),
    'turned by a right angle': (
        table(pattern((0, -1j, -2j, -3j, -1))),
        '',
    ),
    'upside down': (table(pattern((0, -1, -2, 1j))), ''),
    'lying: one up and two to the right': (
        table(pattern((0, 1, -1j, -2j))),
        '',
    ),
    'two pitches, one of them too wide': (
        table({**pattern((0, 1, 2)), 'green_cube': (0.5, -0.204)}),
        'its pitch is 10.4 cm',
    ),
    'a T on its head': (table(pattern((0, 1, 2, 1j, -1j))), 'stay free'),
    'a U': (table(pattern((0, 1, 2, -1j, -2j, 1 - 2j, 2 - 2j))), 'stay free'),
    'turned too far': (table(pattern(FIVE, turn_deg=13)), 'turned by 13 degrees'),
    'too wide': (table(pattern(FIVE, 0.105)), 'its pitch is 10.5 cm'),
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


def test_the_goal_defines_how_many_cubes_each_bar_needs() -> None:
    lying = table(pattern((0, 1, -1j, -2j)))
    long = LETTER.model_copy(update={'least_up': 3, 'least_cubes': 5})
    short = LETTER.model_copy(update={'least_up': 1})
    wide = LETTER.model_copy(update={'least_right': 2, 'least_cubes': 5})

    assert_fails(long, table(pattern(FIVE)))
    assert_passes(long, table(pattern((0, 1, 2, 3, -1j))))
    assert_passes(short, lying)
    assert_fails(wide, table(pattern((0, 1, 2, 3, -1j))))
    assert_passes(wide, table(pattern(FIVE)))


def test_places_are_counted_as_they_fill_and_all_but_one_make_a_shape() -> None:
    def held(count: int) -> list[bool]:
        five = LETTER.model_copy(update={'least_cubes': 5})
        return [one.holds for one in judged(five, table(pattern(FIVE[:count]))).conditions]

    assert held(0) == [False] * 8 + [True]
    assert held(3) == [True] * 3 + [False] * 5 + [True]
    assert held(4) == [True] * 4 + [False] + [True] * 4
    assert held(5) == [True] * 9


# --- Five cubes as a plus sign.

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

PLUS_FAILING: Failing = {
    'five cubes, one of them out of reach': (
        table(PLUS_DONE, beyond=['blue_cube']),
        '4 of 5 places',
    ),
    'an X': (table(pattern((0, 1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j))), 'turned'),
    'a ring without a middle': (table(pattern((1, -1, 1j, -1j, 3j))), ''),
    'arms too far out': (table(pattern(CROSS, 0.103)), '10.3 cm'),
    'unlike arms': (table(pattern((0, 1, -1, 1.7j, -1.7j))), ''),
    'an arm 2 cm aside': (
        table(moved(PLUS_DONE, 'orange_cube', 0, 0.02)),
        'orange_cube is 1.5 cm beside the line through the middle; 1.2 cm are allowed.',
    ),
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


def cases_of(kind: str, goal: Goal, passing: dict[str, FinalState], failing: Failing) -> list[Any]:
    """Return a case for each table; one that fails has what the reason must speak of."""
    cases = {**{name: (state, None) for name, state in passing.items()}, **failing}
    return [pytest.param(goal, *case, id=f'{kind}: {name}') for name, case in cases.items()]


CASES = [
    *cases_of('right', CUBES_RIGHT, RIGHT_PASSING, RIGHT_FAILING),
    *cases_of('apart', SEGREGATED, APART_PASSING, APART_FAILING),
    *cases_of('pair', PAIRS, PAIR_PASSING, PAIR_FAILING),
    *cases_of('line', LINE, LINE_PASSING, LINE_FAILING),
    *cases_of('tri', TRIANGLE, TRI_PASSING, TRI_FAILING),
    *cases_of('l', LETTER, L_PASSING, L_FAILING),
    *cases_of('plus', PLUS, PLUS_PASSING, PLUS_FAILING),
]


@pytest.mark.parametrize(('goal', 'state', 'about'), CASES)
def test_what_reaches_the_goal_passes_and_what_only_nearly_does_fails(
    goal: Goal, state: FinalState, about: str | None
) -> None:
    assert_judged(goal, state, about)
