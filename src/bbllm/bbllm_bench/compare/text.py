"""A comparison as tables, for a terminal and as Markdown."""

from collections.abc import Mapping, Sequence

from bbllm.core.text import count_of
from bbllm_bench.compare.figures import PlannerComparison, PlannerFigures
from bbllm_bench.log.intervals import Estimate
from bbllm_bench.metrics.metrics import COSTS, METRICS
from bbllm_bench.metrics.pairs import Comparison
from bbllm_bench.report.grid import Grid, grid_of, markdown_of

ABOUT_OUTCOMES = {
    'planner': 'Below each figure is its 95 % interval over cases.',
    'repaired': 'repaired: success in the episodes that used a feedback loop.',
    'malformed': 'malformed: lines of replies that were left out since they fit no grammar.',
    'refused': (
        'refused: lines that name what is not there or are against a check of the planner. A '
        'planner that does not read replies line by line has none of both kinds, which says '
        'nothing of its replies.'
    ),
}
ABOUT_COSTS = (
    'calls, tokens: of an episode; stable: share of the prompts that an earlier prompt of the '
    'episode began with; a minute: episodes.'
)
ESTIMATED = '~: the server counted no tokens; those of prompts are estimated.'
ABOUT_DIFFERENCES = {
    'planner': 'Over the cases that both played and neither lost.',
    'p': (
        "p: McNemar's for SR, and below it after the correction of Holm for the number of "
        'planners.'
    ),
}
RATES = ('sr', 'gcr', 'exec', 'repaired')
OUTCOMES = ('sr_judged', 'gcr', 'exec', 'repaired')
EXPENSES = ('model_calls', 'tokens', 'robot_s')
"""The differences in the tables."""
VERDICTS = {
    'A': 'better',
    'B': 'worse',
    'equal': 'equal',
    'luck': 'may be luck',
    'unclear': 'not clear',
    'none': 'no verdict',
}


def grids_of(data: PlannerComparison) -> tuple[Grid, ...]:
    """Return the tables of a comparison: figures and differences."""
    grids = [_outcomes(data), _costs(data)]
    if data.paired:
        grids.append(_differences(data, OUTCOMES, tested=True))
        grids.append(_differences(data, EXPENSES, tested=False))
    return tuple(grids)


def markdown(data: PlannerComparison) -> str:
    """Return a comparison as a page of Markdown."""
    limits = budgets_text(data.limits, own=data.own_limits)
    lines = [
        f'# {data.suite}: {count_of(len(data.planners), "planner")} compared',
        '',
        f'Brain {data.brain}, seed {data.seed}, {count_of(data.trials, "trial")} of each '
        f'task. Each episode has the same budget: {limits}.',
        '',
        *(f'> {notice}' for notice in data.notices),
    ]
    for grid in grids_of(data):
        lines += ['', *markdown_of(grid)]
    if data.left_out:
        lines += ['', '## Left out', '']
        lines += [f'- `{item.planner}`: {item.reason}' for item in data.left_out]
    return '\n'.join(lines) + '\n'


def budgets_text(limits: Mapping[str, float | None], *, own: bool) -> str:
    """Return the budget of an episode in words; *own*: some tasks allow fewer steps."""
    named = {'steps': 'steps', 'model_calls': 'model calls', 'tokens': 'tokens', 'wall_s': 's'}
    given = [f'{limit:g} {word}' for key, word in named.items() if (limit := limits.get(key))]
    fewer = '; of steps no more than its task states' if own else ''
    return f'{", ".join(given) or "no limit"}{fewer}'


def closing_line(data: PlannerComparison) -> str:
    """Return the last line that a comparison prints; programs read it."""
    rates = ' '.join(f'{row.planner}={row.value("sr"):.2f}' for row in data.planners)
    return f'{data.suite} brain={data.brain} SR {rates}'


def _outcomes(data: PlannerComparison) -> Grid:
    rows = [
        {
            'planner': row.planner,
            'K': str(row.k),
            'n': played(row),
            **{METRICS[key].label: cell(key, row.rate(key)) for key in RATES},
            'malformed': str(row.malformed or ''),
            'refused': str(row.refused or ''),
        }
        for row in data.planners
    ]
    return grid_of('Outcomes', rows, notes=ABOUT_OUTCOMES)


def _costs(data: PlannerComparison) -> Grid:
    rows = []
    for row in data.planners:
        rate = row.episodes_per_minute
        about = {'tokens': '~' * row.tokens_estimated}
        cells = {
            METRICS[k].label: cell(k, row.rate(k), about.get(k, ''))
            for k in COSTS
            if k not in RATES
        }
        minute = '' if rate is None else f'{rate:.0f}'
        rows.append({'planner': row.planner, **cells, 'a minute': minute})
    estimated = any(row.tokens_estimated for row in data.planners)
    notes = {'planner': ABOUT_COSTS, 'tokens': ESTIMATED if estimated else ''}
    return grid_of('Costs', rows, notes=notes)


def _differences(data: PlannerComparison, keys: Sequence[str], *, tested: bool) -> Grid:
    """Return what each planner has more than the first, and whether its success is beyond luck."""
    rows = []
    for pair in data.paired:
        found = pair.comparison
        cells = {
            'SR' if key == 'sr_judged' else METRICS[key].label: cell(
                key, found.differences[key].difference, sign=True
            )
            for key in keys
            if key in found.differences
        }
        cells = {'planner': pair.planner, 'pairs': str(found.pairs - found.lost_pairs), **cells}
        if tested:
            cells |= {'p': p_values(found), 'SR is': VERDICTS[found.verdict]}
        rows.append(cells)
    what = 'outcomes' if tested else 'costs'
    title = f'Each planner minus {data.against}: {what}'
    return grid_of(title, rows, notes=ABOUT_DIFFERENCES)


def played(row: PlannerFigures) -> str:
    lost = row.infrastructure_failures
    of = '' if row.n == row.planned else f' of {row.planned}'
    return f'{row.n}{of}' + (f'\n{lost} lost' if lost else '')


def p_values(found: Comparison) -> str:
    return '' if found.holm_p is None else f'{found.mcnemar_p:.2g}\n{found.holm_p:.2g}'


def cell(key: str, found: Estimate, about: str = '', *, sign: bool = False) -> str:
    """Return a figure, and its interval in a second line; '' where nothing was measured."""
    if found.value is None:
        return ''
    metric = METRICS[key]
    figure = f'{about}{metric.write(found.value, sign=sign)}'
    if found.low is None:
        return figure
    bounds = ', '.join(metric.write(bound, sign=sign) for bound in (found.low, found.high))
    return f'{figure}\n[{bounds}]'
