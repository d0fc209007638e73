"""A run's summary as tables on a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console

from bbllm.core.events import Ending
from bbllm.core.text import count_of
from bbllm.scene.sources import NO_TROUBLE
from bbllm_bench.metrics.metrics import BY_PICTURES, METRICS, OF_TALK, Figures
from bbllm_bench.report.grid import Grid, grid_of, print_grid
from bbllm_bench.report.summary import (
    GroupFigures,
    KFigures,
    RunSummary,
    rate_text,
)

NOTES = {
    'SR': '[ ]: 95 % interval',
    'state': (
        'state: the goal was reached; informed: with what was needed found out before the '
        'decision;\nthe last row has both over the tasks in which something was needed, others '
        'have a dash; [ ]: 95 % interval'
    ),
    'loops': 'loops: used, and in brackets what a planner spends that goes by the order listed',
    'false success': 'false success: ended as done, which the checker denies',
}
KNOWING_LOOPS = 'loops: used, and in brackets what a planner spends that finds all out at once'
ESTIMATED = 'tokens: ~ where the server counted none, and those of prompts are estimated'
NOTHING = '–'
"""Stands where nothing had to be found out."""
NEEDING = 'to find out'
"""Names the row over the tasks in which something had to be found out."""
MOST_ROWS = 60
"""A table of more tasks than these is left out where there are groups; the files have it."""


def print_summary(summary: RunSummary, console: Console) -> None:
    """Print the tasks at the largest K, what each K adds, and the rest; not the closing line."""
    for grid in _grids(summary):
        print_grid(grid, console)
    for line in lines_for_terminal(summary):
        console.print(line, markup=False, highlight=False)


def lines_for_terminal(summary: RunSummary) -> list[str]:
    """Return what the tables do not show, one sentence a line."""
    lines = [*summary.notices, *summary.changed]
    if summary.shards:
        lines.append(f'Shards of the run: {summary.shards}.')
    for group in summary.by_k:
        lines += _k_lines(group)
    if summary.sees:
        lines += _picture_lines(summary)
    lines += [*_run_lines(summary), *summary.earlier]
    if summary.played < summary.planned:
        lines.append(f'{summary.played} of {summary.planned} episodes were played so far.')
    if summary.episodes_per_minute is not None:
        lines.append(f'{summary.episodes_per_minute:.1f} episodes a minute.')
    return lines


def _grids(summary: RunSummary) -> Iterator[Grid]:
    if summary.by_k:
        yield _task_grid(summary.top, summary.by_sources)
        if summary.top.groups:
            yield grid_of(summary.by_sources, [_group_cells(row) for row in summary.top.groups])
    if len(summary.by_k) > 1:
        yield _k_grid(summary.by_k, summary.by_sources)


def _task_grid(group: KFigures, by: str) -> Grid:
    knowing = bool(group.needing)
    notes = NOTES | ({'loops': KNOWING_LOOPS} if knowing else {})
    if group.tokens_estimated:
        notes['tokens'] = ESTIMATED
    too_many = group.groups and len(group.tasks) > MOST_ROWS
    rows = [
        {'task': task.title, **_cells(task, knowing=knowing)}
        for task in (() if too_many else group.tasks)
    ]
    sums = [{'task': 'all', **_cells(group, knowing=knowing)}]
    if knowing:
        rates = {key: rate_text(group, key) for key in ('state', 'informed')}
        sums.append({'task': NEEDING, 'n': str(group.needing), **rates})
    return grid_of(_titled(f'K = {group.k}', by), rows, sums, notes)


def _titled(title: str, by: str) -> str:
    return f'{title}, {by}' if by else title


def _cells(row: Figures, *, knowing: bool) -> dict[str, str]:
    """Return the cells of a row by column; with *knowing*, success is of two kinds."""
    # Of all tasks together it would be a share of other episodes than the state beside it.
    informed = row.needing and row.needing == row.n
    return {
        'n': str(row.n),
        'state' if knowing else 'SR': rate_text(row, 'sr') if row.n else '',
        'informed': (rate_text(row, 'informed') if informed else NOTHING) if knowing else '',
        'GCR': _number(row, 'gcr'),
        'EXEC': _number(row, 'exec'),
        'loops': _loops(row),
        'calls': str(row.model_calls),
        'tokens': row.tokens_text,
        'false success': str(row.false_success or ('0' if knowing and row.n else '')),
        'lost': str(row.infrastructure_failures or ''),
    }


def _group_cells(row: GroupFigures) -> dict[str, str]:
    return {
        'split': row.name,
        'tasks': str(row.n_tasks),
        'n': str(row.n),
        # An interval over one case says nothing.
        'SR': rate_text(row, 'sr') if row.n > 1 else _number(row, 'sr'),
        **{METRICS[key].label: _number(row, key) for key in ('gcr', 'exec', *OF_TALK)},
    }


def _k_grid(groups: Sequence[KFigures], by: str) -> Grid:
    """Return success by task and K: where feedback helps."""

    def cells(name: str, texts: Sequence[str]) -> dict[str, str]:
        columns = [f'K = {group.k}' for group in groups]
        return {'task': name, **dict(zip(columns, texts, strict=True))}

    rows = [
        cells(tasks[0].title, [_number(task, 'sr') for task in tasks])
        for tasks in zip(*(group.tasks for group in groups), strict=True)
    ]
    sums = [cells('all', [rate_text(group, 'sr') if group.n else '' for group in groups])]
    rates = {'GCR': 'gcr', 'EXEC': 'exec'}
    if any(group.needing for group in groups):
        rates = {**{f'{NEEDING}: {key}': key for key in ('state', 'informed')}, **rates}
    sums += [cells(name, [_number(g, key) for g in groups]) for name, key in rates.items()]
    sums.append(cells('loops', [_loops(group) for group in groups]))
    return grid_of(_titled('SR by K', by), rows, sums)


def _loops(row: Figures) -> str:
    """Return mean of the loops used, and of those that the tasks demand."""
    loops, least = row.value('loops'), row.least_loops
    if loops is None:
        return ''
    return f'{loops:.1f}' + (f' ({least:.1f})' if least is not None else '')


def _k_lines(group: KFigures) -> Iterator[str]:
    """Yield what the tables do not show of one K."""
    if group.needing:
        yield (
            f'Where something had to be found out (K = {group.k}, '
            f'{count_of(group.needing, "episode")}): state {rate_text(group, "state")}, '
            f'informed {rate_text(group, "informed")}.'
        )
    for key in OF_TALK:
        if n := group.rate(key).n:
            title = METRICS[key].title
            yield f'{title[0].upper()}{title[1:]} (K = {group.k}, {n}): {rate_text(group, key)}.'
    if group.endings.keys() - {Ending.FINISHED.name}:
        yield f'Endings with K = {group.k}: {_counts(group.endings)}.'
    if group.codes:
        yield f'Steps that failed with K = {group.k}: {_counts(group.codes)}.'
    if group.limits:
        yield f'Goals that were not reached with K = {group.k}, by cause: {_counts(group.limits)}.'
    if group.discarded:
        yield (
            f"Left out of the model's replies with K = {group.k}: "
            f'{count_of(group.discarded, "line")}: {group.malformed} malformed, '
            f'{group.refused} refused.'
        )


def _picture_lines(summary: RunSummary) -> Iterator[str]:
    """Yield what scenes from pictures were worth, and the judge that goes by them."""
    troubled = '' if summary.trouble == NO_TROUBLE else f' (trouble: {summary.trouble})'
    yield f'Scenes come from pictures{troubled}; the checker goes by the state of the simulator.'
    for group in summary.by_k:
        values = {key: METRICS[key].write(group.value(key)) or NOTHING for key in BY_PICTURES}
        yield (
            f'Objects in these scenes with K = {group.k}: recall {values["recall"]}, precision '
            f'{values["precision"]}; median errors {values["position_mm"]} mm (95th percentile '
            f'{values["position_p95_mm"]} mm) and {values["turned_deg"]} degrees.'
        )
        rates = {key: rate_text(group, key) for key in ('judge', 'false_accept', 'false_refuse')}
        yield (
            f'Judge by pictures with K = {group.k}: agrees with the checker {rates["judge"]}; '
            f'false accept {rates["false_accept"]} of {group.rate("false_accept").n}, false '
            f'refuse {rates["false_refuse"]} of {group.rate("false_refuse").n}.'
        )
    if summary.timing.picture_s is not None:
        yield f'{1000 * summary.timing.picture_s:.0f} ms for a picture, drawing included.'


def _counts(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{number} {name}' for name, number in counts.items())


def _run_lines(summary: RunSummary) -> Iterator[str]:
    """Yield what was lost and unsafe over all K."""
    lost = sum(group.infrastructure_failures for group in summary.by_k)
    if lost:
        errors = sum((Counter(group.lost_errors) for group in summary.by_k), Counter())
        noun = 'episode was' if lost == 1 else 'episodes were'
        yield (
            f'{lost} {noun} lost to infrastructure ({_counts(dict(sorted(errors.items())))}); in '
            'SR they count as not passed.'
        )
    counted = [(g.unsafe, g.unsafe_measured) for g in summary.by_k if g.unsafe is not None]
    if counted:
        commands, episodes = (sum(column) for column in zip(*counted, strict=True))
        yield f'Unsafe commands: {commands}, counted in {count_of(episodes, "episode")}.'


def _number(row: Figures, key: str) -> str:
    return METRICS[key].write(row.value(key))
