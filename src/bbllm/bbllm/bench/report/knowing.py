"""Where the marks of the figure lie that sets state and informed success side by side, by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bbllm.bench.log.intervals import Estimate
from bbllm.bench.report import words
from bbllm.bench.report.figures import Sums, sums_of, task_rows

WIDTH, LEFT, RIGHT, TOP = 880.0, 190.0, 680.0, 10.0
"""Of the picture, and where rates of 0 and 1 lie in it [px]."""
ROW_PX = 34.0
APART_PX = 7.0
"""How far the two marks of a row are from its middle [px]."""
TENTHS = (0, 2, 4, 6, 8, 10)
NOTHING = 'nothing to find out'


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one rate of a row lies [px]."""

    key: str
    """`sr` or `informed`."""
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One task, or all those together in which something had to be found out."""

    name: str
    y: float
    places: tuple[Place, ...]
    text: str
    """The rates in figures, at the end of the row."""
    sum: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The figure."""

    lines: tuple[Line, ...]
    rates: tuple[tuple[float, str], ...]
    """Where the axis has its ticks [px], and their texts."""
    bottom: float

    @property
    def width(self) -> float:
        """Of the picture [px]."""
        return WIDTH

    @property
    def height(self) -> float:
        """Of the picture [px]."""
        return self.bottom + 44

    @property
    def alternative(self) -> str:
        """Return the figure in words."""
        return ' '.join(f'{line.name}: {line.text}.' for line in self.lines)


def both_sides(summary: Mapping[str, Any]) -> Sides | None:
    """Return the figure of the largest K; None where nothing had to be found out."""
    entries: Sequence[Mapping[str, Any]] = summary.get('by_k') or ()
    top = sums_of(summary)
    if not entries or not top.needing:
        return None
    rows = [(row.title, row.sums) for row in task_rows(entries[-1]) if row.sums.n]
    found = [_line(name, sums, index) for index, (name, sums) in enumerate(rows)]
    found.append(_line('all that is to find out', top, len(rows), together=True))
    return Sides(
        lines=tuple(found),
        rates=tuple((_x(tenth / 10), f'{tenth / 10:g}') for tenth in TENTHS),
        bottom=TOP + len(found) * ROW_PX,
    )


def _line(name: str, sums: Sums, index: int, *, together: bool = False) -> Line:
    middle = TOP + (index + 0.5) * ROW_PX
    state = sums.needing_sr if together else sums.sr
    if not sums.needing:
        return Line(
            name=name,
            y=middle,
            places=tuple(_place('sr', state, middle)),
            text=f'{words.two(state.value)}, {NOTHING}',
        )
    informed = sums.needing_informed
    return Line(
        name=name,
        y=middle,
        places=(
            *_place('sr', state, middle - APART_PX),
            *_place('informed', informed, middle + APART_PX),
        ),
        text=f'state {words.two(state.value)}, informed {words.two(informed.value)}',
        sum=together,
    )


def _place(key: str, rate: Estimate, y: float) -> list[Place]:
    if rate.value is None or rate.low is None or rate.high is None:
        return []
    return [Place(key=key, x=_x(rate.value), y=y, low=_x(rate.low), high=_x(rate.high))]


def _x(rate: float) -> float:
    return round(LEFT + rate * (RIGHT - LEFT), 1)
