"""Suites of a benchmark of others: from a suite file to cases, settings and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.plugins import Plugin
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm_bench.runner.play_here import check_sources, world_of
from bbllm_bench.scene_sampling.generator import CaseError, make_case
from bbllm_bench.suites import benchmark
from bbllm_bench.suites.benchmark import BenchmarkGoal, BenchmarkStart, BenchmarkTask
from bbllm_bench.suites.case import fingerprint
from bbllm_bench.suites.suite import Suite, SuiteFileError, parse_suite

FILE = 'benchmark: other\nplay: [easy]\n'


@dataclass
class OtherBenchmark:
    """A benchmark of one task with two initial states."""

    missing: str = ''

    def tasks(self, suites: Sequence[str]) -> tuple[BenchmarkTask, ...]:
        if self.missing:
            raise ConfigError(self.missing)
        return tuple(
            BenchmarkTask(
                name=f'{suite}_0',
                instruction='put the can in the basket',
                predicates=(('in', 'can_1', 'basket_1'),),
                split=suite,
                start=BenchmarkStart(
                    benchmark='other', name='can', suite=suite, number=0, starts=2
                ),
            )
            for suite in suites
        )

    def calls(
        self, goal: BenchmarkGoal, scene: Scene, outcomes: Sequence[Outcome]
    ) -> tuple[SkillCall, ...]:
        return ()


OTHER = OtherBenchmark()
WITHOUT = OtherBenchmark('It is not installed: make other.')


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {'other': 'OTHER', 'without': 'WITHOUT'}
    points = tuple(Plugin(benchmark.GROUP, k, f'{__name__}:{v}', '') for k, v in names.items())
    monkeypatch.setattr(Plugin, 'load', lambda self: globals()[self.value.partition(':')[2]])
    monkeypatch.setattr(benchmark, 'installed', lambda group: points)


def suite() -> Suite:
    return parse_suite(FILE, Path('other.yaml'))


def test_tasks_are_those_that_the_benchmark_lists() -> None:
    found = suite()

    assert found.benchmark == 'other'
    assert [(task.name, task.split) for task in found.tasks] == [('easy_0', 'easy')]
    assert found.tasks[0].goal.model_dump()['predicates'] == (('in', 'can_1', 'basket_1'),)


def test_trials_take_the_initial_states_in_order() -> None:
    cases = [make_case(suite(), 'easy_0', seed=0, trial=trial) for trial in (0, 1)]

    assert [case.benchmark_start.start for case in cases] == [0, 1]
    assert fingerprint(cases[0]) != fingerprint(cases[1])


def test_a_trial_beyond_the_initial_states_has_no_case() -> None:
    with pytest.raises(CaseError, match='2 initial states of it, for trials 0 to 1'):
        make_case(suite(), 'easy_0', seed=0, trial=2)


def test_a_benchmark_that_is_not_installed_names_what_to_do() -> None:
    with pytest.raises(SuiteFileError, match=r'other\.yaml: It is not installed: make other'):
        parse_suite('benchmark: without\nplay: [easy]\n', Path('other.yaml'))


def test_an_unknown_benchmark_is_refused_with_those_there_are() -> None:
    with pytest.raises(SuiteFileError, match=r'benchmark named .othe.*Known: other, without'):
        parse_suite('benchmark: othe\nplay: [easy]\n', Path('other.yaml'))


def test_a_file_that_plays_nothing_of_it_is_refused() -> None:
    with pytest.raises(SuiteFileError, match='play'):
        parse_suite('benchmark: other\nplay: []\n', Path('other.yaml'))


def test_it_is_played_in_its_own_world_by_truth_alone() -> None:
    assert world_of(suite(), '') == 'other'
    with pytest.raises(ConfigError, match='leave --world out'):
        world_of(suite(), 'tabletop')
    with pytest.raises(ConfigError, match='leave --sources camera out'):
        check_sources('other', 'camera', 'none')
