"""The suite `tabletop_long`: what cannot be moved comes first; who believes so is done sooner."""

from __future__ import annotations

import pytest

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.runner.play_tabletop import play
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.suite import load_suite
from bbllm.core.constants import GRAVITY_M_S2
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.ros.rclpy_support.params import Fr3ExecutorParams

LONG = load_suite('tabletop_long')
NAMES = [task.name for task in LONG.tasks]
LIFT_CAP_KG = Fr3ExecutorParams().lift_cap_n / GRAVITY_M_S2


def case_of(task: str, trial: int = 0) -> Case:
    return make_case(LONG, task, seed=0, trial=trial)


def played(task: str, open_state: str, k: int) -> EpisodeResult:
    offline = ModelConfig(provider='offline')
    config = RunConfig(
        planner=f'brain_body:open_state={open_state}',
        brain=None,
        body=None,
        mapping='auto',
        llm=LlmConfig(brain=offline, body=offline),
    )
    return play(EpisodeSpec(key=EpisodeKey(task, 0, k), case=case_of(task), config=config)).result


@pytest.mark.parametrize('task', NAMES)
@pytest.mark.parametrize('trial', range(3))
def test_the_first_three_things_are_fixed_too_heavy_and_out_of_reach(
    task: str, trial: int
) -> None:
    case = case_of(task, trial)
    first = [spec.name for spec in case.table.objects[:3]]
    heavy = {spec.name for spec in case.table.objects if spec.mass > 1.5 * LIFT_CAP_KG}
    far = set(case.out_of_reach)

    assert len(case.table.fixed) == len(heavy) == len(far) == 1
    assert {*case.table.fixed, *heavy, *far} == set(first)


def test_with_as_many_loops_as_there_are_such_things_only_who_believes_succeeds() -> None:
    believing, forgetful = played('red_triangle', 'rules', 3), played('red_triangle', 'no', 3)

    assert (believing.verdict, believing.loops) == ('passed', 3), believing.reason
    assert (forgetful.verdict, forgetful.loops) == ('failed', 3)


def test_with_more_loops_both_succeed_and_who_believes_needs_fewer() -> None:
    believing, forgetful = played('red_triangle', 'rules', 6), played('red_triangle', 'no', 6)

    assert (believing.verdict, forgetful.verdict) == ('passed', 'passed')
    assert (believing.loops, forgetful.loops) == (3, 5)
