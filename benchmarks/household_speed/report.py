"""What the household's speed came to, as a record, a table, JSON and a picture."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from matplotlib.figure import Figure
from rich.console import Console
from rich.markup import escape

from benchmarks.shared import BLUE, INK, ORANGE, machine_text, new_figure, table_of

TARGET_RATIO, TARGET_NODES = 30.0, 219
"""How many times faster than the original the household shall be at least, from which size on."""
COLORS = {'persistent': BLUE, 'fresh': ORANGE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How fast one of the two was."""

    step_s: float
    """Processor time of a step, median of the rounds; the line is read in it too [s]."""
    spread: float
    """Longest time of a step in a round over the shortest one."""
    load_s: float
    """Time to make a household of the JSON data, median of the rounds [s]."""

    @classmethod
    def of(cls, rounds: Sequence[tuple[float, float]]) -> Rate:
        """Sum up the rounds, each of them the time of a step and the time to load."""
        steps = [step_s for step_s, _ in rounds]
        return cls(
            step_s=statistics.median(steps),
            spread=max(steps) / min(steps),
            load_s=statistics.median(load_s for _, load_s in rounds),
        )

    @property
    def steps_per_s(self) -> float:
        """How many steps are done in a second."""
        return 1 / self.step_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedFigures:
    """What came out for one house in one mode."""

    mode: str
    nodes: int
    edges: int
    steps: int
    """Lines of all scripts."""
    done: int
    """Lines that succeeded."""
    alike: int
    """Lines of which both said the same, the ends of edges by id in the original."""
    alike_as_it_is: int
    """The same with the original as it is: it may take another one first out of a Python set."""
    ours: Rate
    original: Rate
    first_other: str = ''
    """The first line of which they said other things though nothing was left to chance."""

    @property
    def ratio(self) -> float:
        """How many times faster than the original the household is."""
        return self.original.step_s / self.ours.step_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedReport:
    """Everything that one run measured."""

    machine: dict[str, str]
    seed: int
    scripts: int
    lines: int
    """Length of a script."""
    rounds: int
    figures: tuple[SpeedFigures, ...]
    wall_s: float
    """Of the whole run [s]."""

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that were measured."""
        return tuple(dict.fromkeys(item.mode for item in self.figures))

    def growth(self, mode: str, who: str) -> float:
        """
        Return the power of the number of nodes that the time of a step grows with.

        It is the slope of the straight line through the logarithms, by least squares; nan for
        fewer than two sizes.
        """
        points = [
            (math.log(item.nodes), math.log(getattr(item, who).step_s))
            for item in self.figures
            if item.mode == mode
        ]
        if len({x for x, _ in points}) < 2:
            return math.nan
        return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope

    def as_json(self) -> dict[str, object]:
        """Return plain values for a JSON file, None for what was not measured."""
        growth = {
            mode: {who: self.growth(mode, who) for who in ('ours', 'original')}
            for mode in self.modes
        }
        figures = [{**asdict(item), 'ratio': item.ratio} for item in self.figures]
        return {**asdict(self), 'figures': figures, 'growth': growth}


def print_report(report: SpeedReport, console: Console) -> None:
    """Print the table, and what the figures of it mean."""
    rows = []
    for item in report.figures:
        met = item.ratio >= TARGET_RATIO or item.nodes < TARGET_NODES
        rows.append(
            (
                item.mode,
                str(item.nodes),
                str(item.edges),
                f'{item.done / max(1, item.steps):.0%}',
                f'{item.alike}/{item.steps}',
                f'{item.ours.steps_per_s:,.0f}',
                f'{item.original.steps_per_s:,.0f}',
                f'[{"green" if met else "red"}]{item.ratio:.0f} x[/]',
            )
        )
    columns = ('mode', 'nodes', 'edges', 'done', 'same', 'ours', 'original', 'ratio')
    caption = (
        f'The same {report.scripts} scripts of {report.lines} lines in the same random house, in '
        'one process, in turns. Ours, original: steps per second of processor time, including '
        f'parsing the line; median of {report.rounds} rounds. Fresh: the graph is rebuilt after '
        'each step, as in ProgPrompt; the household does not need to. Same: lines with the same '
        'answer from both, of all lines at which the original does not break off.'
    )
    title = f'Household and VirtualHome 2.3.0, seed {report.seed}'
    console.print(table_of(title, columns, rows, caption))
    for text in (*_agreement(report), *_growth(report)):
        console.print(text, highlight=False)
    loads = {
        item.nodes: f'{item.nodes} nodes {item.ours.load_s * 1e3:.1f} / '
        f'{item.original.load_s * 1e3:.1f} ms'
        for item in report.figures
    }
    console.print(f'To make a graph of JSON data, ours / original: {", ".join(loads.values())}')
    console.print(machine_text(report.machine))


def _agreement(report: SpeedReport) -> Iterator[str]:
    """Say whether both came to the same, and what the lines are at which they did not."""
    lines, alike = (sum(getattr(i, n) for i in report.figures) for n in ('steps', 'alike'))
    first = next((item.first_other for item in report.figures if item.first_other), '')
    if alike < lines:
        yield (
            f'[red]{lines - alike} of {lines} lines come out otherwise though nothing was left to '
            f'chance: a fault of the household.[/] The first: {escape(first)}'
        )
    else:
        yield f'Both say the same of all {lines} lines, the ends of edges by id in the original.'
    by_order = alike - sum(item.alike_as_it_is for item in report.figures)
    if by_order > 0:
        yield (
            f'As it is timed, {by_order} of them come out otherwise: there the original goes by '
            'what comes first in a Python set (where a thing was grabbed from, of several), and '
            'the household by the lowest id.'
        )


def _growth(report: SpeedReport) -> Iterator[str]:
    for mode in report.modes:
        ours, original = (report.growth(mode, who) for who in ('ours', 'original'))
        if not math.isnan(ours):
            yield (
                f'{mode}: the time of a step grows with nodes^{ours:.2f}, that of the original '
                f'with nodes^{original:.2f}'
            )


def figure_of(report: SpeedReport) -> Figure:
    """Return the chart of steps per second over the size of the house, both logarithmic."""
    with new_figure(
        'Steps per second',
        'full: the household;  dashed: VirtualHome 2.3.0, same scripts and houses',
    ) as (figure, axes):
        for mode in report.modes:
            items = [item for item in report.figures if item.mode == mode]
            nodes, color = [item.nodes for item in items], COLORS.get(mode, INK)
            ours = [item.ours.steps_per_s for item in items]
            original = [item.original.steps_per_s for item in items]
            axes.plot(nodes, ours, 'o-', color=color, label=mode)
            axes.plot(nodes, original, 'o--', color=color, label=f'original, {mode}')
        axes.set_xscale('log')
        axes.set_yscale('log')
        axes.minorticks_off()
        sizes = sorted({item.nodes for item in report.figures})
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.set_xlabel('nodes of the house')
        axes.legend(frameon=False, ncols=len(report.modes))
    return figure
