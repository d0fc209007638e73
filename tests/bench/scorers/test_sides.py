"""Goals of sides: tables where they are reached, and tables where they only nearly are."""

import cmath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import (
    CUBES_RIGHT,
    PAIRS,
    SEGREGATED,
    Spot,
    assert_fails,
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


PASSING: dict[str, tuple[Goal, FinalState]] = {
    **{f'right: {name}': (CUBES_RIGHT, state) for name, state in RIGHT_PASSING.items()},
    **{f'apart: {name}': (SEGREGATED, state) for name, state in APART_PASSING.items()},
    **{f'pair: {name}': (PAIRS, state) for name, state in PAIR_PASSING.items()},
}
FAILING: dict[str, tuple[Goal, FinalState, str]] = {
    **{f'right: {name}': (CUBES_RIGHT, *case) for name, case in RIGHT_FAILING.items()},
    **{f'apart: {name}': (SEGREGATED, *case) for name, case in APART_FAILING.items()},
    **{f'pair: {name}': (PAIRS, *case) for name, case in PAIR_FAILING.items()},
}


@pytest.mark.parametrize(('goal', 'state'), PASSING.values(), ids=PASSING.keys())
def test_what_reaches_the_goal_passes(goal: Goal, state: FinalState) -> None:
    assert_passes(goal, state)


@pytest.mark.parametrize(('goal', 'state', 'about'), FAILING.values(), ids=FAILING.keys())
def test_what_only_nearly_reaches_it_fails(goal: Goal, state: FinalState, about: str) -> None:
    assert_fails(goal, state, about)
