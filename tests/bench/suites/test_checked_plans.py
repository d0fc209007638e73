"""The check of plans finds nothing in the solutions of the suite `tabletop`."""

import pytest

from bbllm.core.types import Code, SkillCall
from bbllm.skills.plan_check import check_plan
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite
from tests.bench.solved_cases import MOVES, plan_of, scene_of


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('task', [task.name for task in load_suite('tabletop').tasks])
def test_solutions_of_the_tabletop_suite_have_no_fault(task: str, seed: int) -> None:
    case = make_case(load_suite('tabletop'), task, seed=seed, trial=0)
    moves = tuple((name, place.name) for name, place in MOVES[task](case))

    assert moves
    assert not check_plan(plan_of(moves), scene_of(case))


def test_what_a_case_puts_out_of_reach_is_a_fault() -> None:
    case = make_case(load_suite('tabletop'), 'plus_sign', seed=0, trial=0)
    far = [item.name for item in case.table.movables if item.name in case.out_of_reach]

    faults = check_plan([SkillCall('pick', (name,)) for name in far], scene_of(case))

    assert far
    assert [fault.code for fault in faults] == [Code.OUT_OF_WORKSPACE] * len(far)
