"""An episode as the bench plays it, with `expert` and the skills, on a robot without physics."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from bbllm.core.errors import WorldError
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.runner.episode_setup import play_alone
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.benchmark import BenchmarkStart, BenchmarkTask
from bbllm_bench.suites.suite import parse_suite
from bbllm_libero.client import RefusedError, Worker
from bbllm_libero.play import LiberoBenchmark
from tests.libero.skills.kinematic_panda import BASKET, KinematicPanda, with_a_basket

EXPERT = ModelConfig(provider='expert')
GOAL = (('in', 'box_1', BASKET),)


class KinematicWorker(KinematicPanda):
    """The robot in place of the benchmark, which may refuse to begin."""

    is_alive = True
    refusal: Exception | None = None

    def reset(self, suite: str, *, task: int, init_state: int, seed: int) -> None:
        if self.refusal is not None:
            raise self.refusal

    def goal_holds(self) -> tuple[bool, ...]:
        return tuple(
            (item, relation, place) in self.facts() for relation, item, place in self.task.goal
        )

    def close(self) -> None:
        self.is_alive = False


def played(
    monkeypatch: pytest.MonkeyPatch, goal: tuple[tuple[str, ...], ...], refusal: Exception | None
) -> EpisodeResult:
    start = BenchmarkStart(benchmark='libero', name='box', suite='still', number=0, starts=1)
    task = BenchmarkTask(
        name='still_0', instruction='put it there', predicates=goal, start=start, split='still'
    )
    monkeypatch.setattr(LiberoBenchmark, 'tasks', lambda self, suites: (task,))
    suite = parse_suite('benchmark: libero\nplay: [still]\n', Path('still.yaml'))
    case = make_case(suite, 'still_0', seed=0, trial=0)
    job = EpisodeSpec(
        key=EpisodeKey('still_0', 0, 1),
        case=case,
        config=RunConfig(llm=LlmConfig(brain=EXPERT, body=EXPERT)),
    )
    robot = with_a_basket(KinematicWorker)
    robot.task = replace(robot.task, goal=goal)
    robot.refusal = refusal
    benchmark = LiberoBenchmark()
    benchmark._worker = cast(Worker, robot)
    return play_alone(job, benchmark.play_with).result


def test_an_episode_is_judged_by_the_check_of_the_benchmark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = played(monkeypatch, GOAL, None)

    assert result.passed, result.reason
    assert len(result.conditions) == len(GOAL)
    assert result.limit == ''


def test_what_failed_last_is_what_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    result = played(monkeypatch, (('in', 'wall_1', BASKET),), None)

    assert result.verdict == 'failed'
    assert result.limit == 'grasp'
    assert 'NOT_GRASPABLE' in result.codes


@pytest.mark.parametrize(
    ('error', 'name'),
    [
        (RefusedError('LIBERO: the file of task 0 is missing.'), 'RefusedError'),
        (WorldError('The process of LIBERO has gone.'), 'WorldError'),
    ],
)
def test_a_task_that_cannot_be_begun_is_lost_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, error: Exception, name: str
) -> None:
    result = played(monkeypatch, GOAL, error)

    assert (result.verdict, result.error) == ('lost', name)
    assert str(error) in result.reason
