"""Tasks in groups that a suite gives them: by split, and by the least number of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.suites.step_bins import BINS, bin_of

SPLIT, LEAST_STEPS = 'split', 'least steps'
"""What groups are by."""
MOST_ROWS = 60
"""A table of more tasks than these is left out where there are groups; the files have it."""
MEASURES = ('sr', 'gcr', 'exec', 'faithful')

Group = tuple[str, str, int, list[EpisodeResult]]
"""By what, its name, how many tasks, and the episodes."""


def groups_of(
    tasks: Sequence[Mapping[str, Any]], results: Sequence[EpisodeResult]
) -> Iterator[Group]:
    """
    Yield groups of episodes; none where a suite has neither splits nor least steps.

    Args:
        tasks: Those of the settings.
        results: Episodes of one K.
    """
    by_task: dict[str, list[EpisodeResult]] = {}
    for result in results:
        by_task.setdefault(result.key.task, []).append(result)
    splits = dict.fromkeys(task['split'] for task in tasks if task.get('split'))
    for name in splits:
        members = [task['name'] for task in tasks if task.get('split') == name]
        yield SPLIT, name, len(members), _episodes(members, by_task)
    for name in BINS:
        members = [task['name'] for task in tasks if _bin(task) == name]
        if members:
            yield LEAST_STEPS, name, len(members), _episodes(members, by_task)


def group_table(groups: Sequence[Mapping[str, Any]]) -> Table:
    """Return the groups of a summary as a table for a terminal."""
    shown = [name for name in MEASURES if any(row.get(name) is not None for row in groups)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column('group', no_wrap=True)
    for heading in ('tasks', 'n', *(text for name in shown for text in _headings(name))):
        table.add_column(heading, justify='right', no_wrap=True)
    before = ''
    for row in groups:
        if before and before != row['by']:
            table.add_section()
        before = row['by']
        cells = [text for name in shown for text in _cells(row, name)]
        table.add_row(f'{row["by"]} {row["name"]}', str(row['n_tasks']), str(row['n']), *cells)
    return table


def _headings(name: str) -> tuple[str, ...]:
    return ('SR', '95 %') if name == 'sr' else (name.upper() if name != 'faithful' else name,)


def _cells(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name)
    text = '' if value is None else f'{value:.2f}'
    if name != 'sr':
        return (text,)
    low, high = row.get('sr_low'), row.get('sr_high')
    # An interval over one case tells nothing.
    known = low is not None and high is not None and row['n'] > 1
    return text, f'[{low:.2f}, {high:.2f}]' if known else ''


def _bin(task: Mapping[str, Any]) -> str:
    least = task.get('least_steps')
    return bin_of(least) if least is not None else ''


def _episodes(
    names: Sequence[str], by_task: Mapping[str, list[EpisodeResult]]
) -> list[EpisodeResult]:
    return [result for name in names for result in by_task.get(name, ())]
