"""
The charts of the report, drawn by matplotlib.

The same figure gives SVG for the page, where colours are the page's own CSS variables so that
they follow light and dark mode, and PNG for documents. Matplotlib takes most of a second to
import, so only the functions that draw import it.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bbllm.bench.log.intervals import Estimate
from bbllm.bench.metrics.metrics import METRICS, Figures
from bbllm.bench.report import words
from bbllm.bench.report.summary import RunSummary, TaskFigures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

WIDEST = 12
"""Values of K further apart than this are set at equal distances."""
COLUMNS = 5
"""Charts of tasks beside each other."""
OVER_K_PX, ROW_PX = 330, 150
"""Height of the chart of the rates, and of a row of charts of tasks."""
INK, MUTED, RULE, PAPER = '#1b1e23', '#5d646f', '#dfe2e6', '#ffffff'
COLORS = {'sr': '#1470ac', 'state': '#1470ad', 'informed': '#8a3fa0', 'gcr': '#c8570c'}
COLORS |= {'exec': '#16805c'}
MARKERS = {'sr': 'o', 'state': 'o', 'informed': 'D', 'gcr': 's', 'exec': '^'}
DASHES = {'sr': '-', 'state': '-', 'informed': '-.', 'gcr': '--', 'exec': ':'}
_VARIABLES = {
    **{color: f'var(--{"sr" if key == "state" else key})' for key, color in COLORS.items()},
    **{INK: 'var(--ink)', MUTED: 'var(--muted)', RULE: 'var(--rule)', PAPER: 'var(--paper)'},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart, as a page shows it."""

    svg: Markup
    alternative: str
    """The chart in words."""
    equal_steps: bool = False
    """Whether the values of K are set at equal distances although they are not."""


def rates_of(figures: Figures) -> dict[str, str]:
    """Return the rates that a page is about, by key, with their labels."""
    if not figures.needing:
        return {key: METRICS[key].heading for key in ('sr', 'gcr', 'exec')}
    # Success is of two kinds where something had to be found out.
    return {'sr': 'State', **{key: METRICS[key].heading for key in ('informed', 'gcr', 'exec')}}


def over_k(summary: RunSummary) -> Chart | None:
    """Return the rates over K (Figure 6 of the paper); None of fewer than two K."""
    if len(summary.by_k) < 2:
        return None
    with _figure(520, OVER_K_PX) as figure:
        _draw_over_k(figure, summary, left=0.08, width=0.91)
    names, values = rates_of(summary.top), _ks(summary)
    series = (_series(name, key, summary.by_k, values) for key, name in names.items())
    *others, last = names.values()
    head = f'{", ".join(others)} and {last} over the number of feedback loops.'
    return Chart(
        svg=_svg(figure, 'over-k'),
        alternative=' '.join([head, *series]),
        equal_steps=_equal(values),
    )


def by_task(summary: RunSummary) -> Chart | None:
    """Return success over K of each task, of both kinds where it needs something."""
    if len(summary.by_k) < 2 or not summary.top.tasks:
        return None
    with _figure(1080, ROW_PX * _lines(summary)) as figure:
        _draw_by_task(figure, summary)
        svg = _svg(figure, 'by-task')
    series = [
        _series(f'{_title(rows[0])}, {kind}', kind, rows, _ks(summary))
        for rows in _rows_of_tasks(summary)
        for kind in _kinds(rows)
    ]
    return Chart(svg=svg, alternative=' '.join(series))


def feedback_png(summary: RunSummary) -> bytes | None:
    """Return both charts over K as one PNG, for documents; None of fewer than two K."""
    if len(summary.by_k) < 2 or not summary.top.tasks:
        return None
    heights = [OVER_K_PX, ROW_PX * _lines(summary)]
    with _figure(1080, sum(heights)) as figure:
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights).flat
        _draw_over_k(above, summary, left=0.03, width=0.96)
        _draw_by_task(below, summary)
        return to_png(figure)


def both_kinds(summary: RunSummary) -> Chart | None:
    """Return state and informed success by task, at the largest K; None if all is given."""
    top = summary.top
    if not top.needing:
        return None
    rows: list[tuple[str, Figures, str]] = [(_title(t), t, 'sr') for t in top.tasks if t.n]
    rows.append(('all that is to find out', top, 'state'))
    told, height = [], 70 + 34 * len(rows)
    with _figure(880, height) as figure:
        axes = figure.add_axes((0.215, 42 / height, 0.555, 1 - 70 / height))
        for i, (name, row, state) in enumerate(rows):
            kinds = (state, 'informed') if row.needing else (state,)
            for kind, shift in zip(kinds, (-0.2, 0.2) if len(kinds) > 1 else (0.0,), strict=True):
                rate = row.rate(kind)
                if rate.value is None:
                    continue
                axes.errorbar(
                    [rate.value], [i + shift], xerr=_bounds([rate]), **_look(kind, 7), label='_'
                )
            text = _kinds_text(row, state)
            told.append(f'{name}: {text}.')
            axes.text(1.4, i, text, color=MUTED, ha='right', va='center')
        axes.axhline(len(rows) - 1.5, color=MUTED, linewidth=1)
        axes.set(
            xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5), yticks=range(len(rows)),
            yticklabels=[name for name, _, _ in rows],
            xlabel='share of the episodes, with its 95 % interval',
        )  # fmt: skip
        axes.grid(visible=False, axis='y')
        axes.grid(axis='x', color=RULE)
        for kind, name in (('sr', 'State'), ('informed', 'Informed')):
            axes.errorbar([], [], **_look(kind, 7), label=name)
        axes.legend(loc='lower left', bbox_to_anchor=(-0.01, 1), ncols=2, frameon=False)
        return Chart(svg=_svg(figure, 'both-kinds'), alternative=' '.join(told))


def to_svg(figure: Figure, name: str) -> str:
    """Return a figure as SVG; equal figures give equal texts."""
    import matplotlib as mpl

    file = io.StringIO()
    nothing = dict.fromkeys(('Date', 'Creator', 'Format', 'Type'))
    with mpl.rc_context({'svg.hashsalt': name, 'svg.fonttype': 'none'}):
        figure.savefig(file, format='svg', metadata=nothing, transparent=True)
    return file.getvalue()


def to_png(figure: Figure) -> bytes:
    """Return a figure as PNG, two pixels for each of the page."""
    file = io.BytesIO()
    figure.savefig(file, format='png', dpi=144, facecolor=PAPER)
    return file.getvalue()


@contextmanager
def _figure(width: float, height: float) -> Iterator[Figure]:
    """Yield a figure in the style of the page [px]."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        'font.size': 11, 'text.color': INK, 'axes.labelcolor': MUTED, 'xtick.color': MUTED,
        'ytick.color': MUTED, 'axes.edgecolor': MUTED, 'axes.spines.left': False,
        'axes.spines.top': False, 'axes.spines.right': False, 'ytick.left': False,
        'axes.grid': True, 'axes.grid.axis': 'y', 'grid.color': RULE, 'axes.axisbelow': True,
        'legend.labelcolor': MUTED, 'legend.fontsize': 11, 'axes.titlesize': 11,
        # Names of tasks are no formulas.
        'text.parse_math': False,
    }  # fmt: skip
    with mpl.rc_context(style):
        yield Figure(figsize=(width / 72, height / 72), dpi=72)


def _draw_over_k(figure: FigureBase, summary: RunSummary, *, left: float, width: float) -> None:
    axes = figure.add_axes((left, 0.15, width, 0.74))
    names = rates_of(summary.top)
    _rates(axes, summary.by_k, _ks(summary), names, dodge=0.06, size=7)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel('feedback loops allowed, K')
    axes.legend(loc='lower left', bbox_to_anchor=(-0.02, 1.01), ncols=len(names), frameon=False)


def _draw_by_task(figure: FigureBase, summary: RunSummary) -> None:
    tasks, height = _rows_of_tasks(summary), ROW_PX * _lines(summary)
    grid = figure.subplots(_lines(summary), COLUMNS, squeeze=False)
    figure.subplots_adjust(
        left=0.03, right=0.99, top=1 - 24 / height, bottom=22 / height, wspace=0.2, hspace=0.6
    )
    for axes in grid.flat[len(tasks) :]:
        axes.remove()
    for axes, rows in zip(grid.flat, tasks, strict=False):
        _rates(axes, rows, _ks(summary), dict.fromkeys(_kinds(rows), ''), dodge=0.08, size=6)
        axes.set_yticks([0, 0.5, 1])
        axes.set_title(_title(rows[0]), loc='left', color=INK)


def _ks(summary: RunSummary) -> list[int]:
    return [group.k or 0 for group in summary.by_k]


def _rows_of_tasks(summary: RunSummary) -> list[tuple[TaskFigures, ...]]:
    """Return the figures of each task, by K."""
    return list(zip(*(group.tasks for group in summary.by_k), strict=True))


def _lines(summary: RunSummary) -> int:
    return math.ceil(len(summary.top.tasks) / COLUMNS)


def _kinds(rows: Sequence[Figures]) -> tuple[str, ...]:
    return ('sr', 'informed') if any(row.needing for row in rows) else ('sr',)


def _rates(
    axes: Axes,
    groups: Sequence[Figures],
    values: Sequence[int],
    names: Mapping[str, str],
    *,
    dodge: float,
    size: float,
) -> None:
    """Draw rates over K; the marks of one K stand side by side."""
    places = list(range(len(values))) if _equal(values) else list(values)
    span = places[-1] - places[0]
    for i, (key, name) in enumerate(names.items()):
        rates = [group.rate(key) for group in groups]
        shift = (i - (len(names) - 1) / 2) * dodge * span / max(1, len(values) - 1)
        known = [(x + shift, rate) for x, rate in zip(places, rates, strict=True) if rate.n]
        xs, found = [x for x, _ in known], [rate for _, rate in known]
        ys = [math.nan if rate.value is None else rate.value for rate in found]
        look = _look(key, size) | {'linestyle': DASHES[key]}
        axes.errorbar(xs, ys, yerr=_bounds(found), label=name, **look)
    axes.set_xticks(places, labels=[str(value) for value in values])
    axes.set_xlim(places[0] - 0.1 * span, places[-1] + 0.1 * span)
    axes.set_ylim(-0.005, 1.04)


def _look(key: str, size: float) -> dict[str, Any]:
    return {
        'color': COLORS[key], 'marker': MARKERS[key], 'markersize': size, 'linestyle': '',
        'markeredgecolor': PAPER, 'linewidth': 1.75, 'ecolor': COLORS[key] + '99',
        'elinewidth': 1.2, 'capsize': 3, 'clip_on': False,
    }  # fmt: skip


def _bounds(rates: Sequence[Estimate]) -> list[list[float]]:
    """Return how far intervals reach below and above; 0 where there is none."""
    found = [
        (rate.value - rate.low, rate.high - rate.value)
        if rate.value is not None and rate.low is not None and rate.high is not None
        else (0.0, 0.0)
        for rate in rates
    ]
    # Figures of a file are rounded, so that a bound may be a hair on the wrong side.
    return [[max(low, 0.0) for low, _ in found], [max(high, 0.0) for _, high in found]]


def _svg(figure: Figure, name: str) -> Markup:
    """Return a figure as an element of the page."""
    text = to_svg(figure, name)
    text = text[text.index('<svg') :]
    # What would be twice on a page, or be a rule for all of it.
    text = re.sub(r'<style[^>]*>.*?</style>|<!--.*?-->', '', text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', '<g', text)
    text = re.sub(r'<svg [^>]*(viewBox="[^"]*")[^>]*>', r'<svg class="plot" \1>', text)
    text = re.sub(r'font: ([\d.]+)px [^;\"]*', r'font-size: \1px', text)
    for color, variable in _VARIABLES.items():
        text = text.replace(color, variable)
    return Markup(text.replace('xlink:href', 'href'))  # matplotlib escapes texts


def _series(name: str, key: str, groups: Sequence[Figures], values: Sequence[int]) -> str:
    """Return a line of a chart in words."""
    known = [(k, group.rate(key)) for k, group in zip(values, groups, strict=True)]
    parts = [
        ' '.join(f'{words.two(r.value)} {words.interval(r.low, r.high)} at K = {k}'.split())
        for k, r in known
        if r.value is not None
    ]
    return f'{name}: {"; ".join(parts)}.'


def _kinds_text(row: Figures, state: str) -> str:
    value = words.two(row.value(state))
    if not row.needing:
        return f'{value}, nothing to find out'
    return f'state {value}, informed {words.two(row.value("informed"))}'


def _title(row: TaskFigures) -> str:
    return str(words.finalize(words.titled(row.label, row.name)))


def _equal(values: Sequence[int]) -> bool:
    span = max(values) - min(values)
    return span > WIDEST and span != len(values) - 1
