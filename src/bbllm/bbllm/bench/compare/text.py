"""A comparison as tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bbllm.bench.report.summary import interval_text
from bbllm.core.phrases import count_of

NOTHING = '–'
INTERVALS = 'Below each figure is its 95 % interval over cases.'
RULES = (
    'faithful: episodes that broke no rule; two hands: the same where holding two things breaks '
    'none.'
)
HELD_ONCE = (
    'held once: of all episodes, as SR, those in which all conditions of the goal held at once, '
    'at the start or after some step; so FLTRNN counts a success.'
)
LEFT_OUT = ('malformed', 'refused')
KINDS = (
    'malformed, refused: lines of replies that were left out since they fit no grammar, or since '
    'they name what is not there or are against a check of the planner, in all episodes. A '
    'planner that does not read replies line by line has 0, which says nothing of its replies.'
)
COSTS = (
    'calls, tokens: of an episode; a step: tokens of its prompts for each step; grows: tokens by '
    'which a prompt is longer for each step that is done; stable: share of the prompts that an '
    'earlier prompt of the episode began with; a minute: episodes.'
)
ESTIMATED = '~: the server counted no tokens; those of prompts are estimated.'
PAIRED = 'Over the cases that both played and neither lost.'
P_VALUES = (
    "p: McNemar's for SR, and below it after the correction of Holm for the number of planners."
)
OUTCOMES = {
    'sr_judged': ('SR', 2),
    'gcr': ('GCR', 2),
    'exec': ('EXEC', 2),
    'faithful': ('faithful', 2),
}
EXPENSES = {'model_calls': ('calls', 1), 'tokens': ('tokens', 0), 'robot_s': ('robot, s', 1)}
"""Measures of bench.pairs that are told: what each is called, and with how many digits."""
_VERDICTS = {
    'A': 'better',
    'B': 'worse',
    'equal': 'equal',
    'luck': 'may be luck',
    'unclear': 'not clear',
    'none': 'no verdict',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table; cells may have two lines, a figure and its interval."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ''


def grids_of(data: Mapping[str, Any]) -> tuple[Grid, ...]:
    """Return the tables of a comparison: figures, differences, and the parts of the suite."""
    grids = [_outcomes(data), _costs(data)]
    if data['paired']:
        grids.append(_differences(data, OUTCOMES, tested=True))
        grids.append(_differences(data, EXPENSES, tested=False))
    return (*grids, *(_parts(by, parts) for by, parts in data['parts'].items()))


def markdown(data: Mapping[str, Any], pictures: Sequence[str]) -> str:
    """
    Return a comparison as a page of Markdown.

    Args:
        data: What `compare.json` holds.
        pictures: Names of the picture files beside it.
    """
    limits = budgets_text(data['limits'], own=data['own_limits'])
    lines = [
        f'# {data["suite"]}: {count_of(len(data["planners"]), "planner")} compared',
        '',
        f'Brain {data["brain"]}, seed {data["seed"]}, {count_of(data["trials"], "trial")} of each '
        f'task. Each episode has the same budget: {limits}.',
        '',
        *(f'> {notice}' for notice in data['notices']),
    ]
    for grid in grids_of(data):
        lines += ['', f'## {grid.title}', '', _line(grid.header)]
        lines.append(_line([':--', *('--:' for _ in grid.header[1:])]))
        lines += [_line(row) for row in grid.rows]
        lines += ['', grid.caption] if grid.caption else []
    for name in pictures:
        lines += ['', f'![Tokens of prompts, by steps]({name})']
    if data['left_out']:
        lines += ['', '## Left out', '']
        lines += [f'- `{item["planner"]}`: {item["reason"]}' for item in data['left_out']]
    return '\n'.join(lines) + '\n'


def budgets_text(limits: Mapping[str, Any], *, own: bool) -> str:
    """
    Say what an episode may use.

    Args:
        limits: Those of the run.
        own: Whether some tasks of the suite allow fewer steps.
    """
    named = {'steps': 'steps', 'model_calls': 'model calls', 'tokens': 'tokens', 'wall_s': 's'}
    given = [f'{limits[key]:g} {word}' for key, word in named.items() if limits.get(key)]
    fewer = '; of steps no more than its task says' if own else ''
    return f'{", ".join(given) or "no limit"}{fewer}'


def closing_line(data: Mapping[str, Any]) -> str:
    """Return the last line that a comparison prints; programs read it."""
    rates = ' '.join(f'{row["planner"]}={row["sr"]:.2f}' for row in data['planners'])
    return f'{data["suite"]} brain={data["brain"]} SR {rates}'


def _outcomes(data: Mapping[str, Any]) -> Grid:
    rated = any(row['faithful'] is not None for row in data['planners'])
    rates = {'sr': 'SR', 'gcr': 'GCR', 'exec': 'EXEC'}
    rates |= {'faithful': 'faithful', 'faithful_two_hands': 'two hands'} if rated else {}
    watched = any(row.get('held_once') is not None for row in data['planners'])
    rates |= {'held_once': 'held once'} if watched else {}
    left_out = [key for key in LEFT_OUT if any(row.get(key) for row in data['planners'])]
    return Grid(
        title='Outcomes',
        header=('planner', 'K', 'n', *rates.values(), *left_out),
        rows=tuple(
            (
                row['planner'],
                f'{row["k"]}',
                _played(row),
                *(_cell(row, name, 2) for name in rates),
                *(_count_cell(row, key) for key in left_out),
            )
            for row in data['planners']
        ),
        caption=' '.join(
            [INTERVALS, *[RULES] * rated, *[HELD_ONCE] * watched, *[KINDS] * bool(left_out)]
        ),
    )


def _costs(data: Mapping[str, Any]) -> Grid:
    rows, estimated = [], False
    for row in data['planners']:
        about = '~' if row['tokens_estimated'] else ''
        estimated = estimated or bool(about)
        rows.append(
            (
                row['planner'],
                _cell(row, 'calls', 1),
                _cell(row, 'tokens', 0, about),
                _cell(row, 'step_tokens', 0, about),
                _cell(row, 'growth', 1, about),
                _cell(row, 'stable_share', 2),
                NOTHING if (rate := row['episodes_per_minute']) is None else f'{rate:.0f}',
            )
        )
    return Grid(
        title='Costs',
        header=('planner', 'calls', 'tokens', 'a step', 'grows', 'stable', 'a minute'),
        rows=tuple(rows),
        caption=' '.join([COSTS, *[ESTIMATED] * estimated]),
    )


def _differences(
    data: Mapping[str, Any], measures: Mapping[str, tuple[str, int]], *, tested: bool
) -> Grid:
    """Return what each planner has more than the first, and whether its success is beyond luck."""
    known = {name for pair in data['paired'] for name in pair['differences']}
    told = {name: measure for name, measure in measures.items() if name in known}
    rows = []
    for pair in data['paired']:
        cells = [
            _difference(pair['differences'].get(name), digits)
            for name, (_, digits) in told.items()
        ]
        verdict = [_p_values(pair), _VERDICTS[pair['verdict']]] if tested else []
        n = str(pair['pairs'] - pair['lost_pairs'])
        rows.append((pair['planner'], n, *cells, *verdict))
    what = 'outcomes' if tested else 'costs'
    return Grid(
        title=f'Each planner minus {data["against"]}: {what}',
        header=(
            *('planner', 'pairs'),
            *(title for title, _ in told.values()),
            *(('p', 'SR is') if tested else ()),
        ),
        rows=tuple(rows),
        caption=' '.join([PAIRED, *[P_VALUES] * tested]),
    )


def _played(row: Mapping[str, Any]) -> str:
    lost = row['infrastructure_failures']
    of = '' if row['n'] == row['planned'] else f' of {row["planned"]}'
    return f'{row["n"]}{of}' + (f'\n{lost} lost' if lost else '')


def _count_cell(row: Mapping[str, Any], key: str) -> str:
    count = row.get(key)
    return NOTHING if count is None else f'{count}'


def _p_values(pair: Mapping[str, Any]) -> str:
    if pair.get('holm_p') is None:
        return NOTHING
    return f'{pair["mcnemar_p"]:.2g}\n{pair["holm_p"]:.2g}'


def _parts(by: str, parts: Mapping[str, Mapping[str, Any]]) -> Grid:
    planners = list(next(iter(parts.values())))
    return Grid(
        title=f'SR by {by}',
        header=('planner', *parts),
        rows=tuple(
            (planner, *(_part_cell(of_planner[planner]) for of_planner in parts.values()))
            for planner in planners
        ),
    )


def _part_cell(row: Mapping[str, Any]) -> str:
    if not row['n']:
        return NOTHING
    figure, _, interval = _cell(row, 'sr', 2).partition('\n')
    # An interval over one case tells nothing.
    second = f'{interval} n = {row["n"]}'.strip() if row['n'] > 1 else 'n = 1'
    return f'{figure}\n{second}'


def _cell(row: Mapping[str, Any], name: str, digits: int, about: str = '') -> str:
    """Write a figure, and its interval in a line of its own."""
    if row[name] is None:
        return NOTHING
    low, high = row[f'{name}_low'], row[f'{name}_high']
    figure = f'{about}{row[name]:,.{digits}f}'
    if low is None or high is None:
        return figure
    bounds = (
        interval_text(low, high) if digits == 2 else f'[{low:,.{digits}f}, {high:,.{digits}f}]'
    )
    return f'{figure}\n{bounds}'


def _difference(values: Mapping[str, Any] | None, digits: int) -> str:
    if values is None or values['difference'] is None:
        return NOTHING
    figure = f'{values["difference"]:+,.{digits}f}'
    if values['low'] is None:
        return figure
    return f'{figure}\n[{values["low"]:+,.{digits}f}, {values["high"]:+,.{digits}f}]'


def _line(cells: Sequence[str]) -> str:
    return f'| {" | ".join(cell.replace(chr(10), "<br>") for cell in cells)} |'
