"""
Charts of benchmarks in one style, as SVG and as PNG.

Matplotlib takes most of a second to import, so only the functions that draw import it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, RULE, PAPER = '#1b1e23', '#5d646f', '#dfe2e6', '#ffffff'


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
