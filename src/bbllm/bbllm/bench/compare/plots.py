"""
Who grows and who stays flat: two plots of prompt tokens against steps, side by side.

Left, the tokens of one prompt of the Brain, by how many steps were done when it was sent. Right,
the tokens of all prompts of an episode for each of its steps, by how many steps it had. Each mark
is a mean over the prompts, or episodes, of a few steps. Drawn with `pictures`, as other figures
of this project are, so that SVG and PNG agree and no plotting library is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bbllm.viz.shapes import Circle, Line, Page, Paint, Point, Polygon, Shape, Text, rectangle

INK = '#22262b'
MUTED = '#6b737c'
GRID = '#e3e6ea'
COLORS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#22262b')
"""Told apart by colour-blind people too: Okabe and Ito, Color Universal Design (2008)."""
DASHES: tuple[tuple[float, float] | None, ...] = (None, (7, 4), (2, 4))
"""Beside the colours, so that many planners can be told apart."""
MOST_MARKS = 20
"""Marks of one line."""
PANEL = (430.0, 330.0)
"""Width and height of one plot's axes [px]."""
LEFT, TOP, GAP, FOOT, ROW = 74.0, 90.0, 86.0, 64.0, 19.0
"""Margins and the height of a row of the legend [px]."""

Curve = tuple[Point, ...]
"""Means in data units: steps and tokens, by steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One pair of axes with a line for each planner."""

    title: str
    x_title: str
    y_title: str
    curves: Mapping[str, Curve]
    scale: Literal['linear', 'log']


def curves(points: Mapping[str, Sequence[Point]]) -> dict[str, Curve]:
    """Return means of y over bins of x, the same bins for all planners."""
    longest = max((x for many in points.values() for x, _ in many), default=0)
    width = max(1, math.ceil((longest + 1) / MOST_MARKS))
    return {name: _means(many, width) for name, many in points.items()}


def growth_page(
    suite: str, prompts: Mapping[str, Curve], steps: Mapping[str, Curve], note: str = ''
) -> Page:
    """
    Draw both plots.

    Args:
        suite: What was played, for the title.
        prompts: By planner, the tokens of its prompts by steps done before them, see `curves`.
        steps: By planner, the tokens of a step by steps of the episode.
        note: What readers should know of the models.
    """
    plots = (
        Plot(
            title='How long a prompt is',
            x_title='steps done before it',
            y_title='tokens of a prompt',
            curves=prompts,
            scale='linear',
        ),
        Plot(
            title='What a step costs',
            x_title='steps of the episode',
            y_title='prompt tokens for each step',
            curves=steps,
            scale='log',
        ),
    )
    width = LEFT + 2 * PANEL[0] + GAP + 24
    columns = 3
    rows = math.ceil(len(prompts) / columns)
    shapes: list[Shape] = [
        Text(position=(LEFT, 24), text=f'{suite}: tokens of prompts', size=16, bold=True),
        *([Text(position=(LEFT, 44), text=note, size=11, color=MUTED)] if note else []),
    ]
    for i, plot in enumerate(plots):
        shapes += _draw(plot, LEFT + i * (PANEL[0] + GAP))
    shapes += _legend(list(prompts), TOP + PANEL[1] + FOOT, width / columns, rows)
    height = TOP + PANEL[1] + FOOT + rows * ROW + 16
    title = f'Tokens of prompts by steps, for {", ".join(prompts)}'
    return Page(width=width, height=height, title=title, shapes=tuple(shapes))


def _means(points: Iterable[Point], width: int) -> Curve:
    bins: dict[int, list[Point]] = {}
    for x, y in points:
        bins.setdefault(int(x) // width, []).append((x, y))
    return tuple(
        (sum(x for x, _ in many) / len(many), sum(y for _, y in many) / len(many))
        for _, many in sorted(bins.items())
    )


def _draw(plot: Plot, left: float) -> list[Shape]:
    marks = [point for curve in plot.curves.values() for point in curve]
    if not marks:
        middle = (left + PANEL[0] / 2, TOP + PANEL[1] / 2)
        return [Text(position=middle, text='nothing was measured', anchor='middle', color=MUTED)]
    xs = _ticks(0, max(5, *(x for x, _ in marks)))
    if plot.scale == 'log':
        ys = _decades(min(y for _, y in marks), max(y for _, y in marks))
    else:
        ys = _ticks(0, max(y for _, y in marks) or 1)
    share_y = _share(ys[0], ys[-1], plot.scale)

    def place(point: Point) -> Point:
        x = left + PANEL[0] * (point[0] - xs[0]) / (xs[-1] - xs[0])
        return (x, TOP + PANEL[1] * (1 - share_y(point[1])))

    shapes = _axes(plot, left, xs, ys, place)
    for i, curve in enumerate(plot.curves.values()):
        places = [place(point) for point in curve]
        if len(places) > 1:
            shapes.append(Line(tuple(places), _stroke(i)))
        shapes += [_mark(i, spot) for spot in places]
    return shapes


def _axes(
    plot: Plot,
    left: float,
    xs: Sequence[float],
    ys: Sequence[float],
    place: Callable[[Point], Point],
) -> list[Shape]:
    right, bottom = left + PANEL[0], TOP + PANEL[1]
    shapes: list[Shape] = [Text(position=(left, TOP - 14), text=plot.title, size=12, bold=True)]
    thin = Paint(stroke=GRID)
    for y in ys:
        _, at = place((xs[0], y))
        shapes.append(Line(((left, at), (right, at)), thin))
        shapes.append(Text(position=(left - 8, at), text=f'{y:,g}', anchor='end', color=MUTED))
    for x in xs:
        at, _ = place((x, ys[0]))
        shapes.append(Line(((at, bottom), (at, bottom + 5)), Paint(stroke=MUTED)))
        shapes.append(
            Text(position=(at, bottom + 16), text=f'{x:,g}', anchor='middle', color=MUTED)
        )
    shapes.append(Line(((left, bottom), (right, bottom)), Paint(stroke=MUTED)))
    log = ', log scale' if plot.scale == 'log' else ''
    # Upright letters above the axis: these shapes have no turned ones.
    above = Text(
        position=(right, TOP - 14), text=f'{plot.y_title}{log}', color=MUTED, anchor='end'
    )
    middle = Text(
        position=((left + right) / 2, bottom + 36), text=plot.x_title, color=INK, anchor='middle'
    )
    return [*shapes, above, middle]


def _legend(names: Sequence[str], top: float, width: float, rows: int) -> list[Shape]:
    shapes: list[Shape] = []
    for i, name in enumerate(names):
        x, y = 24 + (i // rows) * width, top + (i % rows) * ROW
        shapes.append(Line(((x, y), (x + 34, y)), _stroke(i)))
        shapes.append(_mark(i, (x + 17, y)))
        shapes.append(Text(position=(x + 42, y), text=name, size=11.5))
    return shapes


def _stroke(i: int) -> Paint:
    dash = DASHES[(i // len(COLORS)) % len(DASHES)]
    return Paint(stroke=COLORS[i % len(COLORS)], width=1.8, dash=dash)


def _mark(i: int, centre: Point) -> Shape:
    """Return the mark of a planner: a disc, a square or a diamond in its colour."""
    paint = Paint(fill=COLORS[i % len(COLORS)], stroke='#ffffff', width=0.8)
    x, y = centre
    kind = (i // len(COLORS)) % 3
    if kind == 0:
        return Circle(centre, 3.6, paint)
    if kind == 1:
        return Polygon(rectangle(x - 3.4, y - 3.4, 6.8, 6.8), paint)
    return Polygon(((x, y - 4.8), (x + 4.8, y), (x, y + 4.8), (x - 4.8, y)), paint)


def _share(low: float, high: float, scale: str) -> Callable[[float], float]:
    if scale == 'log':
        span = math.log(high / low)
        return lambda value: math.log(max(value, low) / low) / span
    return lambda value: (value - low) / (high - low)


def _ticks(low: float, high: float) -> list[float]:
    """Return about six round numbers that reach from the first to beyond the last."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    return [low + step * i for i in range(math.ceil((high - low) / step - 1e-9) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 of each power of ten that reach around both."""
    low = max(low, 1.0)
    found = [
        factor * 10.0**power
        for power in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
        for factor in (1, 2, 5)
    ]
    first = max(i for i, value in enumerate(found) if value <= low)
    last = min(i for i, value in enumerate(found) if value >= high and i > first)
    return found[first : last + 1]
