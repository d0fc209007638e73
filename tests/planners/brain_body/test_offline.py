"""`offline` as Brain and Body of Algorithm 1: sentences, repairs, arrangements and the suite."""

from dataclasses import replace
from typing import Any

import pytest

from bbllm.core.errors import GaveUpError
from bbllm.core.protocols import Situation, in_episode
from bbllm.core.types import Code, Kind, Scene, Task
from bbllm.planners.body.mapping import BodyLLM
from bbllm.planners.brain_body.options import OPTIONS
from bbllm.planners.brain_body.planner import BrainBody
from bbllm_bench.oracle.model import offline
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.judging import judge
from bbllm_bench.scorers.patterns import check_plus
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.scene_recipe import EDGE_M
from bbllm_bench.suites.scores import FinalState, Score, Verdict
from bbllm_bench.suites.suite import load_suite
from tests.planners.symbolic_table import Diary, SymbolicTabletop, busy_table

PLUS_SIGN = 'create a plus sign in the working space using the cubes'


@pytest.mark.parametrize(
    ('instruction', 'where'),
    [
        ('put the red cube on location_B', {'red_cube': 'location_B'}),
        (
            'build a tower of red, green and blue cubes on location_A',
            {'red_cube': 'location_A', 'green_cube': 'red_cube', 'blue_cube': 'green_cube'},
        ),
        (
            'first put the red cube on location A, then put the green cube on top of it',
            {'red_cube': 'location_A', 'green_cube': 'red_cube'},
        ),
        ('place any cube on location_F', {'red_cube': 'location_F'}),
        (
            'put two of the blueish cubes on locations A and B',
            {'blue_cube': 'location_A', 'aqua_cube': 'location_B'},
        ),
    ],
)
def test_objects_end_where_the_task_wants_them(instruction: str, where: dict[str, str]) -> None:
    world = busy_table()

    run_cleanly(instruction, world, Diary())

    assert {name: world.on(name) for name in where} == where
    assert world.held is None


@pytest.mark.parametrize(
    'instruction',
    [PLUS_SIGN, "please make a '+' out of the cubes", 'form a cross with five cubes'],
)
def test_the_plus_sign_is_built(instruction: str) -> None:
    world, context = busy_table(), Diary()

    run_cleanly(instruction, world, context)

    assert cubes_form_a_plus_sign(world)
    assert not context.repairs


def test_what_stands_on_a_cube_is_put_aside_first() -> None:
    world, context = busy_table(moved={'green_cube': (0.35, 0.12, 0.06)}), Diary()

    run_cleanly('put the red cube on location_B', world, context)

    assert world.calls[0] == 'pick(green_cube)'
    assert world.on('red_cube') == 'location_B'
    assert not context.repairs


@pytest.mark.parametrize('name', ['red_cube', 'location_B'])
def test_what_the_task_names_is_not_replaced_but_given_up(name: str) -> None:
    with pytest.raises(GaveUpError, match=f'{name} is out of the workspace'):
        run_cleanly('put the red cube on location_B', busy_table(unreachable=[name]), Diary())


def test_what_stands_at_a_place_leaves_before_it_is_filled() -> None:
    world, context = busy_table(moved={'green_cube': (0.48, -0.12)}), Diary()

    run_cleanly('put the red cube on location_B', world, context)

    assert world.on('red_cube') == 'location_B'
    assert world.on('green_cube') not in ('location_B', 'red_cube')
    assert not context.repairs


def test_a_slip_of_the_fingers_is_tried_again_once() -> None:
    slip = ('pick(red_cube)', Code.GRASP_FAILED, 'grasp of red_cube failed: fingers closed.')
    world = busy_table(faults=[slip])
    run_cleanly('put the red cube on location_B', world, Diary())
    assert world.on('red_cube') == 'location_B'

    with pytest.raises(GaveUpError, match='fingers closed'):
        run_cleanly('put the red cube on location_B', busy_table(faults=[slip, slip]), Diary())


def test_a_repair_does_not_repeat_what_is_done() -> None:
    fault = ('place(location_B)', Code.CONTROLLER_ABORTED, 'The controller gave up.')
    world = busy_table(faults=[fault])

    run_cleanly(
        'put the red cube on location_A, wait 2 seconds, put the blue cube on location_B, go home',
        world,
        Diary(),
    )

    assert ' '.join(world.calls) == (
        'pick(red_cube) place(location_A) wait(2) pick(blue_cube) place(location_B) '
        'place(location_B) return_to_base()'
    )


@pytest.mark.parametrize(
    ('remark', 'taken'),
    [
        ('use the white cube instead of the blue one', 'white_cube'),
        ('not the blue cube please', 'yellow_cube'),
        ("don't touch blue_cube, or the yellow cube", 'orange_cube'),
    ],
)
def test_a_remark_about_objects_changes_the_plan(remark: str, taken: str) -> None:
    world, context = busy_table(), Diary({3: remark})

    run_cleanly(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert f'pick({taken})' in world.calls
    assert 'pick(blue_cube)' not in world.calls


TRIANGLE = 'Create a triangle in the right part of the working space using reddish cubes.'


def test_without_a_solution_the_true_reason_is_given() -> None:
    places = {f'{color}_cube': (0.4 + 0.1 * i, 0.2) for i, color in enumerate(('red', 'pink'))}
    world = SymbolicTabletop(
        {**places, 'crimson_cube': (0.6, 0.2), 'green_cube': (0.5, 0.32)},
        unreachable=['pink_cube'],
    )

    with pytest.raises(GaveUpError, match=r'2 objects can be used and 3 are needed.*pink_cube is'):
        run(TRIANGLE, world, Diary(), k=5)


SUITE = load_suite('tabletop')
TASKS = [task.name for task in SUITE.tasks]
TRIALS = 8


def judged(case: Case, before: Scene, after: Scene) -> Score:
    return judge(
        case.goal,
        FinalState(
            objects={item.name: item for item in after.objects},
            start={item.name: item for item in before.objects},
            out_of_reach=frozenset(case.out_of_reach),
        ),
    )


def lay(case: Case) -> SymbolicTabletop:
    names = (*case.scene.movables, *case.scene.places)
    places = {item.name: item.pose.position_m[:2] for item in names}
    return SymbolicTabletop(places, unreachable=case.out_of_reach)


@pytest.mark.parametrize('seed', [0, 11])
@pytest.mark.parametrize('name', TASKS)
def test_each_task_is_solved_on_every_table_with_no_more_than_three_loops(
    name: str, seed: int
) -> None:
    for trial in range(TRIALS):
        case = make_case(SUITE, name, seed=seed, trial=trial)
        world, context = lay(case), Diary()
        before = world.observe()

        run(case.instruction, world, context, options=replace(OPTIONS, reach=False))

        judgement = judged(case, before, world.observe())
        assert judgement.verdict is Verdict.PASSED, f'{name} {trial}: {judgement.reason}'
        assert case.least_loops <= len(context.repairs) <= 3
        assert not context.failed


def run(instruction: str, world: Any, context: Any, k: int = 3, options: Any = OPTIONS) -> None:
    """Plan a task and act, with at most *k* repairs."""
    task = Task('t', instruction)
    model = in_episode(offline(), Situation(task=task, planner='brain_body'))
    BrainBody(model, BodyLLM(model), k=k, options=options).run(task, world, context)


def run_cleanly(instruction: str, world: Any, context: Any) -> None:
    """Do the same; no step may stay failed, and the Body may pass over none."""
    run(instruction, world, context)
    assert not context.failed
    assert not [line for line in context.lines if line.startswith('pass')]


def cubes_form_a_plus_sign(world: SymbolicTabletop) -> bool:
    cubes = [item for item in world.observe().objects if item.kind is Kind.CUBE]
    return not check_plus({item.name: item.pose for item in cubes}, EDGE_M)[0]
