"""What holds for every goal: things must rest, and conditions compare start and end."""

import dataclasses
import math

import pytest

from bbllm.worlds.scene.table_tolerances import TableTolerances
from bbllm_bench.scorers.judging import judge
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.goals import Conditions, Goal
from bbllm_bench.suites.scores import FinalState, Verdict
from tests.bench.scorers.layouts import (
    CUBES_RIGHT,
    LETTER,
    LINE,
    PAIRS,
    PLUS,
    SEGREGATED,
    STANDING,
    TRIANGLE,
    Spot,
    assert_fails,
    assert_passes,
    leaning,
    moved,
    pattern,
    table,
)

CROSS = pattern((0, 1, -1, 1j, -1j))
LINED: dict[str, Spot] = {'red_cube': (0.5, 0.1), 'blue_cube': (0.5, 0.0)}
PLACED: dict[str, Spot] = {
    **{'location_A': (0.4, 0.1), 'location_B': (0.5, 0.1)},
    **{'location_C': (0.4, -0.1), 'location_D': (0.5, -0.1)},
    **{'red_cube': (0.4, 0.1), 'grey_cylinder': (0.5, 0.1)},
    **{'blue_cube': (0.4, -0.1), 'white_cylinder': (0.5, -0.1)},
}
DONE: dict[str, tuple[Goal, dict[str, Spot]]] = {
    'one_side': (CUBES_RIGHT, {'red_cube': (0.4, -0.2), 'grey_cylinder': (0.4, 0.2)}),
    'letter_l': (LETTER, pattern((0, 1, 2, -1j))),
    'color_line': (LINE, LINED),
    'pairs_a_side': (PAIRS, PLACED),
    'triangle': (
        TRIANGLE,
        {'red_cube': (0.56, -0.2), 'pink_cube': (0.48, -0.14), 'salmon_cube': (0.48, -0.26)},
    ),
    'plus_sign': (PLUS, CROSS),
    'segregated': (SEGREGATED, {'red_cube': (0.4, -0.2), 'grey_cylinder': (0.4, 0.2)}),
    'conditions': (
        Conditions(kind='conditions', text='on(red_cube, location_A)', **STANDING),
        {'location_A': (0.4, 0.1), 'red_cube': (0.4, 0.1)},
    ),
}


@pytest.mark.parametrize(('goal', 'done'), DONE.values(), ids=DONE.keys())
def test_everything_must_rest_where_it_can_be_seen(goal: Goal, done: dict[str, Spot]) -> None:
    far: dict[str, Spot] = {'olive_cylinder': (0.9, 0.5), 'beige_cylinder': (0.9, 0.5, 0.06)}
    start = table(done, start=far, beyond=far)
    name = next(name for name in done if name.endswith('cube'))
    in_the_air = {**done, 'olive_cylinder': (0.9, 0.5, 0.3)}

    assert_passes(goal, table({**done, **far}, beyond=far))  # out of reach, one on the other
    assert_fails(goal, table(in_the_air, beyond=far), 'olive_cylinder is 28.0 cm above')
    assert_fails(
        goal, dataclasses.replace(start, objects=table(done).objects), 'cylinder is gone.'
    )
    assert_fails(goal, table({}))
    assert judge(goal, table({**done, name: (math.nan,) * 3})).verdict is Verdict.FAILED


def test_a_toppled_cylinder_does_not_stand() -> None:
    goal, done = DONE['pairs_a_side']
    toppled = 'grey_cylinder is not on locations.'

    assert_fails(goal, leaning(table(done), 'grey_cylinder', 90), toppled)
    assert_passes(goal, leaning(table(done), 'grey_cylinder', 10))


def test_what_is_in_the_hand_fails_a_goal_however_low_it_is_held() -> None:
    goal, done = DONE['segregated']
    low = table(moved(done, 'red_cube', 0, 0, 0.005))

    assert_passes(goal, low)
    assert_fails(goal, dataclasses.replace(low, held='red_cube'), 'red_cube is in the hand.')


@pytest.mark.parametrize(('height', 'stands'), [(0.0095, True), (0.0105, False), (-0.0105, False)])
def test_standing_means_within_a_centimetre_of_the_table(height: float, stands: bool) -> None:
    situation = table(moved({'red_cube': (0.4, -0.2)}, 'red_cube', 0, 0, height))

    assert (not Table(situation, **STANDING).fall('red_cube')) is stands


def test_without_a_table_the_frame_s_origin_is_its_height() -> None:
    goal, done = DONE['one_side']
    bare = {n: item for n, item in table(done).objects.items() if n != 'table'}

    assert judge(goal, FinalState(objects=bare, start=bare)).verdict is Verdict.PASSED


def test_conditions_are_judged_with_the_tolerances_that_the_suite_states() -> None:
    goal = DONE['conditions'][0]
    assert isinstance(goal, Conditions)
    wide = goal.model_copy(update={'limits': TableTolerances(location_m=0.05)})
    beside = table({'location_A': (0.4, 0.1), 'red_cube': (0.44, 0.1)})

    assert_fails(goal, beside, 'red_cube is 4.0 cm from location_A, and 2.0 cm count as on it.')
    assert_passes(wide, beside)


def test_a_condition_may_ask_for_what_is_in_the_hand() -> None:
    goal = Conditions(kind='conditions', text='held(red_cube)', **STANDING)
    up = table({'red_cube': (0.4, 0.1, 0.2), 'blue_cube': (0.5, -0.1)})

    assert_passes(goal, dataclasses.replace(up, held='red_cube'))
    assert_fails(goal, up, 'red_cube is not in the hand.')
    assert_fails(goal, dataclasses.replace(up, held='blue_cube'), 'red_cube is not in the hand.')
