"""The suite `partial_hard`: each case can be done, near misses fail, and `expert` does it."""

import itertools
import math

import pytest

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.oracle.case_goals import MOST_WEIGHED, SAMPLES, readings_for
from bbllm_bench.runner.play_here import play
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite

SUITE = load_suite('partial_hard')
TASKS = tuple(spec.name for spec in SUITE.tasks)
BY_WEIGHT = tuple(spec.name for spec in SUITE.tasks if spec.needs == 'weights')
SEEDS = range(3)


def cases_of(name: str) -> list[Case]:
    return [make_case(SUITE, name, seed=seed, trial=trial) for seed in SEEDS for trial in range(5)]


@pytest.mark.parametrize('name', BY_WEIGHT)
def test_one_reading_is_not_enough_and_the_actions_suffice_for_as_many_as_are(name: str) -> None:
    for case in cases_of(name):
        loose = sorted(spec.mass for spec in case.table.objects if not spec.fixed)
        gap_n = GRAVITY_M_S2 * min(b - a for a, b in itertools.pairwise(loose) if b > a)
        sd_n = case.table.force_noise_n.sd / math.sqrt(SAMPLES)
        n = readings_for(case)
        assert gap_n < 2.0 * sd_n
        assert gap_n > 2.3 * sd_n * math.sqrt(2 / n)
        assert 4 <= n <= MOST_WEIGHED
        most = len(loose) * (n + 1) + len(case.table.objects) - len(loose)
        assert case.limit_steps is not None and most + 8 <= case.limit_steps


def played(task: str, brain: str, seed: int) -> EpisodeResult:
    llm = LlmConfig(
        brain=ModelConfig(provider=brain),  # type: ignore[arg-type]
        body=ModelConfig(provider='offline'),
    )
    case = make_case(SUITE, task, seed=seed, trial=0)
    config = RunConfig(planner='llm_pop', llm=llm)
    return play(EpisodeSpec(key=EpisodeKey(task, 0, 3), case=case, config=config)).result


@pytest.mark.parametrize('task', TASKS)
def test_expert_does_it_within_the_actions_allowed(task: str) -> None:
    result = played(task, 'expert', seed=1)

    assert result.verdict == 'passed', (result.reason, result.message)
    assert result.informed is (True if task in BY_WEIGHT else None), result.information


@pytest.mark.parametrize('task', ['off_centre_tower', 'unknown_fixed'])
def test_who_takes_everything_for_granted_fails(task: str) -> None:
    assert played(task, 'uninformed', seed=1).verdict == 'failed'
