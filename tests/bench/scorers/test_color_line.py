"""Cubes in a line by colour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import LINE, RAINBOW, Spot, assert_fails, assert_passes, moved, table

from bbllm.bench.suites.situation import Situation


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
    'its middle is midway between its ends': table(uneven(0.14, 0.10, 0.06, 0.02, -0.08)),
    'as loose as allowed': table(line(pitch=0.10)),
    'closed up where one dropped out': table(
        {**line(('red', 'orange', 'green', 'blue'), y=0.035), 'yellow_cube': (1.0, 0.1)},
        beyond=['yellow_cube'],
    ),
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
        table(uneven(0.24, 0.14, 0.05, 0.01, -0.03)),
        'the middle of the line is 10.5 cm',
    ),
    'a hole where one dropped out': (
        table({**DONE, 'yellow_cube': (1.0, 0.1)}, beyond=['yellow_cube']),
        'a hole of 14.0 cm between orange_cube and green_cube; 10.0 cm are allowed.',
    ),
    'a hole in a tight line': (
        table(uneven(0.14, 0.10, 0.06, -0.05, -0.09)),
        'a hole of 11.0 cm between yellow_cube and green_cube',
    ),
    'a cylinder in the hole': (
        table({**uneven(0.14, 0.10, 0.06, -0.05, -0.09), 'grey_cylinder': (0.5, 0.005)}),
        'a hole of 11.0 cm between yellow_cube and green_cube',
    ),
    'an end too far from the others': (
        table(uneven(0.16, 0.04, 0.0, -0.04, -0.08)),
        'a hole of 12.0 cm between red_cube and orange_cube',
    ),
    'two of one colour with a hole between them': (
        table({**PAIR, 'red_cube': (0.5, 0.14)}),
        'a hole of 11.0 cm between red_cube and red_cube_2',
    ),
    'none in line with another': (
        table(
            {
                name: (0.3 + 0.1 * i, spot[1])
                for i, (name, spot) in enumerate(line(pitch=0.06).items())
            }
        ),
        'off the line',
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

    def with_gap(gap: float) -> Situation:
        """Lay a line of 5 cm from cube to cube, but for one gap; its middle is the centre."""
        gaps = [gap if i == index else 0.05 for i in range(len(colors) - 1)]
        ys = [sum(gaps) / 2 - sum(gaps[:i]) for i in range(len(colors))]
        return table({f'{color}_cube': (0.5, y) for color, y in zip(colors, ys)})

    assert_passes(LINE, with_gap(kept))
    assert_fails(LINE, with_gap(near))
    assert_fails(LINE, with_gap(far), 'has a hole')


@given(colors=colors, way=st.floats(0.101, 0.14), inside=st.floats(0, 0.099), up=st.booleans())
def test_a_line_moved_off_the_centre_flips_the_verdict(
    colors: tuple[str, ...], way: float, inside: float, up: bool
) -> None:
    def at(off: float) -> Situation:
        return table(line(colors, 0.05, x=0.5 + off if up else 0.5, y=0 if up else off))

    assert_passes(LINE, at(inside))
    assert_fails(LINE, at(way), 'from the centre')
