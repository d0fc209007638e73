"""The suite `partial` played in physics: who finds out passes informed, who guesses never does."""

from __future__ import annotations

import pytest

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.runner.play_tabletop import play
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.suite import load_suite
from bbllm.llm.config import LlmConfig, ModelConfig

PARTIAL = load_suite('partial')


def played(task: str, brain: str, planner: str = 'llm_pop', trial: int = 0) -> EpisodeResult:
    llm = LlmConfig(
        brain=ModelConfig(provider=brain),  # type: ignore[arg-type]
        body=ModelConfig(provider='offline'),
    )
    config = RunConfig(planner=planner, brain=None, body=None, mapping='auto', llm=llm)
    case = make_case(PARTIAL, task, seed=1, trial=trial)
    return play(EpisodeSpec(key=EpisodeKey(task, trial, 3), case=case, config=config)).result


@pytest.mark.parametrize('task', [task.name for task in PARTIAL.tasks])
def test_expert_finds_out_what_a_task_needs_and_does_it(task: str) -> None:
    result = played(task, 'expert')

    assert result.verdict == 'passed', (result.reason, result.message)
    needs = PARTIAL.task(task).needs != 'none'
    assert result.informed is (True if needs else None), result.information
    assert result.loops == PARTIAL.task(task).least_loops
    assert not result.false_success


@pytest.mark.parametrize('planner', ['llm_pop_no_evaluator', 'ft_cot', 'ft_vanilla'])
def test_expert_answers_the_other_planners_too(planner: str) -> None:
    result = played('lighter_on_heavier', 'expert', planner)

    assert (result.verdict, result.informed) == ('passed', True), (result.reason, result.message)


@pytest.mark.parametrize('task', ['lighter_on_heavier', 'movable_on_fixed'])
def test_who_guesses_is_never_informed_whatever_comes_of_it(task: str) -> None:
    results = [played(task, 'uninformed', trial=trial) for trial in range(4)]

    assert {result.informed for result in results} == {False}
    assert {result.verdict for result in results} == {'passed', 'failed'}
