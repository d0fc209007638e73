"""A run's summary as tables on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from bbllm.bench.metrics.task_groups import MOST_ROWS, group_table
from bbllm.bench.report.summary import interval_text
from bbllm.bench.report.summary_rules import CAPTION as RULED_CAPTION
from bbllm.bench.report.summary_rules import is_ruled, lines_on_rules
from bbllm.core.phrases import count_of

COLUMNS = (
    *('n', 'SR', '95 %', 'informed', '95 % of it', 'GCR', 'EXEC', 'faithful', 'two hands'),
    *('loops', 'calls', 'tokens', 'false success', 'disputed', 'lost'),
)
RARE = (
    *('informed', '95 % of it', 'faithful', 'two hands', 'tokens', 'false success', 'disputed'),
    'lost',
)
"""Columns that are left out where there is nothing in them."""
HEADINGS = {'95 % of it': '95 %'}
CAPTION = 'loops: used, and in brackets what a planner spends that goes by the order listed'
KNOWING_CAPTION = (
    'state: the goal was reached; informed: with what was needed found out before the decision;\n'
    'the last row has both over the tasks in which something was needed, others have a dash\n'
    'loops: used, and in brackets what a planner spends that finds all out at once'
)
FALSE_CAPTION = '\nfalse success: ended as done, which the checker denies'
NOTHING = '–'
"""Stands where nothing had to be found out."""
NEEDING = 'to find out'
"""Names the row over the tasks in which something had to be found out."""
MOST_CODES = 6
_VERDICTS = {
    'A': 'better',
    'B': 'worse',
    'equal': 'no difference',
    'luck': 'may be luck',
    'unclear': 'not clear, interval and test disagree',
}
"""What the larger K is, by the verdict of a comparison."""


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """Print the tasks at the largest K, what each K adds, and the rest; not the closing line."""
    groups = summary['by_k']
    if groups:
        print_whole(_task_table(groups[-1], ruled=is_ruled(summary)), console)
        if groups[-1].get('groups'):
            print_whole(group_table(groups[-1]['groups']), console)
    if len(groups) > 1:
        print_whole(_k_table(groups, ruled=is_ruled(summary)), console)
    for line in lines_for_terminal(summary):
        console.print(line, markup=False, highlight=False)


def lines_for_terminal(summary: Mapping[str, Any]) -> list[str]:
    """Return what the tables do not show, one sentence a line."""
    lines = [*summary['notices']]
    lines += [_pair_line(pair) for pair in summary['paired'] if pair['pairs']]
    lines += [_knowing_line(group) for group in summary['by_k'] if group['needing']]
    lines += [_code_line(group) for group in summary['by_k'] if group['codes']]
    lines += lines_on_rules(summary['by_k'])
    lines += _lost_lines(summary)
    lines += _unsafe_lines(summary)
    lines += _cost_lines(summary)
    lines += summary.get('earlier') or ()
    if summary['played'] < summary['planned']:
        lines.append(f'{summary["played"]} of {summary["planned"]} episodes were played so far.')
    speed = summary['episodes_per_minute']
    if speed is not None:
        lines.append(f'{speed:.1f} episodes a minute.')
    return lines


def print_whole(table: Table, console: Console) -> None:
    """Print a table at its own width: where it is cut to a narrow one, no figure is left."""
    table.width = table.__rich_measure__(console, console.options.update(max_width=999)).maximum
    console.print(table, crop=False, soft_wrap=True)


def _task_table(group: Mapping[str, Any], *, ruled: bool) -> Table:
    knowing = bool(group['needing'])
    sums = {'all': _cells(group, knowing=knowing, ruled=ruled)}
    if knowing:
        sums[NEEDING] = _needing_cells(group)
    used = [any(row[i] for row in sums.values()) for i in range(len(COLUMNS))]
    shown = [i for i, name in enumerate(COLUMNS) if name not in RARE or used[i]]
    table = Table(
        title=f'K = {group["k"]}',
        title_justify='left',
        caption=_caption(group) + (RULED_CAPTION if ruled else ''),
        caption_justify='left',
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column('task', no_wrap=True)
    for i in shown:
        table.add_column(_heading(COLUMNS[i], group), justify='right', no_wrap=True)
    too_many = group.get('groups') and len(group['tasks']) > MOST_ROWS
    for task in () if too_many else group['tasks']:
        cells = _cells(task, knowing=knowing, ruled=ruled)
        table.add_row(titled(task), *(cells[i] for i in shown))
    table.add_section()
    for name, cells in sums.items():
        table.add_row(name, *(cells[i] for i in shown), style='bold')
    return table


def titled(task: Mapping[str, Any]) -> str:
    """Return the name of a task's row, after what its paper calls it: `T3 pick_heavier`."""
    return f'{task.get("label") or ""} {task["name"]}'.strip()


def _caption(group: Mapping[str, Any]) -> str:
    caption = KNOWING_CAPTION if group['needing'] else CAPTION
    told = group['needing'] or group['false_success']
    return caption + FALSE_CAPTION if told else caption


def _heading(column: str, group: Mapping[str, Any]) -> str:
    """Name a column; where something had to be found out, success is of two kinds."""
    return 'state' if column == 'SR' and group['needing'] else HEADINGS.get(column, column)


def _k_table(groups: Sequence[Mapping[str, Any]], *, ruled: bool) -> Table:
    """Return success by task and K: where feedback helps."""
    table = Table(title='SR by K', title_justify='left', box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column('task', no_wrap=True)
    for group in groups:
        table.add_column(f'K = {group["k"]}', justify='right', no_wrap=True)
    for rows in zip(*(group['tasks'] for group in groups), strict=True):
        table.add_row(titled(rows[0]), *(_number(row['sr']) for row in rows))
    table.add_section()
    table.add_row('all', *(_number(group['sr']) for group in groups), style='bold')
    table.add_row('95 %', *map(_rate_interval, groups))
    if any(group['needing'] for group in groups):
        for name, key in (('state', 'needing_sr'), ('informed', 'needing_informed')):
            table.add_row(f'{NEEDING}: {name}', *(_number(group[key]) for group in groups))
    rates = [('GCR', 'gcr'), ('EXEC', 'exec')]
    rates += [('faithful', 'faithful')] if ruled else []
    for name, key in rates:
        table.add_row(name, *(_number(group[key]) for group in groups))
    table.add_row('loops', *map(_loops, groups))
    return table


def _rate_interval(row: Mapping[str, Any]) -> str:
    return interval_text(row['sr_low'], row['sr_high']) if row['n'] else ''


def _cells(row: Mapping[str, Any], *, knowing: bool, ruled: bool) -> tuple[str, ...]:
    """
    Return what stands in the columns.

    Args:
        row: A task, or all of them.
        knowing: Whether something had to be found out in any task, so that success is twofold.
        ruled: Whether faithfulness is shown.
    """
    tokens = row['prompt_tokens'] + row['completion_tokens']
    false = str(row['false_success']) if knowing and row['n'] else _count(row['false_success'])
    return (
        str(row['n']),
        _number(row['sr']),
        _rate_interval(row),
        *(_informed_cells(row) if knowing else ('', '')),
        _number(row['gcr']),
        _number(row['exec']),
        *(_number(row.get(key)) if ruled else '' for key in ('faithful', 'faithful_two_hands')),
        _loops(row),
        str(row['model_calls']),
        f'{tokens:,}' if tokens else '',
        false,
        _count(row['disputed']),
        _count(row['infrastructure_failures']),
    )


def _informed_cells(row: Mapping[str, Any]) -> tuple[str, str]:
    # Of all tasks together it would be a share of other episodes than the state beside it.
    if not row['needing'] or row['needing'] < row['n']:
        return NOTHING, ''
    low, high = row['needing_informed_low'], row['needing_informed_high']
    return _number(row['needing_informed']), interval_text(low, high)


def _needing_cells(group: Mapping[str, Any]) -> tuple[str, ...]:
    """Return both kinds of success over the tasks that need something; the rest is not counted."""
    low, high = group['needing_sr_low'], group['needing_sr_high']
    known = dict.fromkeys(COLUMNS, '')
    known |= {'n': str(group['needing']), 'SR': _number(group['needing_sr'])}
    known['95 %'] = interval_text(low, high)
    known['informed'], known['95 % of it'] = _informed_cells({**group, 'n': group['needing']})
    return tuple(known.values())


def _loops(row: Mapping[str, Any]) -> str:
    """Return mean of the loops used, and of those that the tasks demand."""
    if row['loops'] is None:
        return ''
    least = row['least_loops']
    return f'{row["loops"]:.1f}' + (f' ({least:.1f})' if least is not None else '')


def _pair_line(pair: Mapping[str, Any]) -> str:
    whole, judged = (pair['differences'][key] for key in ('sr', 'sr_judged'))
    line = f'K = {pair["k_a"]} minus K = {pair["k_b"]}: SR {_difference(whole)}'
    if not judged['n']:
        return f'{line}, but in none of them was neither lost: no verdict.'
    if pair['lost_pairs']:
        line += f'; where neither was lost {_difference(judged)}'
    return f'{line}, McNemar p = {pair["mcnemar_p"]:.3g}: {_VERDICTS[pair["verdict"]]}.'


def _difference(values: Mapping[str, Any]) -> str:
    interval = interval_text(values['low'], values['high'])
    return f'{values["difference"]:+.2f} {interval} over {count_of(values["n"], "pair")}'


def _knowing_line(group: Mapping[str, Any]) -> str:
    """Say how both kinds of success compare where there was something to find out."""
    rates = ', '.join(
        f'{name} {_number(group[key])} {interval_text(group[f"{key}_low"], group[f"{key}_high"])}'
        for name, key in (('state', 'needing_sr'), ('informed', 'needing_informed'))
    )
    told = count_of(group['needing'], 'episode')
    return f'Where something had to be found out (K = {group["k"]}, {told}): {rates}.'


def _code_line(group: Mapping[str, Any]) -> str:
    codes = list(group['codes'].items())
    named = ', '.join(f'{count} {code}' for code, count in codes[:MOST_CODES])
    rest = sum(count for _, count in codes[MOST_CODES:])
    more = f', {count_of(rest, "other")}' if rest else ''
    return f'Steps that failed with K = {group["k"]}: {named}{more}.'


def _lost_lines(summary: Mapping[str, Any]) -> list[str]:
    lost = sum(group['infrastructure_failures'] for group in summary['by_k'])
    if not lost:
        return []
    errors: dict[str, int] = {}
    for group in summary['by_k']:
        for name, count in group['lost_errors'].items():
            errors[name] = errors.get(name, 0) + count
    named = ', '.join(f'{count} {name}' for name, count in sorted(errors.items()))
    why = f' ({named})' if named else ''
    noun = 'episode was' if lost == 1 else 'episodes were'
    return [f'{lost} {noun} lost to infrastructure{why}; in SR they count as not passed.']


def _unsafe_lines(summary: Mapping[str, Any]) -> list[str]:
    groups = [group for group in summary['by_k'] if group['unsafe'] is not None]
    if not groups:
        return []
    commands = sum(group['unsafe'] for group in groups)
    episodes = sum(group['unsafe_measured'] for group in groups)
    return [f'Unsafe commands: {commands}, counted in {count_of(episodes, "episode")}.']


def _cost_lines(summary: Mapping[str, Any]) -> list[str]:
    costs = [group['cost'] for group in summary['by_k']]
    if summary['currency'] is None or not summary['played']:
        return []
    if summary['unpriced_models']:
        named = ', '.join(summary['unpriced_models'])
        return [f'The cost is not known: the price table lacks {named}.']
    if None in costs:
        return ['The cost is not known: of some episodes not all tokens were counted.']
    return [f'Cost: {sum(costs):.4g} {summary["currency"]}.']


def _number(value: float | None) -> str:
    return '' if value is None else f'{value:.2f}'


def _count(value: int) -> str:
    return str(value) if value else ''
