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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bbllm_bench.log.intervals import Estimate
from bbllm_bench.metrics.metrics import METRICS, Figures
from bbllm_bench.report import words
from bbllm_bench.report.summary import RunSummary, TaskFigures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

COLUMNS = 5
"""Charts of tasks beside each other."""
OVER_K_PX, ROW_PX = 330, 150
"""Height of the chart of the rates, and of a row of charts of tasks."""
INK, MUTED, RULE, PAPER = '#1b1e23', '#5d646f', '#dfe2e6', '#ffffff'
COLORS = {'sr': '#1470ac', 'informed': '#8a3fa0', 'gcr': '#c8570c', 'exec': '#16805c'}
MARKERS = {'sr': 'o', 'informed': 'D', 'gcr': 's', 'exec': '^'}
DASHES = {'sr': '-', 'informed': '-.', 'gcr': '--', 'exec': ':'}
_VARIABLES = {
    **{color: f'var(--{key})' for key, color in COLORS.items()},
    **{INK: 'var(--ink)', MUTED: 'var(--muted)', RULE: 'var(--rule)', PAPER: 'var(--paper)'},
}


def rates_of(figures: Figures) -> dict[str, str]:
    """Return the rates that a page is about, by key, with their labels."""
    if not figures.needing:
        return {key: METRICS[key].heading for key in ('sr', 'gcr', 'exec')}
    # Success is of two kinds where something had to be found out.
    return {'sr': 'State', **{key: METRICS[key].heading for key in ('informed', 'gcr', 'exec')}}


def over_k(summary: RunSummary) -> Markup | None:
    """Return the rates over K (Figure 6 of the paper); None of fewer than two K."""
    if len(summary.by_k) < 2:
        return None
    with new_figure(520, OVER_K_PX) as figure:
        _draw_over_k(figure, summary, left=0.08, width=0.91)
        return _svg(figure, 'over-k')


def by_task(summary: RunSummary) -> Markup | None:
    """Return success over K of each task, of both kinds where it needs something."""
    if len(summary.by_k) < 2 or not summary.top.tasks:
        return None
    with new_figure(1080, ROW_PX * _lines(summary)) as figure:
        _draw_by_task(figure, summary)
        return _svg(figure, 'by-task')


def feedback_png(summary: RunSummary) -> bytes | None:
    """Return both charts over K as one PNG, for documents; None of fewer than two K."""
    if len(summary.by_k) < 2 or not summary.top.tasks:
        return None
    heights = [OVER_K_PX, ROW_PX * _lines(summary)]
    with new_figure(1080, sum(heights)) as figure:
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights).flat
        _draw_over_k(above, summary, left=0.03, width=0.96)
        _draw_by_task(below, summary)
        return to_png(figure)


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
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Yield a figure in the style of the page, which applies while the context is open [px]."""
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
    _rates(axes, summary, summary.by_k, names, dodge=0.06, size=7)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel('feedback loops allowed, K')
    axes.legend(loc='lower left', bbox_to_anchor=(-0.02, 1.01), ncols=len(names), frameon=False)


def _draw_by_task(figure: FigureBase, summary: RunSummary) -> None:
    tasks: list[tuple[TaskFigures, ...]]
    tasks = list(zip(*(group.tasks for group in summary.by_k), strict=True))
    height = ROW_PX * _lines(summary)
    grid = figure.subplots(_lines(summary), COLUMNS, squeeze=False)
    figure.subplots_adjust(
        left=0.03, right=0.99, top=1 - 24 / height, bottom=22 / height, wspace=0.2, hspace=0.6
    )
    for axes in grid.flat[len(tasks) :]:
        axes.remove()
    for axes, rows in zip(grid.flat, tasks, strict=False):
        kinds = ('sr', 'informed') if any(row.needing for row in rows) else ('sr',)
        _rates(axes, summary, rows, dict.fromkeys(kinds, ''), dodge=0.08, size=6)
        axes.set_yticks([0, 0.5, 1])
        title = words.finalize(words.titled(rows[0].label, rows[0].name))
        axes.set_title(str(title), loc='left', color=INK)


def _lines(summary: RunSummary) -> int:
    return math.ceil(len(summary.top.tasks) / COLUMNS)


def _rates(
    axes: Axes,
    summary: RunSummary,
    groups: Sequence[Figures],
    names: Mapping[str, str],
    *,
    dodge: float,
    size: float,
) -> None:
    """Draw rates over K, at equal distances; the marks of one K stand side by side."""
    places = range(len(groups))
    for i, (key, name) in enumerate(names.items()):
        shift = (i - (len(names) - 1) / 2) * dodge
        rates = [group.rate(key) for group in groups]
        known = [(x + shift, r) for x, r in zip(places, rates, strict=True) if r.value is not None]
        axes.errorbar(
            [x for x, _ in known], [rate.value or 0.0 for _, rate in known],
            yerr=_bounds([rate for _, rate in known]),
            label=name, color=COLORS[key], marker=MARKERS[key], linestyle=DASHES[key],
            markersize=size, markeredgecolor=PAPER, linewidth=1.75, ecolor=COLORS[key] + '99',
            elinewidth=1.2, capsize=3, clip_on=False,
        )  # fmt: skip
    axes.set_xticks(places, labels=[str(group.k) for group in summary.by_k])
    axes.set_xlim(-0.1 * places[-1], 1.1 * places[-1])
    axes.set_ylim(-0.005, 1.04)


def _bounds(rates: Iterable[Estimate]) -> list[list[float]]:
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
