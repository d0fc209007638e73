"""
Two plots of prompt tokens against steps, side by side: which planners' prompts grow.

Left, the tokens of one prompt of the Brain, by how many steps were done when it was sent. Right,
the tokens of all prompts of an episode for each of its steps, by how many steps it had. Each mark
is a mean over the prompts, or episodes, of a few steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bbllm_bench.report.plots import MUTED, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#22262b')
"""Distinct for colour-blind people too: Okabe and Ito, Color Universal Design (2008)."""
STYLES = ('o-', 's--', 'D:')
"""Beside the colours, so that many planners stay distinct."""
MOST_MARKS = 20
"""Marks of one line."""

Point = tuple[float, float]
Curve = tuple[Point, ...]
"""Means in data units: steps and tokens, by steps."""


def curves(points: Mapping[str, Sequence[Point]]) -> dict[str, Curve]:
    """Return means of y over bins of x, the same bins for all planners."""
    longest = max((x for many in points.values() for x, _ in many), default=0)
    width = max(1, math.ceil((longest + 1) / MOST_MARKS))
    return {name: _means(many, width) for name, many in points.items()}


def growth_figure(
    suite: str, prompts: Mapping[str, Curve], steps: Mapping[str, Curve], note: str = ''
) -> Figure:
    """Return both plots: tokens of *prompts* by steps done, and of *steps* by steps in all."""
    rows = math.ceil(len(prompts) / 3)
    height = 470 + 19 * rows
    with new_figure(1044, height) as figure:
        top, bottom = 1 - 70 / height, (62 + 19 * rows) / height
        figure.subplots_adjust(left=0.05, right=0.99, top=top, bottom=bottom, wspace=0.11)
        figure.text(0.01, 1 - 24 / height, f'{suite}: tokens of prompts', size=15, weight='bold')
        figure.text(0.01, 1 - 42 / height, note, color=MUTED)
        left, right = figure.subplots(1, 2)
        _draw(left, prompts, 'How long a prompt is', 'steps done before it', 'tokens of a prompt')
        costs = 'prompt tokens for each step, log scale'
        _draw(right, steps, 'What a step costs', 'steps of the episode', costs, log=True)
        figure.legend(*left.get_legend_handles_labels(), loc='lower left', ncols=3, frameon=False)
    return figure


def _draw(
    axes: Axes,
    lines: Mapping[str, Curve],
    title: str,
    x_title: str,
    y_title: str,
    *,
    log: bool = False,
) -> None:
    axes.set_title(title, loc='left', weight='bold')
    axes.set_title(y_title, loc='right', color=MUTED, fontsize=11)
    axes.set_xlabel(x_title)
    for i, (name, curve) in enumerate(lines.items()):
        axes.plot(
            [x for x, _ in curve],
            [y for _, y in curve],
            STYLES[(i // len(COLORS)) % len(STYLES)],
            color=COLORS[i % len(COLORS)],
            label=name,
            markeredgecolor='white',
            markersize=7,
            clip_on=False,
        )
    if not any(lines.values()):
        axes.text(0.5, 0.5, 'nothing was measured', color=MUTED, transform=axes.transAxes)
        return
    axes.set_xlim(0, max(5, axes.get_xlim()[1]))
    if log:
        from matplotlib.ticker import LogLocator, NullLocator

        axes.set_yscale('log')
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter('{x:,.0f}')


def _means(points: Iterable[Point], width: int) -> Curve:
    bins: dict[int, list[Point]] = {}
    for x, y in points:
        bins.setdefault(int(x) // width, []).append((x, y))
    return tuple(
        (sum(x for x, _ in many) / len(many), sum(y for _, y in many) / len(many))
        for _, many in sorted(bins.items())
    )
