"""Generated tables: what was promised is there, and every task can be done."""

import itertools
import math
from collections import Counter

import pytest
from solved_cases import SPECTRUM, distance, in_reach, solved, start_of
from tabletop_cases import SUITE, TASKS, case_of

from bbllm.bench.scorers.judging import judge
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.goals import LetterL, PlusSign, Triangle
from bbllm.bench.suites.scores import Verdict
from bbllm.core.types import Kind
from bbllm.sim.simulation import Simulation
from bbllm.worlds.scene.reaching import ReachCache

TRIALS = 12


CUBE, CYLINDER, LOCATION = Kind.CUBE, Kind.CYLINDER, Kind.LOCATION


def sides(case: Case, kind: Kind, *, reach: bool) -> Counter[str]:
    """How many things of a kind are left and right."""
    items = [item for item in (*case.scene.movables, *case.scene.places) if item.kind is kind]
    return Counter(
        'left' if item.pose.position_m[1] > 0 else 'right'
        for item in items
        if (item.name not in case.out_of_reach) is reach
    )


def is_like_red(color: str) -> bool:
    goal = SUITE.task('red_triangle').goal
    assert isinstance(goal, Triangle)
    return color in goal.colors


@pytest.fixture(scope='module')
def cases() -> dict[str, list[Case]]:
    return {name: [case_of(name, trial) for trial in range(TRIALS)] for name in TASKS}


@pytest.mark.parametrize('name', TASKS)
def test_every_table_has_what_the_bench_promises(name: str, cases: dict[str, list[Case]]) -> None:
    for case in cases[name]:
        movables, places = case.scene.movables, case.scene.places
        assert 6 <= len(movables) <= 14
        assert 8 <= len(places) <= 26
        assert [item.name for item in places] == [
            f'location_{chr(65 + index)}' for index in range(len(places))
        ]
        for item in movables:
            assert item.name == f'{item.color}_{item.kind.value}'
            assert item.size_m == (0.04, 0.04, 0.04)
        assert len({item.name for item in movables}) == len(movables)
        for item in (*movables, *places):
            near = item.name not in case.out_of_reach
            assert 0.3 <= distance(item) <= 0.7 if near else distance(item) > 0.9


@pytest.mark.parametrize('name', TASKS)
def test_things_have_room_around_them(name: str, cases: dict[str, list[Case]]) -> None:
    for case in cases[name]:
        for one, other in itertools.combinations(case.scene.movables, 2):
            assert distance(one, other) >= 0.075, (case.trial, one.name, other.name)
        for one, other in itertools.product(case.scene.movables, case.scene.places):
            assert distance(one, other) >= 0.075, (case.trial, one.name, other.name)
        for one, other in itertools.combinations(case.scene.places, 2):
            assert distance(one, other) > 0.0599, (case.trial, one.name, other.name)


@pytest.mark.parametrize('name', TASKS)
def test_what_is_out_of_reach_is_what_inverse_kinematics_says(name: str) -> None:
    reach = ReachCache()
    case = case_of(name, trial=3)
    items = (*case.scene.movables, *case.scene.places)

    assert case.out_of_reach == tuple(item.name for item in items if not reach(item))


@pytest.mark.parametrize('name', TASKS)
def test_the_task_is_not_done_at_the_start_and_can_be_done(
    name: str, cases: dict[str, list[Case]]
) -> None:
    for case in cases[name]:
        assert judge(case.goal, start_of(case)).verdict is Verdict.FAILED
        judgement = judge(case.goal, solved(case))
        assert judgement.verdict is Verdict.PASSED, (case.trial, judgement.reason)


def test_no_cube_stands_so_near_to_a_pattern_that_it_would_spoil_the_sign() -> None:
    for name in ('letter_l', 'plus_sign'):
        spec = SUITE.task(name)
        assert isinstance(spec.goal, LetterL | PlusSign) and spec.generate is not None
        tolerance = spec.goal.residual_edges * spec.goal.edge_m
        for group in spec.generate.locations:
            if group.pattern in ('letter_l', 'plus'):
                assert group.pitch[1] + tolerance < spec.generate.spacing_m, name


@pytest.mark.parametrize('name', TASKS)
def test_a_generated_table_stands_still(name: str) -> None:
    case = case_of(name, trial=1)
    simulation = Simulation(case.scene)
    simulation.step(500)
    poses = simulation.object_poses()
    for item in case.scene.movables:
        assert math.dist(item.pose.position_m, poses[item.name].position_m) < 2e-4, item.name


def test_right_side_has_most_cubes_on_the_left_and_places_for_them(
    cases: dict[str, list[Case]],
) -> None:
    for case in (*cases['right_side'], *cases['letter_l']):
        assert case.out_of_reach == ()
    for case in cases['right_side']:
        cubes = sides(case, CUBE, reach=True)
        assert 4 <= cubes.total() <= 6
        assert cubes['left'] > cubes['right']
        assert sides(case, LOCATION, reach=True)['right'] >= cubes['left']
        assert 2 <= sides(case, CYLINDER, reach=True).total() <= 3


def test_color_line_has_one_cube_out_of_reach_whose_place_is_between_others(
    cases: dict[str, list[Case]],
) -> None:
    for case in cases['color_line']:
        near = [SPECTRUM.index(item.color) for item in in_reach(case, CUBE)]
        assert 5 <= len(near) <= 6
        (far,) = (
            SPECTRUM.index(item.color)
            for item in case.scene.movables
            if item.kind is CUBE and item.name in case.out_of_reach
        )
        assert min(near) < far < max(near)
        assert sides(case, LOCATION, reach=False).total() >= 1


def test_pairs_a_side_has_two_of_each_within_reach_and_one_loop_for_who_takes_them_in_order(
    cases: dict[str, list[Case]],
) -> None:
    for case in cases['pairs_a_side']:
        assert len(in_reach(case, CUBE)) == len(in_reach(case, CYLINDER)) == 2
        assert min(sides(case, LOCATION, reach=True).values()) >= 3
        for kind, lost in ((CUBE, 1), (CYLINDER, 0)):
            names = [item.name for item in case.scene.movables if item.kind is kind]
            assert len(set(names[:2]) & set(case.out_of_reach)) == lost
        assert {item.name for item in case.scene.places[-2:]} < {*case.out_of_reach}


@pytest.mark.parametrize('name', ['red_triangle', 'plus_sign'])
def test_two_cubes_that_would_do_are_listed_first_and_out_of_reach(
    name: str, cases: dict[str, list[Case]]
) -> None:
    for case in cases[name]:
        first = case.scene.movables[:2]
        assert all(item.kind is CUBE and item.name in case.out_of_reach for item in first)
        assert sides(case, CUBE, reach=False).total() == 2
        if name == 'red_triangle':
            assert all(is_like_red(item.color) for item in first)
            assert 3 <= sum(is_like_red(item.color) for item in in_reach(case, CUBE)) <= 4
        else:
            assert 5 <= len(in_reach(case, CUBE)) <= 6
        assert sides(case, LOCATION, reach=False).total() == 2


def test_segregate_needs_moves_to_both_sides_whose_first_locations_are_out_of_reach(
    cases: dict[str, list[Case]],
) -> None:
    for case in cases['segregate']:
        for kind in (CUBE, CYLINDER):
            assert min(sides(case, kind, reach=True)[side] for side in ('left', 'right')) >= 1
        assert sides(case, CUBE, reach=False).total() == 1
        assert sides(case, CYLINDER, reach=False).total() == 0
        assert sides(case, LOCATION, reach=False) == {'left': 1, 'right': 1}
        assert {item.name for item in case.scene.places[:2]} < {*case.out_of_reach}
        for side in ('left', 'right'):
            needed = max(len(in_reach(case, CUBE)), len(in_reach(case, CYLINDER)))
            assert sides(case, LOCATION, reach=True)[side] >= needed


def test_the_number_of_things_and_the_colours_vary(cases: dict[str, list[Case]]) -> None:
    for name in TASKS:
        assert len({len(case.scene.movables) for case in cases[name]}) > 1
        assert len({frozenset(x.name for x in case.scene.movables) for case in cases[name]}) > 5
