"""The parts of a suite with figures of their own: by split and least steps."""

from collections.abc import Iterable, Mapping, Sequence

from bbllm_bench.log.run_settings import TaskSettings

EDGES = (10, 15, 20, 25, 30, 35, 40)
"""Greatest least number of steps of each bin but the last; FLTRNN, figure on complexity."""
BINS = (f'<= {EDGES[0]}', *(f'{a + 1}-{b}' for a, b in zip(EDGES, EDGES[1:], strict=False)),
        f'> {EDGES[-1]}')  # fmt: skip
SPLIT, LEAST_STEPS = 'split', 'least steps'
Parts = Mapping[str, Mapping[str, frozenset[str]]]
"""Names of tasks by part, by what divides them. Parts are in the order of the tables."""


def bin_of(least_steps: int) -> str:
    return BINS[sum(least_steps > edge for edge in EDGES)]


def groups_of(tasks: Iterable[TaskSettings]) -> Parts:
    """Return the tasks by split and least steps; a suite that has neither has no groups."""
    tasks = tuple(tasks)
    bins = {t.name: bin_of(t.least_steps) if t.least_steps else '' for t in tasks}
    return {
        SPLIT: _grouped({task.name: task.split for task in tasks}),
        LEAST_STEPS: _grouped(bins, BINS),
    }


def _grouped(of_task: Mapping[str, str], order: Sequence[str] = ()) -> dict[str, frozenset[str]]:
    return {
        name: frozenset(task for task, part in of_task.items() if part == name)
        for name in dict.fromkeys((*order, *of_task.values()))
        if name and name in of_task.values()
    }
