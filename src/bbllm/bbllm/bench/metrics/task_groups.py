"""The parts of a suite with figures of their own: by split, least steps and difficulty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.suites.step_bins import BINS, bin_of
from bbllm.bench.suites.task_spec import TaskSpec

SPLIT, LEAST_STEPS, DIFFICULTY = 'split', 'least steps', 'difficulty'
_ORDERS: Mapping[str, Sequence[str]] = {
    LEAST_STEPS: BINS,
    DIFFICULTY: ('easy', 'medium', 'hard'),
}

Group = tuple[str, str, int, list[EpisodeResult]]
"""What it is by, its name, how many tasks, and the episodes."""


def groups_of(
    tasks: Sequence[Mapping[str, Any]], results: Sequence[EpisodeResult]
) -> Iterator[Group]:
    """
    Yield groups of episodes; none where a suite has neither splits nor least steps.

    Args:
        tasks: Those of the settings.
        results: Episodes of one K.
    """
    divided = {
        SPLIT: {task['name']: task.get('split') or '' for task in tasks},
        LEAST_STEPS: {task['name']: _bin(task.get('least_steps')) for task in tasks},
    }
    for by, of_task in divided.items():
        for name, members in _grouped(by, of_task).items():
            yield by, name, len(members), [r for r in results if r.key.task in members]


def parts_of(tasks: Iterable[TaskSpec]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """
    Return names of tasks by part, by what divides them: `split`, `least steps`, `difficulty`.

    What does not divide them is left out. Parts are in the order in which tables have them.
    """
    tasks = tuple(tasks)
    divided: dict[str, dict[str, str]] = {
        SPLIT: {task.name: task.split for task in tasks},
        LEAST_STEPS: {task.name: _bin(task.least_steps) for task in tasks},
        DIFFICULTY: {task.name: task.difficulty for task in tasks},
    }
    return {
        by: _grouped(by, of_task)
        for by, of_task in divided.items()
        if len(set(of_task.values())) > 1
    }


def _bin(least_steps: int | None) -> str:
    return bin_of(least_steps) if least_steps else ''


def _grouped(by: str, of_task: Mapping[str, str]) -> dict[str, frozenset[str]]:
    names = dict.fromkeys((*_ORDERS.get(by, ()), *of_task.values()))
    found = {
        name: frozenset(task for task, part in of_task.items() if part == name) for name in names
    }
    return {name: tasks for name, tasks in found.items() if name and tasks}
