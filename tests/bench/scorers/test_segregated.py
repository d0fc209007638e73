"""Shapes apart: cubes in one half, cylinders in the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import SEGREGATED, Spot, assert_fails, assert_passes, moved, relaid, table

from bbllm.bench.suites.situation import Situation

DONE: dict[str, Spot] = {
    'red_cube': (0.4, 0.2),
    'blue_cube': (0.5, 0.1),
    'green_cube': (0.6, 0.3),
    'grey_cylinder': (0.4, -0.2),
    'white_cylinder': (0.5, -0.1),
}
FAR: dict[str, Spot] = {**DONE, 'aqua_cube': (1.0, -0.3), 'black_cylinder': (1.0, 0.3)}
MIRRORED = relaid(DONE, lambda x, y: (x, -y))

PASSING = {
    'cubes left, cylinders right': table(DONE),
    'cubes right, cylinders left': table(MIRRORED),
    'just past the margin': table({**DONE, 'blue_cube': (0.5, 0.021)}),
    'both exactly at the margin': table(
        {**DONE, 'blue_cube': (0.5, 0.02), 'white_cylinder': (0.5, -0.02)}
    ),
    'one of each': table({'red_cube': (0.4, 0.2), 'grey_cylinder': (0.4, -0.2)}),
    'those out of reach in the wrong half': table(FAR, beyond=['aqua_cube', 'black_cylinder']),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'a cube among the cylinders': (table(moved(DONE, 'red_cube', 0, -0.5)), 'red_cube'),
    'a cylinder among the cubes': (table(moved(DONE, 'grey_cylinder', 0, 0.5)), 'grey_cyl'),
    'one of each in the wrong half': (
        table(moved(moved(DONE, 'grey_cylinder', 0, 0.5), 'red_cube', 0, -0.5)),
        'belong on the',
    ),
    'all on one side': (table(relaid(DONE, lambda x, y: (x, abs(y)))), 'cylinder'),
    'all on one side, apart along y': (
        table(relaid(DONE, lambda x, y: (x, y + 0.25))),
        'cylinder',
    ),
    'apart along x only': (
        table({'red_cube': (0.3, 0.1), 'blue_cube': (0.3, -0.1), 'grey_cylinder': (0.6, 0.1)}),
        'middle line',
    ),
    'a cube on the middle line': (table({**DONE, 'blue_cube': (0.5, 0.0)}), 'blue_cube'),
    'a cube within the margin': (table({**DONE, 'blue_cube': (0.5, 0.018)}), 'only 1.8 cm'),
    'a cube on a cube': (table({**DONE, 'blue_cube': (0.4, 0.2, 0.06)}), 'above the table'),
    'a cylinder in the air': (
        table({**DONE, 'grey_cylinder': (0.4, -0.2, 0.2)}),
        'grey_cylinder is 18.0 cm above',
    ),
    'one in the wrong half that is within reach': (
        table(FAR, beyond=['black_cylinder']),
        'aqua_cube',
    ),
    'no cylinder': (table({'red_cube': (0.4, 0.2)}), 'no cylinder is within reach'),
    'no cylinder within reach': (
        table(DONE, beyond=['grey_cylinder', 'white_cylinder']),
        'no cylinder is within reach',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_shapes_that_are_apart_pass(situation: Situation) -> None:
    assert_passes(SEGREGATED, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_shapes_that_are_not_apart_fail(situation: Situation, about: str) -> None:
    assert_fails(SEGREGATED, situation, about)


@given(
    which=st.sampled_from(sorted(DONE)),
    mirrored=st.booleans(),
    near=st.floats(0.021, 0.5),
    over=st.floats(-0.5, 0.019),
)
def test_a_nudge_over_the_margin_flips_the_verdict(
    which: str, mirrored: bool, near: float, over: float
) -> None:
    layout = MIRRORED if mirrored else DONE
    sign = 1 if layout[which][1] > 0 else -1

    assert_passes(SEGREGATED, table({**layout, which: (0.7, sign * near)}))
    assert_fails(SEGREGATED, table({**layout, which: (0.7, sign * over)}))
