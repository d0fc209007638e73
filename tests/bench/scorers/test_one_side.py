"""Cubes to the right only: tables where they are, and tables where they only nearly are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import (
    CUBES_RIGHT,
    STANDING,
    Spot,
    assert_fails,
    assert_passes,
    leaning,
    moved,
    relaid,
    table,
)

from bbllm.bench.suites.goals import OneSide
from bbllm.bench.suites.situation import Situation

DONE: dict[str, Spot] = {
    'red_cube': (0.4, -0.2),
    'blue_cube': (0.5, -0.1),
    'green_cube': (0.6, -0.3),
    'grey_cylinder': (0.4, 0.2),
    'white_cylinder': (0.5, -0.4),
}
FAR: dict[str, Spot] = {**DONE, 'aqua_cube': (1.0, 0.3)}

PASSING = {
    'all cubes on the right': table(DONE),
    'a cube just past the margin': table(moved(DONE, 'blue_cube', 0, 0.0799)),
    'a cube exactly at the margin': table({**DONE, 'blue_cube': (0.5, -0.02)}),
    'one out of reach stays on the left': table(FAR, beyond=['aqua_cube']),
    'a cylinder moved by millimetres': table(
        moved(DONE, 'grey_cylinder', 0.005, 0.005), start=DONE
    ),
    'a cube moved about on the right': table(moved(DONE, 'red_cube', 0.05, -0.05), start=DONE),
    'a cylinder a little askew': leaning(table(DONE), 'grey_cylinder', 17),
    'a cylinder upside down': leaning(table(DONE), 'grey_cylinder', 180),
    'a cube not quite level': table(moved(DONE, 'red_cube', 0, 0, 0.004)),
}
FAILING: dict[str, tuple[Situation, str]] = {
    'mirrored: all on the left': (table(relaid(DONE, lambda x, y: (x, -y))), 'red_cube'),
    'one on the left': (table(moved(DONE, 'blue_cube', 0, 0.2)), 'blue_cube is 10.0 cm left'),
    'one within the margin': (table(moved(DONE, 'blue_cube', 0, 0.085)), 'only 1.5 cm right'),
    'one on the middle line': (table(moved(DONE, 'blue_cube', 0, 0.1)), 'blue_cube'),
    'one on another': (table({**DONE, 'blue_cube': (0.4, -0.2, 0.06)}), '4.0 cm above'),
    'one in the air': (table(moved(DONE, 'blue_cube', 0, 0, 0.2)), 'above the table'),
    'one on the floor': (table({**DONE, 'blue_cube': (0.5, -1.2, -0.7)}), 'not over the table'),
    'a cylinder moved': (
        table(moved(DONE, 'grey_cylinder', 0.01, 0.01), start=DONE),
        'grey_cylinder has moved by 1.4 cm',
    ),
    'a cylinder tipped onto its side in place': (
        leaning(table(DONE), 'grey_cylinder', 90),
        'grey_cylinder is where it was, but tipped over by 90 degrees',
    ),
    'a cylinder that leans': (leaning(table(DONE), 'grey_cylinder', 19), 'by 19 degrees'),
    'a cylinder taken along': (
        table(moved(DONE, 'grey_cylinder', 0, -0.5), start=DONE),
        'grey_cylinder',
    ),
    'a cylinder on a cube': (
        table({**DONE, 'grey_cylinder': (0.4, -0.2, 0.06)}, start=DONE),
        'grey_cylinder',
    ),
    'cylinders that changed places': (
        table({**DONE, 'grey_cylinder': (0.5, -0.4), 'white_cylinder': (0.4, 0.2)}, start=DONE),
        'grey_cylinder',
    ),
    'one within reach on the left, one out of reach on the right': (
        table(FAR, beyond=['red_cube']),
        'aqua_cube',
    ),
    'no cube within reach': (
        table(DONE, beyond=['red_cube', 'blue_cube', 'green_cube']),
        'no cube is within reach',
    ),
}


@pytest.mark.parametrize('situation', PASSING.values(), ids=PASSING.keys())
def test_cubes_that_are_on_the_right_pass(situation: Situation) -> None:
    assert_passes(CUBES_RIGHT, situation)


@pytest.mark.parametrize(('situation', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_is_not_cubes_on_the_right_fails(situation: Situation, about: str) -> None:
    assert_fails(CUBES_RIGHT, situation, about)


def test_cylinders_to_the_left_is_the_same_goal_the_other_way() -> None:
    goal = OneSide(
        kind='one_side', things='cylinder', side='left', margin_m=0.02, still_m=0.01, **STANDING
    )

    assert_fails(goal, table(DONE), 'white_cylinder')
    assert_passes(goal, table({**DONE, 'white_cylinder': (0.5, 0.4)}))


def test_a_cube_where_it_was_may_be_on_another_face_but_on_no_edge() -> None:
    goal = CUBES_RIGHT.model_copy(update={'things': 'cylinder', 'side': 'left'})
    done = table({**DONE, 'white_cylinder': (0.5, 0.4)})

    assert_passes(goal, leaning(done, 'red_cube', 90))
    assert_fails(goal, leaning(done, 'red_cube', 45, 0.008), 'red_cube is tipped onto an edge')


def test_the_goal_s_own_lean_counts() -> None:
    strict = CUBES_RIGHT.model_copy(update={'tilt_deg': 5.0})

    assert_passes(CUBES_RIGHT, leaning(table(DONE), 'grey_cylinder', 10))
    assert_fails(strict, leaning(table(DONE), 'grey_cylinder', 10), 'tipped over by 10')


def test_a_thing_that_is_gone_fails() -> None:
    gone = Situation(objects=table(DONE).objects, start=table(FAR).objects)

    assert_fails(CUBES_RIGHT, gone, 'aqua_cube is gone')


nudges = st.floats(-0.1, 0.1)


@given(
    ys=st.lists(st.floats(-0.35, -0.03), min_size=3, max_size=3),  # off the white cylinder
    which=st.sampled_from(['red_cube', 'blue_cube', 'green_cube']),
    to=st.floats(-0.019, 0.5),
    x=nudges,
)
def test_a_nudge_over_the_margin_flips_the_verdict(
    ys: list[float], which: str, to: float, x: float
) -> None:
    names = ['red_cube', 'blue_cube', 'green_cube']
    done = {**DONE, **{name: (DONE[name][0], y) for name, y in zip(names, ys)}}
    inside = {**done, which: (DONE[which][0] + x, -0.021 - abs(to) / 2)}

    assert_passes(CUBES_RIGHT, table(done))
    assert_passes(CUBES_RIGHT, table(inside))
    assert_fails(CUBES_RIGHT, table({**done, which: (DONE[which][0] + x, to)}), which)


@given(angle=st.floats(0, 6.28), way=st.floats(0.0105, 0.06), share=st.floats(0, 0.95))
def test_a_nudge_of_another_thing_flips_the_verdict(
    angle: float, way: float, share: float
) -> None:
    def nudged(length: float) -> Situation:
        step = complex(length) * 1j ** (angle / 1.5707963)
        return table(moved(DONE, 'white_cylinder', step.real, step.imag), start=DONE)

    assert_passes(CUBES_RIGHT, nudged(share * 0.01))
    assert_fails(CUBES_RIGHT, nudged(way), 'white_cylinder has moved')
