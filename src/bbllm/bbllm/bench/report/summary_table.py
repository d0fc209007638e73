"""A run's summary as tables on a terminal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, islice

from rich import box
from rich.console import Console
from rich.table import Table

from bbllm.bench.metrics.metrics import METRICS, Figures
from bbllm.bench.metrics.pairs import Comparison, PairedDifference
from bbllm.bench.report.summary import GroupFigures, KFigures, RunSummary, rate_text
from bbllm.bench.report.words import interval
from bbllm.core.text import count_of

INTERVAL = '95 %'
RARE = (
    *('informed', 'faithful', 'two hands', 'tokens', 'false success', 'lost'),
    'informed 95 %',
)
"""Columns that are left out where they are empty."""
CAPTION = 'loops: used, and in brackets what a planner spends that goes by the order listed'
KNOWING_CAPTION = (
    'state: the goal was reached; informed: with what was needed found out before the decision;\n'
    'the last row has both over the tasks in which something was needed, others have a dash\n'
    'loops: used, and in brackets what a planner spends that finds all out at once'
)
FALSE_CAPTION = '\nfalse success: ended as done, which the checker denies'
RULED_CAPTION = (
    '\nfaithful: broke no rule, of which one is to hold one object at a time; '
    'two hands: the same without that one'
)
ESTIMATED_CAPTION = '\ntokens: ~ where the server counted none, and those of prompts are estimated'
NOTHING = '–'
"""Stands where nothing had to be found out."""
NEEDING = 'to find out'
"""Names the row over the tasks in which something had to be found out."""
MOST_CODES = 6
MOST_ROWS = 60
"""A table of more tasks than these is left out where there are groups; the files have it."""
OF_GROUPS = ('sr', 'gcr', 'exec', 'faithful')
_VERDICTS = {
    'A': 'better',
    'B': 'worse',
    'equal': 'no difference',
    'luck': 'may be luck',
    'unclear': 'not clear, interval and test disagree',
}
"""By the verdict of a comparison, the larger K."""


def print_summary(summary: RunSummary, console: Console) -> None:
    """Print the tasks at the largest K, what each K adds, and the rest; not the closing line."""
    groups = summary.by_k
    if groups:
        print_whole(_task_table(groups[-1], ruled=summary.is_ruled), console)
        if groups[-1].groups:
            print_whole(_group_table(groups[-1].groups), console)
    if len(groups) > 1:
        print_whole(_k_table(groups, ruled=summary.is_ruled), console)
    for line in lines_for_terminal(summary):
        console.print(line, markup=False, highlight=False)


def lines_for_terminal(summary: RunSummary) -> list[str]:
    """Return what the tables do not show, one sentence a line."""
    groups = summary.by_k
    lines = [*summary.notices]
    lines += [_pair_line(pair) for pair in summary.paired if pair.pairs]
    lines += [
        f'Where something had to be found out (K = {group.k}, '
        f'{count_of(group.needing, "episode")}): state {rate_text(group, "state")}, '
        f'informed {rate_text(group, "informed")}.'
        for group in groups
        if group.needing
    ]
    lines += [_code_line(group) for group in groups if group.codes]
    lines += [
        f'Rules broken with K = {group.k}: {_counts(group.broken_rules)}. '
        f'Faithful {rate_text(group, "faithful")}, '
        f'two hands allowed {rate_text(group, "faithful_two_hands")}.'
        for group in groups
        if group.broken_rules
    ]
    lines += [
        f"Left out of the model's replies with K = {group.k}: "
        f'{count_of(group.discarded, "line")}: {group.malformed} malformed, '
        f'{group.refused} refused.'
        for group in groups
        if group.discarded
    ]
    lines += [
        'All conditions of the goal held at once, at the start or after some step, with '
        f'K = {group.k}: {rate_text(group, "held_once")} of all episodes. '
        'So FLTRNN counts a success.'
        for group in groups
        if group.rate('held_once').n
    ]
    lines += _lost_lines(summary)
    lines += _unsafe_lines(summary)
    lines += _cost_lines(summary)
    lines += summary.earlier
    if summary.played < summary.planned:
        lines.append(f'{summary.played} of {summary.planned} episodes were played so far.')
    if summary.episodes_per_minute is not None:
        lines.append(f'{summary.episodes_per_minute:.1f} episodes a minute.')
    return lines


def print_whole(table: Table, console: Console) -> None:
    """Print a table at its own width: where it is cut to a narrow one, no figure is left."""
    table.width = table.__rich_measure__(console, console.options.update(max_width=999)).maximum
    console.print(table, crop=False, soft_wrap=True)


def _table(first: str, headings: Sequence[str], title: str | None = None) -> Table:
    table = Table(title=title, title_justify='left', box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify='right', no_wrap=True)
    return table


def _task_table(group: KFigures, *, ruled: bool) -> Table:
    knowing = bool(group.needing)
    sums = {'all': _cells(group, knowing=knowing, ruled=ruled)}
    if knowing:
        sums[NEEDING] = _needing_cells(group)
    columns = list(sums['all'])
    shown = [c for c in columns if c not in RARE or any(row.get(c) for row in sums.values())]
    # Where something had to be found out, success is of two kinds.
    renamed = {'SR': 'state'} if knowing else {}
    headings = [renamed.get(c, INTERVAL if c.endswith(INTERVAL) else c) for c in shown]
    table = _table('task', headings, f'K = {group.k}')
    table.caption = _caption(group, ruled=ruled)
    table.caption_justify = 'left'
    too_many = group.groups and len(group.tasks) > MOST_ROWS
    for task in () if too_many else group.tasks:
        cells = _cells(task, knowing=knowing, ruled=ruled)
        table.add_row(task.title, *(cells[c] for c in shown))
    table.add_section()
    for name, cells in sums.items():
        table.add_row(name, *(cells.get(c, '') for c in shown), style='bold')
    return table


def _caption(group: KFigures, *, ruled: bool) -> str:
    return ''.join(
        [
            KNOWING_CAPTION if group.needing else CAPTION,
            FALSE_CAPTION if group.needing or group.false_success else '',
            RULED_CAPTION if ruled else '',
            ESTIMATED_CAPTION if group.tokens_estimated else '',
        ]
    )


def _cells(row: Figures, *, knowing: bool, ruled: bool) -> dict[str, str]:
    """Return the cells of a row by column; with *knowing*, success is of two kinds."""
    # Of all tasks together it would be a share of other episodes than the state beside it.
    informed = row.needing and row.needing == row.n
    return {
        'n': str(row.n),
        'SR': _number(row, 'sr'),
        INTERVAL: _interval(row, 'sr') if row.n else '',
        'informed': (_number(row, 'informed') if informed else NOTHING) if knowing else '',
        f'informed {INTERVAL}': _interval(row, 'informed') if informed else '',
        'GCR': _number(row, 'gcr'),
        'EXEC': _number(row, 'exec'),
        'faithful': _number(row, 'faithful') if ruled else '',
        'two hands': _number(row, 'faithful_two_hands') if ruled else '',
        'loops': _loops(row),
        'calls': str(row.model_calls),
        'tokens': row.tokens_text,
        'false success': str(row.false_success or ('0' if knowing and row.n else '')),
        'lost': str(row.infrastructure_failures or ''),
    }


def _needing_cells(group: KFigures) -> dict[str, str]:
    """Return both kinds of success over the tasks that need something; the rest is not counted."""
    return {
        'n': str(group.needing),
        'SR': _number(group, 'state'),
        INTERVAL: _interval(group, 'state'),
        'informed': _number(group, 'informed'),
        f'informed {INTERVAL}': _interval(group, 'informed'),
    }


def _group_table(groups: Sequence[GroupFigures]) -> Table:
    shown = [key for key in OF_GROUPS if any(row.value(key) is not None for row in groups)]
    columns = [h for key in shown for h in (METRICS[key].label, *[INTERVAL] * (key == 'sr'))]
    table = _table('group', ('tasks', 'n', *columns))
    for by, rows in groupby(groups, key=lambda row: row.by):
        table.add_section()
        for row in rows:
            cells = []
            for key in shown:
                cells.append(_number(row, key))
                # An interval over one case says nothing.
                cells += [_interval(row, key) if row.n > 1 else ''] * (key == 'sr')
            table.add_row(f'{by} {row.name}', str(row.n_tasks), str(row.n), *cells)
    return table


def _k_table(groups: Sequence[KFigures], *, ruled: bool) -> Table:
    """Return success by task and K: where feedback helps."""
    table = _table('task', [f'K = {group.k}' for group in groups], 'SR by K')
    for rows in zip(*(group.tasks for group in groups), strict=True):
        table.add_row(rows[0].title, *(_number(row, 'sr') for row in rows))
    table.add_section()
    table.add_row('all', *(_number(group, 'sr') for group in groups), style='bold')
    table.add_row(INTERVAL, *(_interval(group, 'sr') if group.n else '' for group in groups))
    if any(group.needing for group in groups):
        for key in ('state', 'informed'):
            table.add_row(f'{NEEDING}: {key}', *(_number(group, key) for group in groups))
    rates = {'GCR': 'gcr', 'EXEC': 'exec'} | ({'faithful': 'faithful'} if ruled else {})
    for name, key in rates.items():
        table.add_row(name, *(_number(group, key) for group in groups))
    table.add_row('loops', *map(_loops, groups))
    return table


def _loops(row: Figures) -> str:
    """Return mean of the loops used, and of those that the tasks demand."""
    loops, least = row.value('loops'), row.least_loops
    if loops is None:
        return ''
    return f'{loops:.1f}' + (f' ({least:.1f})' if least is not None else '')


def _pair_line(pair: Comparison) -> str:
    line = f'K = {pair.k_a} minus K = {pair.k_b}: SR {_difference(pair.differences["sr"])}'
    if not pair.judged.difference.n:
        return f'{line}, but in none of them was neither lost: no verdict.'
    if pair.lost_pairs:
        line += f'; where neither was lost {_difference(pair.judged)}'
    return f'{line}, McNemar p = {pair.mcnemar_p:.3g}: {_VERDICTS[pair.verdict]}.'


def _difference(item: PairedDifference) -> str:
    found = item.difference
    bounds = interval(found.low, found.high)
    return f'{found.value or 0:+.2f} {bounds} over {count_of(found.n, "pair")}'


def _code_line(group: KFigures) -> str:
    shown = dict(islice(group.codes.items(), MOST_CODES))
    rest = sum(group.codes.values()) - sum(shown.values())
    more = f', {count_of(rest, "other")}' if rest else ''
    return f'Steps that failed with K = {group.k}: {_counts(shown)}{more}.'


def _counts(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{number} {name}' for name, number in counts.items())


def _lost_lines(summary: RunSummary) -> list[str]:
    lost = sum(group.infrastructure_failures for group in summary.by_k)
    if not lost:
        return []
    errors: Counter[str] = Counter()
    for group in summary.by_k:
        errors.update(group.lost_errors)
    why = f' ({_counts(dict(sorted(errors.items())))})' if errors else ''
    noun = 'episode was' if lost == 1 else 'episodes were'
    return [f'{lost} {noun} lost to infrastructure{why}; in SR they count as not passed.']


def _unsafe_lines(summary: RunSummary) -> list[str]:
    counted = [(g.unsafe, g.unsafe_measured) for g in summary.by_k if g.unsafe is not None]
    if not counted:
        return []
    commands, episodes = (sum(column) for column in zip(*counted, strict=True))
    return [f'Unsafe commands: {commands}, counted in {count_of(episodes, "episode")}.']


def _cost_lines(summary: RunSummary) -> list[str]:
    if summary.currency is None or not summary.played:
        return []
    if summary.unpriced_models:
        named = ', '.join(summary.unpriced_models)
        return [f'The cost is not known: the price table lacks {named}.']
    costs = [group.cost for group in summary.by_k if group.cost is not None]
    if len(costs) < len(summary.by_k):
        return ['The cost is not known: of some episodes not all tokens were counted.']
    return [f'Cost: {sum(costs):.4g} {summary.currency}.']


def _number(row: Figures, key: str) -> str:
    return METRICS[key].write(row.value(key))


def _interval(row: Figures, key: str) -> str:
    rate = row.rate(key)
    return interval(rate.low, rate.high)
