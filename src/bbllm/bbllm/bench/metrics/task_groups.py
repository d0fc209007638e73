"""The parts of a suite with figures of their own: by split, least steps and difficulty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bbllm.bench.log.run_settings import TaskSettings
from bbllm.bench.suites.step_bins import BINS, bin_of

SPLIT, LEAST_STEPS, DIFFICULTY = 'split', 'least steps', 'difficulty'
_ORDERS: Mapping[str, Sequence[str]] = {
    LEAST_STEPS: BINS,
    DIFFICULTY: ('easy', 'medium', 'hard'),
}
Parts = Mapping[str, Mapping[str, frozenset[str]]]
"""Names of tasks by part, by what divides them. Parts are in the order of the tables."""


def groups_of(tasks: Iterable[TaskSettings]) -> Parts:
    """Return the tasks by split and least steps; a suite that has neither has no groups."""
    tasks = tuple(tasks)
    return {
        SPLIT: _grouped(SPLIT, {task.name: task.split for task in tasks}),
        LEAST_STEPS: _grouped(
            LEAST_STEPS,
            {task.name: bin_of(task.least_steps) if task.least_steps else '' for task in tasks},
        ),
    }


def parts_of(tasks: Iterable[TaskSettings]) -> Parts:
    """Return the tasks by split, least steps and difficulty; what does not divide is left out."""
    tasks = tuple(tasks)
    divided = {
        **groups_of(tasks),
        DIFFICULTY: _grouped(DIFFICULTY, {task.name: task.difficulty for task in tasks}),
    }
    everything = {frozenset(task.name for task in tasks)}
    return {
        by: parts for by, parts in divided.items() if parts and {*parts.values()} != everything
    }


def _grouped(by: str, of_task: Mapping[str, str]) -> dict[str, frozenset[str]]:
    names = dict.fromkeys((*_ORDERS.get(by, ()), *of_task.values()))
    found = {
        name: frozenset(task for task, part in of_task.items() if part == name) for name in names
    }
    return {name: tasks for name, tasks in found.items() if name and tasks}
