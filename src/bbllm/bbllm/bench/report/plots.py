"""Where the marks of the plots over K lie; the templates draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bbllm.bench.log.intervals import Estimate
from bbllm.bench.report import words
from bbllm.bench.report.figures import KNOWING, Sums, by_k, measures_of, task_rows

WIDEST = 12
"""Values of K further apart than this are set at equal distances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A plot's rectangle in its own picture [px]; rates run from 0 at its foot to 1."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def y(self, rate: float) -> float:
        """Return where a rate lies."""
        return round(self.bottom - rate * (self.bottom - self.top), 1)

    def x(self, share: float) -> float:
        """Return where a share of the width lies."""
        return round(self.left + share * (self.right - self.left), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One figure with its interval."""

    x: float
    y: float
    low: float | None
    """Where the lower bound lies, None where there is none."""
    high: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One measure over K."""

    key: str
    name: str
    marks: tuple[Mark, ...]

    @property
    def line(self) -> str:
        """Return the marks as the points of a polyline."""
        return ' '.join(f'{mark.x},{mark.y}' for mark in self.marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot over K."""

    name: str
    frame: Frame
    series: tuple[Series, ...]
    ks: tuple[Tick, ...]
    rates: tuple[Tick, ...]
    equal_steps: bool
    """Whether the values of K are set at equal distances although they are not."""

    @property
    def alternative(self) -> str:
        """Return the plot in words."""
        return ' '.join(
            f'{series.name}: {"; ".join(mark.text for mark in series.marks)}.'
            for series in self.series
        )


LARGE = Frame(width=520, height=310, left=44, right=508, top=14, bottom=264)
SMALL = Frame(width=216, height=136, left=32, right=208, top=10, bottom=112)


def ablation(summary: Mapping[str, Any]) -> Plot | None:
    """
    Return the rates over K, None of fewer than two K.

    SR, GCR and EXEC (Figure 6 of the paper); beside SR informed success, where there is such.
    """
    groups = by_k(summary)
    if len(groups) < 2:
        return None
    names = measures_of(groups[-1])
    return _plot('', LARGE, groups, names, dodge=7.0, rates=(0, 0.2, 0.4, 0.6, 0.8, 1))


def by_task(summary: Mapping[str, Any]) -> tuple[Plot, ...]:
    """Return success over K of each task, of both kinds where it needs something."""
    entries = summary.get('by_k') or ()
    if len(entries) < 2:
        return ()
    found: dict[str, list[Sums]] = {}
    for entry in entries:
        for row in task_rows(entry):
            # The row of a task does not name its K: its entry does.
            found.setdefault(row.title, []).append(row.sums)
    ks = [entry['k'] for entry in entries]
    return tuple(
        _plot(name, SMALL, groups, _kinds(groups), dodge=6.0, rates=(0, 0.5, 1), ks=ks)
        for name, groups in found.items()
    )


def _kinds(groups: Sequence[Sums]) -> Mapping[str, str]:
    knowing = any(group.needing for group in groups)
    return {key: KNOWING[key] for key in ('sr', 'informed')} if knowing else {'sr': 'SR'}


def _plot(
    name: str,
    frame: Frame,
    groups: Sequence[Sums],
    measures: Mapping[str, str],
    *,
    dodge: float,
    rates: Sequence[float],
    ks: Sequence[int] | None = None,
) -> Plot:
    values = [group.k or 0 for group in groups] if ks is None else list(ks)
    span = max(values) - min(values)
    equal = span > WIDEST and span != len(values) - 1
    places = _places(values, equal)
    middle = (len(measures) - 1) / 2
    series = tuple(
        Series(
            key=measure,
            name=name_of,
            marks=tuple(
                _mark(frame, frame.x(place) + (index - middle) * dodge, k, group.rate(measure))
                for place, k, group in zip(places, values, groups, strict=True)
                if group.rate(measure).value is not None
            ),
        )
        for index, (measure, name_of) in enumerate(measures.items())
    )
    return Plot(
        name=name,
        frame=frame,
        series=series,
        ks=tuple(Tick(at=frame.x(p), text=str(k)) for p, k in zip(places, values, strict=True)),
        rates=tuple(Tick(at=frame.y(rate), text=f'{rate:g}') for rate in rates),
        equal_steps=equal,
    )


def _places(values: Sequence[int], equal: bool) -> list[float]:
    """Return where values of K lie, as shares of the width, with room at both ends."""
    order = list(range(len(values))) if equal else list(values)
    span = order[-1] - order[0]
    return [0.08 + 0.84 * (value - order[0]) / span for value in order]


def _mark(frame: Frame, x: float, k: int, rate: Estimate) -> Mark:
    assert rate.value is not None
    bounds = words.interval(rate.low, rate.high)
    return Mark(
        x=round(x, 1),
        y=frame.y(rate.value),
        low=None if rate.low is None else frame.y(rate.low),
        high=None if rate.high is None else frame.y(rate.high),
        text=f'{words.two(rate.value)} {bounds} at K = {k}'.replace('  ', ' '),
    )
