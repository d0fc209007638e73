"""Parts of a suite that figures are told for: by split, least number of steps and difficulty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bbllm.bench.suites.step_bins import BINS, bin_of
from bbllm.bench.suites.task_spec import TaskSpec

DIFFICULTIES = ('easy', 'medium', 'hard')


def parts_of(tasks: Iterable[TaskSpec]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """
    Return names of tasks by part, by what divides them: `split`, `least steps`, `difficulty`.

    What does not divide them is left out. Parts are in the order in which tables have them.
    """
    tasks = tuple(tasks)
    divided: dict[str, dict[str, str]] = {
        'split': {task.name: task.split for task in tasks},
        'least steps': {
            task.name: bin_of(task.least_steps) if task.least_steps else '' for task in tasks
        },
        'difficulty': {task.name: task.difficulty for task in tasks},
    }
    orders: dict[str, Sequence[str]] = {'least steps': BINS, 'difficulty': DIFFICULTIES}
    return {
        by: _grouped(of_task, orders.get(by, ()))
        for by, of_task in divided.items()
        if len(set(of_task.values())) > 1
    }


def _grouped(of_task: Mapping[str, str], order: Sequence[str]) -> dict[str, frozenset[str]]:
    names = dict.fromkeys((*order, *of_task.values()))
    found = {
        name: frozenset(task for task, part in of_task.items() if part == name) for name in names
    }
    return {name: tasks for name, tasks in found.items() if name and tasks}
