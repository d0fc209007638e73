"""Parts of a suite that figures are told for: by split, by length of the shortest plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bbllm.bench.task_spec import TaskSpec

EDGES = (10, 15, 20, 25, 30, 35, 40)
"""Greatest numbers of steps of the bins; the last bin has what is longer."""


def bin_of(steps: int) -> str:
    """Return the bin of a number of steps: `<= 10`, `11-15` ... `> 40`."""
    below = 0
    for edge in EDGES:
        if steps <= edge:
            return f'{below + 1}-{edge}' if below else f'<= {edge}'
        below = edge
    return f'> {below}'


def parts_of(tasks: Iterable[TaskSpec]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """
    Return names of tasks by part, by what divides them: `split`, `least steps`, `difficulty`.

    What does not divide them is left out. Parts are in the order in which tables have them.
    """
    tasks = tuple(tasks)
    bins = {bin_of(n): n for n in range(1, EDGES[-1] + 2)}
    divided = {
        'split': {task.name: task.split for task in tasks},
        'least steps': {
            task.name: bin_of(task.least_steps) if task.least_steps else '' for task in tasks
        },
        'difficulty': {task.name: task.difficulty for task in tasks},
    }
    orders = {'least steps': tuple(bins), 'difficulty': ('easy', 'medium', 'hard')}
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
