"""A comparison as tables, for a terminal and as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bbllm.bench.compare.figures import PartFigures, PlannerComparison, PlannerFigures
from bbllm.bench.log.intervals import Estimate
from bbllm.bench.metrics.metrics import METRICS, Metric
from bbllm.bench.metrics.pairs import Comparison
from bbllm.core.text import count_of

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
TOKENS = ('tokens', 'step_tokens', 'growth')
OUTCOMES = ('sr_judged', 'gcr', 'exec', 'faithful')
EXPENSES = ('model_calls', 'tokens', 'robot_s')
"""The differences in the tables."""
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


def grids_of(data: PlannerComparison) -> tuple[Grid, ...]:
    """Return the tables of a comparison: figures, differences, and the parts of the suite."""
    grids = [_outcomes(data), _costs(data)]
    if data.paired:
        grids.append(_differences(data, OUTCOMES, tested=True))
        grids.append(_differences(data, EXPENSES, tested=False))
    return (*grids, *(_parts(by, parts) for by, parts in data.parts.items()))


def markdown(data: PlannerComparison, pictures: Sequence[str]) -> str:
    """Return a comparison as a page of Markdown, with the names of the picture files beside it."""
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
        lines += ['', f'## {grid.title}', '', _line(grid.header)]
        lines.append(_line([':--', *('--:' for _ in grid.header[1:])]))
        lines += [_line(row) for row in grid.rows]
        lines += ['', grid.caption] if grid.caption else []
    for name in pictures:
        lines += ['', f'![Tokens of prompts, by steps]({name})']
    if data.left_out:
        lines += ['', '## Left out', '']
        lines += [f'- `{item.planner}`: {item.reason}' for item in data.left_out]
    return '\n'.join(lines) + '\n'


def budgets_text(limits: Mapping[str, float | None], *, own: bool) -> str:
    """Return the budget of an episode in words; *own*: some tasks allow fewer steps."""
    named = {'steps': 'steps', 'model_calls': 'model calls', 'tokens': 'tokens', 'wall_s': 's'}
    given = [f'{limit:g} {word}' for key, word in named.items() if (limit := limits.get(key))]
    fewer = '; of steps no more than its task says' if own else ''
    return f'{", ".join(given) or "no limit"}{fewer}'


def closing_line(data: PlannerComparison) -> str:
    """Return the last line that a comparison prints; programs read it."""
    rates = ' '.join(f'{row.planner}={row.value("sr"):.2f}' for row in data.planners)
    return f'{data.suite} brain={data.brain} SR {rates}'


def _outcomes(data: PlannerComparison) -> Grid:
    rated = any(row.rate('faithful').n for row in data.planners)
    watched = any(row.rate('held_once').n for row in data.planners)
    keys = ['sr', 'gcr', 'exec', *['faithful', 'faithful_two_hands'] * rated]
    keys += ['held_once'] * watched
    kinds = [
        name
        for name in ('malformed', 'refused')
        if any(getattr(row, name) for row in data.planners)
    ]
    return Grid(
        title='Outcomes',
        header=('planner', 'K', 'n', *(METRICS[key].label for key in keys), *kinds),
        rows=tuple(
            (
                row.planner,
                f'{row.k}',
                _played(row),
                *(_cell(METRICS[key], row.rate(key)) for key in keys),
                *(f'{getattr(row, name)}' for name in kinds),
            )
            for row in data.planners
        ),
        caption=' '.join(
            [INTERVALS, *[RULES] * rated, *[HELD_ONCE] * watched, *[KINDS] * bool(kinds)]
        ),
    )


def _costs(data: PlannerComparison) -> Grid:
    keys = ('model_calls', 'tokens', 'step_tokens', 'growth', 'stable_share')
    estimated = any(row.tokens_estimated for row in data.planners)
    return Grid(
        title='Costs',
        header=('planner', *(METRICS[key].label for key in keys), 'a minute'),
        rows=tuple(
            (
                row.planner,
                *(
                    _cell(
                        METRICS[key], row.rate(key), '~' * (row.tokens_estimated and key in TOKENS)
                    )
                    for key in keys
                ),
                NOTHING if (rate := row.episodes_per_minute) is None else f'{rate:.0f}',
            )
            for row in data.planners
        ),
        caption=' '.join([COSTS, *[ESTIMATED] * estimated]),
    )


def _differences(data: PlannerComparison, keys: Sequence[str], *, tested: bool) -> Grid:
    """Return what each planner has more than the first, and whether its success is beyond luck."""
    known = {key for pair in data.paired for key in pair.comparison.differences}
    shown = [METRICS[key] for key in keys if key in known]
    rows = []
    for pair in data.paired:
        found = pair.comparison
        given = {key: item.difference for key, item in found.differences.items()}
        cells = [_cell(metric, given.get(metric.key), sign=True) for metric in shown]
        verdict = [_p_values(found), _VERDICTS[found.verdict]] if tested else []
        rows.append((pair.planner, str(found.pairs - found.lost_pairs), *cells, *verdict))
    what = 'outcomes' if tested else 'costs'
    labels = ('SR' if metric.key == 'sr_judged' else metric.label for metric in shown)
    return Grid(
        title=f'Each planner minus {data.against}: {what}',
        header=('planner', 'pairs', *labels, *(('p', 'SR is') if tested else ())),
        rows=tuple(rows),
        caption=' '.join([PAIRED, *[P_VALUES] * tested]),
    )


def _played(row: PlannerFigures) -> str:
    lost = row.infrastructure_failures
    of = '' if row.n == row.planned else f' of {row.planned}'
    return f'{row.n}{of}' + (f'\n{lost} lost' if lost else '')


def _p_values(found: Comparison) -> str:
    if found.holm_p is None:
        return NOTHING
    return f'{found.mcnemar_p:.2g}\n{found.holm_p:.2g}'


def _parts(by: str, parts: Mapping[str, Mapping[str, PartFigures]]) -> Grid:
    planners = list(next(iter(parts.values())))
    return Grid(
        title=f'SR by {by}',
        header=('planner', *parts),
        rows=tuple(
            (planner, *(_part_cell(of_planner[planner]) for of_planner in parts.values()))
            for planner in planners
        ),
    )


def _part_cell(row: PartFigures) -> str:
    if not row.n:
        return NOTHING
    figure, _, interval = _cell(METRICS['sr'], row.sr).partition('\n')
    # An interval over one case says nothing.
    second = f'{interval} n = {row.n}'.strip() if row.n > 1 else 'n = 1'
    return f'{figure}\n{second}'


def _cell(metric: Metric, found: Estimate | None, about: str = '', *, sign: bool = False) -> str:
    """Return a figure, and its interval in a second line."""
    if found is None or found.value is None:
        return NOTHING
    figure = f'{about}{metric.write(found.value, sign=sign)}'
    if found.low is None:
        return figure
    bounds = ', '.join(metric.write(bound, sign=sign) for bound in (found.low, found.high))
    return f'{figure}\n[{bounds}]'


def _line(cells: Sequence[str]) -> str:
    return f'| {" | ".join(cell.replace(chr(10), "<br>") for cell in cells)} |'
