"""What a comparison is of: the largest K of each planner, and the tasks that were played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_results import make_result, make_settings

from bbllm.bench.compare.figures import Entry, comparison_of, holm
from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.log.saved_run import SavedRun
from bbllm.bench.suites.suite import load_suite
from bbllm.bench.suites.task_spec import TaskSpec

TASKS = load_suite('tabletop').tasks
EASY, HARD = (
    next(task for task in TASKS if task.difficulty == difficulty)
    for difficulty in ('easy', 'hard')
)


def entry(planner: str, *results: EpisodeResult) -> Entry:
    settings = make_settings(planner=planner, ks=[0, 3])
    return Entry(planner, SavedRun(Path('out') / planner, settings, results), None)


def compared(*entries: Entry, tasks: tuple[TaskSpec, ...] = TASKS) -> dict[str, Any]:
    return comparison_of(entries, tasks, against=entries[0].planner)


def test_no_p_value_is_above_one_however_many_there_are() -> None:
    assert holm((0.9, 0.8, 0.7)) == (1.0, 1.0, 1.0)


def test_a_planner_counts_at_its_largest_k_and_by_those_episodes_alone() -> None:
    two = entry(
        'brain_body',
        make_result(EASY.name, k=0, verdict='failed', model_calls=2),
        make_result(EASY.name, k=3, verdict='passed', model_calls=9),
    )

    (row,) = compared(two)['planners']

    assert (row['k'], row['n'], row['sr'], row['calls']) == (3, 1, 1.0, 9)


def test_limits_of_tasks_are_told_of_where_one_that_was_played_has_its_own() -> None:
    run = entry('brain_body', make_result(EASY.name))
    limited = {task.name: task.model_copy(update={'limit_steps': 7}) for task in (EASY, HARD)}

    def own_limits(name: str) -> bool:
        tasks = tuple(limited[name] if task.name == name else task for task in TASKS)
        return bool(compared(run, tasks=tasks)['own_limits'])

    assert own_limits(EASY.name)
    assert not own_limits(HARD.name)


def test_parts_are_of_what_was_played_each_with_its_own_tasks() -> None:
    both = entry('brain_body', make_result(EASY.name), make_result(HARD.name, verdict='failed'))

    parts = compared(both)['parts']['difficulty']

    assert list(parts) == ['easy', 'hard']
    figures = [parts[name]['brain_body'] for name in parts]
    assert [(part['n'], part['sr']) for part in figures] == [(1, 1.0), (1, 0.0)]
    one = entry('brain_body', make_result(EASY.name))
    assert compared(one)['parts'] == {}


def test_no_wall_time_is_held_against_another_planner() -> None:
    first, second = (entry(name, make_result(EASY.name)) for name in 'ab')

    (pair,) = compared(first, second)['paired']

    assert 'model_calls' in pair['differences']
    assert {'wall_s', 'model_s'}.isdisjoint(pair['differences'])


@pytest.mark.parametrize(('sent', 'estimated'), [(0, False), (1000, False), (1001, True)])
def test_tokens_are_estimated_where_more_was_sent_than_counted(sent: int, estimated: bool) -> None:
    (row,) = compared(entry('a', make_result(EASY.name, sent_tokens=sent)))['planners']

    assert row['tokens_estimated'] is estimated
