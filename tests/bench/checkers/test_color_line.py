"""Cubes in a line by colour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import LINE, RAINBOW, Spot, assert_fails, assert_passes, moved, table

from bbllm.bench.checkers.situation import Situation


def line(
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
    return {name: (0.5, y) for name, y in zip(DONE, ys)}


DONE = line()
CYLINDER: dict[str, Spot] = {'grey_cylinder': (0.4, 0.2)}
WITH_FAR: dict[str, Spot] = {**DONE, 'violet_cube': (1.0, 0.1)}
PAIR: dict[str, Spot] = {
    'red_cube': (0.5, 0.1),
    'red_cube_2': (0.5, 0.03),
    'blue_cube': (0.5, -0.04),
}

PASSING = {
    'exact': table(DONE),
    'all seven colours': table(line(RAINBOW, 0.06)),
    'two cubes': table(line(('green', 'violet'))),
    'cubes that touch': table(line(pitch=0.04)),
    'uneven gaps': table(moved(moved(DONE, 'orange_cube', 0, 0.02), 'green_cube', 0, -0.02)),
    'a cube a little further away': table(moved(DONE, 'green_cube', 0.015, 0)),
    'some millimetres off each': table(
        moved(
            moved(moved(DONE, 'red_cube', 0.01, 0), 'blue_cube', -0.01, 0), 'green_cube', 0.01, 0
        )
    ),
    'off the centre a little': table(line(x=0.55, y=0.05)),
    'its middle is midway between its ends': table(uneven(0.26, 0.21, 0.16, 0.11, -0.10)),
    'one out of reach elsewhere': table(WITH_FAR, beyond=['violet_cube']),
    'cylinders about': table({**DONE, **CYLINDER}),
    'a white cube elsewhere': table({**DONE, 'white_cube': (0.6, 0.3)}),
    'a white cube beyond an end': table({**DONE, 'white_cube': (0.5, 0.22)}),
    'two cubes of one colour': table(PAIR),
    'two cubes of one colour the other way': table(
        {**PAIR, 'red_cube': (0.5, 0.03), 'red_cube_2': (0.5, 0.1)}
    ),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'mirrored': (table(line(('blue', 'green', 'yellow', 'orange', 'red'))), 'right of'),
    'two exchanged': (
        table(line(('red', 'yellow', 'orange', 'green', 'blue'))),
        'orange_cube is 7.0 cm right of yellow_cube',
    ),
    'the ends exchanged': (table(line(('blue', 'orange', 'yellow', 'green', 'red'))), 'right'),
    'a line away from the robot': (
        table({name: (0.36 + 0.07 * i, 0.0) for i, name in enumerate(DONE)}),
        'off the line',
    ),
    'aslant': (
        table({name: (0.42 + 0.04 * i, spot[1]) for i, (name, spot) in enumerate(DONE.items())}),
        'off the line',
    ),
    'one cube out of the line': (table(moved(DONE, 'green_cube', 0.03, 0)), 'green_cube is 3.0'),
    'one cube missing from the line': (table({**DONE, 'violet_cube': (0.7, 0.1)}), 'violet_cube'),
    'too near to each other': (
        table(moved(DONE, 'orange_cube', 0.01, -0.035)),
        'orange_cube is 3.5 cm left of yellow_cube',
    ),
    'too far from the centre': (table(line(x=0.62)), 'the middle of the line is 12.0 cm'),
    'too far to the left': (table(line(y=0.11)), 'the middle of the line is 11.0 cm'),
    'the middle between its ends too far off': (
        table(uneven(0.31, 0.05, 0.005, -0.04, -0.085)),
        'the middle of the line is 11.2 cm',
    ),
    'one on another': (
        table({**DONE, 'orange_cube': (*DONE['yellow_cube'][:2], 0.06)}),
        'orange_cube is 4.0 cm above',
    ),
    'one in the hand': (table(moved(DONE, 'red_cube', 0, 0, 0.2)), 'red_cube is 20.0 cm above'),
    'one pushed along that was out of reach': (
        table({**WITH_FAR, 'violet_cube': (0.5, 0.035)}, beyond=['violet_cube']),
        'violet_cube is in the line',
    ),
    'a white cube within': (
        table({**line(pitch=0.1), 'white_cube': (0.5, 0.05)}),
        'white_cube is in the line',
    ),
    'a single cube': (table({'red_cube': (0.5, 0.0)}), 'a line needs 2 cubes'),
    'one colour between two of another': (
        table({**PAIR, 'red_cube_2': (0.5, -0.04), 'blue_cube': (0.5, 0.03)}),
        'red_cube_2 is 7.0 cm right of blue_cube',
    ),
    'two of one colour on the same spot of the line': (
        table({**PAIR, 'red_cube_2': (0.515, 0.08), 'red_cube': (0.485, 0.1)}),
        'red_cube_2 and red_cube are only 2.0 cm apart',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_a_line_by_colour_passes(situation: Situation) -> None:
    assert_passes(LINE, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_no_line_by_colour_fails(situation: Situation, about: str) -> None:
    assert_fails(LINE, situation, about)


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
    done = line(colors, pitch, 0.5 + centre[0], centre[1])
    name = f'{colors[which % len(colors)]}_cube'
    # The mean follows a cube by 1/n of its way.
    limit = sign * LINE.straight_m / (1 - 1 / len(colors))

    assert_passes(LINE, table(done))
    assert_passes(LINE, table(moved(done, name, share * limit, 0)))
    assert_fails(LINE, table(moved(done, name, over * limit, 0)))


@given(
    colors=colors, which=st.integers(0, 6), gap=st.floats(-0.1, 0.039), kept=st.floats(0.041, 0.07)
)
def test_a_nudge_along_the_line_flips_the_verdict(
    colors: tuple[str, ...], which: int, gap: float, kept: float
) -> None:
    done = line(colors, 0.07)
    index = which % (len(colors) - 1)
    left, right = f'{colors[index]}_cube', f'{colors[index + 1]}_cube'

    assert_passes(LINE, table({**done, left: (0.5, done[right][1] + kept)}))
    assert_fails(LINE, table({**done, left: (0.5, done[right][1] + gap)}))


@given(colors=colors, way=st.floats(0.101, 0.14), inside=st.floats(0, 0.099), up=st.booleans())
def test_a_line_moved_off_the_centre_flips_the_verdict(
    colors: tuple[str, ...], way: float, inside: float, up: bool
) -> None:
    def at(off: float) -> Situation:
        return table(line(colors, 0.05, x=0.5 + off if up else 0.5, y=0 if up else off))

    assert_passes(LINE, at(inside))
    assert_fails(LINE, at(way), 'from the centre')
