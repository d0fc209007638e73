"""The figures of one run, or of two side by side, as tables."""

from __future__ import annotations

from rich.console import Console

from bbllm_bench.benchmarks.shared import machine_text
from bbllm_bench.benchmarks.time.figures import (
    Figure,
    Goal,
    Measured,
    Of,
    Row,
    TimeReport,
    goals_met,
    is_worse,
    p95_of,
    quotient_of,
    ratio_of,
    reference_of,
    value_of,
)
from bbllm_bench.benchmarks.time.table import FIGURES
from bbllm_bench.log.intervals import Estimate
from bbllm_bench.report.grid import grid_of, print_grid

CAPTION = (
    'In brackets: 95 % interval over the repetitions of this run. Value: median, of motion, task '
    'and idle cost the mean;\nbehind the stroke the 95th percentile. Bound: least time of any '
    'motion past the same grips and hover poses, without limits of jerk.\nOf a goal with two '
    'numbers both count: median and 95th percentile, or value and ratio.'
)
COMPARED = (
    'Quotient: {this} / {other}, with the 95 % interval over the repetitions in both runs: of '
    'ratios where the figure beside\nmeasures the machine, and else of values.'
)


def print_report(report: TimeReport, console: Console) -> None:
    shown = [(figure, row) for figure in FIGURES for row in report.rows if row.key == figure.key]
    cells = [_cells(figure, row) for figure, row in shown]
    title = f'Time, {_commit(report)}'
    print_grid(grid_of(title, cells, notes={'figure': CAPTION}), console)
    for figure, row in shown:
        if row.missing:
            text = f'not measured: {figure.title}: {row.missing}'
            console.print(text, style='red', markup=False, soft_wrap=True)
    _print_machine(report, console)


def print_comparison(this: TimeReport, other: TimeReport, console: Console) -> None:
    """Print two runs side by side; figures that have become worse by over a tenth are marked."""
    one, two = _names(this, other)
    rows = []
    for figure in FIGURES:
        mine, theirs = this.row(figure.key).measured, other.row(figure.key).measured
        if mine is None and theirs is None:
            continue
        cells = {'figure': f'{figure.title}, {figure.unit}'}
        for name, measured in ((one, mine), (two, theirs)):
            if measured is not None:
                ratio = ratio_of(figure, measured)
                cells[name] = _number(value_of(figure, measured).value)
                cells[f'ratio {name}'] = _number(None if ratio is None else ratio.value)
        if mine is not None and theirs is not None:
            same_seed = this.seed == other.seed
            quotient = quotient_of(figure, mine, theirs, same_seed=same_seed)
            cells['quotient'] = _with_interval(quotient)
            cells[''] = '[red]worse[/]' if is_worse(figure, quotient) else ''
        rows.append(cells)
    note = COMPARED.format(this=one, other=two)
    print_grid(grid_of('Time, two runs', rows, notes={'figure': note}), console)
    for report, name in ((this, one), (other, two)):
        console.print(f'{name}:', markup=False)
        _print_machine(report, console)


def _cells(figure: Figure, row: Row) -> dict[str, str]:
    title = {'figure': f'{figure.title}, {figure.unit}'}
    measured = row.measured
    if measured is None:
        return {**title, 'value': 'not measured'}
    ratio, met = ratio_of(figure, measured), goals_met(figure, measured)
    verdict = '' if met is None else '[green]met[/]' if met else '[red]not met[/]'
    return {
        **title,
        'value': _value(figure, measured),
        'beside': f'{_number(reference_of(figure, measured))} {figure.beside}'.strip(),
        'ratio': _with_interval(ratio),
        'goal': ', '.join(map(_goal, figure.goals)),
        '': verdict,
    }


def _value(figure: Figure, measured: Measured) -> str:
    text = _with_interval(value_of(figure, measured))
    return f'{text} / {_number(p95_of(measured))}' if figure.tail else text


def _goal(goal: Goal) -> str:
    what = {Of.VALUE: '', Of.P95: '95 % ', Of.RATIO: 'ratio '}[goal.of]
    return f'{what}{">=" if goal.at_least else "<="} {goal.limit:g}'


def _with_interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return ''
    if estimate.low is None:
        return _number(estimate.value)
    return f'{_number(estimate.value)} \\[{_number(estimate.low)}, {_number(estimate.high)}]'


def _number(value: float | None) -> str:
    """Return a number with three significant digits, empty for None."""
    if value is None:
        return ''
    return f'{value:.0f}' if abs(value) >= 99.95 else f'{value:#.3g}'


def _print_machine(report: TimeReport, console: Console) -> None:
    before, after = report.load
    load = f'load average {before:.1f} before, {after:.1f} after'
    console.print(f'{machine_text(report.machine)}; {load}', markup=False, soft_wrap=True)


def _commit(report: TimeReport) -> str:
    return report.versions['commit']


def _names(this: TimeReport, other: TimeReport) -> tuple[str, str]:
    """Return what the columns of two runs are called: their commits, where these differ."""
    if _commit(this) != _commit(other):
        return _commit(this), _commit(other)
    return 'this', 'other'
