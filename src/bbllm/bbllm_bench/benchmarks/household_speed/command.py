"""
`bbllm bench household-speed`: steps per second of the household and of VirtualHome 2.3.0.

Both run the same scripts in the same random houses, in one process and in turns; the report is
printed, written as JSON and drawn. Lines at which the original breaks off are left out. Outside of
the timed part, the answers of both are compared, with the ends of edges in an order that ids
alone decide: as it is, the original takes the first element of a Python set in some places.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from matplotlib.figure import Figure
from rich.console import Console
from rich.markup import escape

from bbllm.cli.views.output import PlainConsole
from bbllm.core.errors import ConfigError
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import parse_line
from bbllm_bench.benchmarks.household_speed.random_houses import House, draw_house
from bbllm_bench.benchmarks.household_speed.random_scripts import draw_script
from bbllm_bench.benchmarks.household_speed.virtualhome import Original, load_original
from bbllm_bench.benchmarks.shared import (
    BLUE,
    INK,
    ORANGE,
    TrialBar,
    machine_text,
    new_chart,
    write_chart,
    write_json,
)
from bbllm_bench.log.files import claim_folder
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import grid_of, print_grid

app = typer.Typer(add_completion=False)
NAME = 'household-speed'
SIZES = (100, 219, 500, 1000, 2000)
"""Nodes of the houses; 219 has the smallest of VirtualHome's trimmed ones."""
NEIGHBOURS = 14
"""By CLOSE: this gives a house of 219 nodes 3,000 edges, near VirtualHome's 3,500."""
LINES = 40
"""Length of a script, as of the longer ones that people wrote for VirtualHome."""
MODES = (Mode.PERSISTENT, Mode.FRESH)
LEAST_S = 0.2
"""The household is given its scripts again until that time is over, since one round is short."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some scripts in one house."""

    mode: Mode
    house: House
    scripts: tuple[tuple[str, ...], ...]


def run_speed_bench(
    sizes: Sequence[int] = SIZES,
    scripts: int = 3,
    seed: int = 0,
    *,
    rounds: int = 3,
) -> SpeedReport:
    """
    Measure all sizes in both modes; the median of the rounds counts.

    Raises:
        ConfigError: The original is not installed; states how to get it.
    """
    load_original()
    start_s = time.perf_counter()
    figures: list[SpeedFigures] = []
    with TrialBar(len(sizes) * len(MODES)) as bar:
        for number, size in enumerate(sizes):
            house = draw_house(random.Random(seed + number), size, neighbours=NEIGHBOURS, odd=0.0)
            drawn = [
                draw_script(random.Random(f'{seed + number} {index}'), house, LINES)
                for index in range(scripts)
            ]
            for mode in MODES:
                usable = tuple(what_both_can_do(script, house, mode) for script in drawn)
                figures.append(measure(Job(mode, house, usable), rounds))
                bar.advance(f'{size} nodes, {mode.value}')
    return SpeedReport(
        machine=describe_machine(),
        seed=seed,
        scripts=scripts,
        lines=LINES,
        rounds=rounds,
        figures=tuple(figures),
        wall_s=time.perf_counter() - start_s,
    )


def what_both_can_do(script: Sequence[str], house: House, mode: Mode) -> tuple[str, ...]:
    """Leave out the lines at which the original would break off, or never end."""
    household = Household(Graph.from_dict(house, strict=False), mode=mode)
    return tuple(
        line for line in script if household.step(parse_line(line)).broken != 'unsupported'
    )


def measure(job: Job, rounds: int) -> SpeedFigures:
    """Time both in turns, and compare what they reported."""
    ours: list[tuple[float, float]] = []
    original: list[tuple[float, float]] = []
    for _ in range(rounds):
        original.append(_time(job, _original_steps))
        ours.append(_time(job, _our_steps, least_s=LEAST_S))
    compared = compare(job)
    return SpeedFigures(
        mode=job.mode.value,
        nodes=len(job.house['nodes']),
        edges=len(job.house['edges']),
        steps=compared.lines,
        done=compared.done,
        alike=compared.alike,
        first_other=compared.first_other,
        ours=Rate.of(ours),
        original=Rate.of(original),
    )


Steps = Callable[[str], object]
"""Carries out one line."""


def _our_steps(job: Job) -> Steps:
    household = Household(Graph.from_dict(job.house, strict=False), mode=job.mode)
    return lambda text: household.step(parse_line(text))


def _original_steps(job: Job) -> Steps:
    return Original(job.house, fresh=job.mode is Mode.FRESH).step


def _time(job: Job, begin: Callable[[Job], Steps], least_s: float = 0.0) -> tuple[float, float]:
    """Return processor time of a step, and of reading the house, over all scripts [s]."""
    steps, step_s, starts, start_s = 0, 0.0, 0, 0.0
    while step_s + start_s <= least_s:
        for script in job.scripts:
            before_s = time.process_time()
            step = begin(job)
            began_s = time.process_time()
            for line in script:
                step(line)
            step_s += time.process_time() - began_s
            start_s += began_s - before_s
            steps += len(script)
            starts += 1
    return step_s / max(1, steps), start_s / starts


@dataclass(slots=True)
class Comparison:
    """What both reported of the same lines."""

    lines: int = 0
    done: int = 0
    """Lines that succeed in the original."""
    alike: int = 0
    """Lines of which both report the same."""
    first_other: str = ''
    """The first line of which they do not, with both answers; empty where there is none."""


def compare(job: Job) -> Comparison:
    """Give both each line and check whether they report the same."""
    found = Comparison()
    for script in job.scripts:
        original = Original(job.house, fresh=job.mode is Mode.FRESH, in_order=True)
        household = Household(Graph.from_dict(job.house, strict=False), mode=job.mode)
        for text in script:
            theirs, ours = original.step(text), household.step(parse_line(text))
            found.lines += 1
            found.done += theirs.succeeded
            same = (theirs.succeeded, theirs.messages) == (ours.succeeded, ours.messages)
            if same and not theirs.broke_off:
                found.alike += 1
            elif not found.first_other:
                found.first_other = f'{text}: original {theirs}, ours {ours}'
    return found


@app.command()
def household_speed(
    nodes: Annotated[
        str, typer.Option(metavar='N,N,...', help='Sizes of the houses, 30 at least.')
    ] = ','.join(map(str, SIZES)),
    scripts: Annotated[
        int, typer.Option(min=1, help=f'Scripts of {LINES} lines in each house.')
    ] = 3,
    rounds: Annotated[
        int, typer.Option(min=1, help='How often all is measured; the median counts.')
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help='Of the first house.')] = 0,
    as_json: Annotated[
        bool, typer.Option('--json', help='Print one JSON object on stdout, and nothing else.')
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar='DIR', help='Folder of the JSON and the pictures.')
    ] = Path('bench-household-speed'),
) -> None:
    """Measure how many steps a second the household does, and VirtualHome 2.3.0 beside it."""
    sizes = _sizes(nodes)
    load_original()  # before minutes of work, not after
    claim_folder(out, f'{NAME}.json', 'this benchmark')
    console = PlainConsole(stderr=as_json, markup=True)
    report = run_speed_bench(sizes, scripts, seed, rounds=rounds)
    write_json(out / f'{NAME}.json', report.as_json())
    write_chart(figure_of(report), out, NAME)
    if as_json:
        typer.echo((out / f'{NAME}.json').read_text('utf-8'), nl=False)
    else:
        print_report(report, console)
    console.print(f'{report.wall_s:.0f} s; written to {out}')


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(','))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 30 or max(sizes) > 20_000:
        raise ConfigError(
            f'--nodes {text[:60]!r}: expected numbers from 30 to 20000 with commas between them, '
            f'for example {SIZES[0]},{SIZES[1]}.'
        )
    return sizes


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
    """Lines of which both reported the same, the ends of edges in the same order."""
    ours: Rate
    original: Rate
    first_other: str = ''
    """The first line with different results though nothing was left to chance."""

    @property
    def ratio(self) -> float:
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
        growth = {
            mode: {who: self.growth(mode, who) for who in ('ours', 'original')}
            for mode in self.modes
        }
        figures = [{**asdict(item), 'ratio': item.ratio} for item in self.figures]
        return {**asdict(self), 'figures': figures, 'growth': growth}


def print_report(report: SpeedReport, console: Console) -> None:
    rows = []
    for item in report.figures:
        met = item.ratio >= TARGET_RATIO or item.nodes < TARGET_NODES
        rows.append(
            {
                'mode': item.mode,
                'nodes': str(item.nodes),
                'edges': str(item.edges),
                'done': f'{item.done / max(1, item.steps):.0%}',
                'same': f'{item.alike}/{item.steps}',
                'ours': f'{item.ours.steps_per_s:,.0f}',
                'original': f'{item.original.steps_per_s:,.0f}',
                'ratio': f'[{"green" if met else "red"}]{item.ratio:.0f} x[/]',
            }
        )
    note = (
        f'The same {report.scripts} scripts of {report.lines} lines in the same random house, in '
        'one process, in turns.\nOurs, original: steps per second of processor time, including '
        f'parsing the line; median of {report.rounds} rounds.\nFresh: the graph is rebuilt after '
        'each step, as in ProgPrompt; the household does not need to.\nSame: lines with the same '
        'answer from both, of all lines at which the original does not break off.'
    )
    title = f'Household and VirtualHome 2.3.0, seed {report.seed}'
    print_grid(grid_of(title, rows, notes={'mode': note}), console)
    console.print(_agreement(report), highlight=False)
    for text in _growth(report):
        console.print(text, highlight=False)
    loads = {
        item.nodes: f'{item.nodes} nodes {item.ours.load_s * 1e3:.1f} / '
        f'{item.original.load_s * 1e3:.1f} ms'
        for item in report.figures
    }
    console.print(f'To make a graph of JSON data, ours / original: {", ".join(loads.values())}')
    console.print(machine_text(report.machine))


def _agreement(report: SpeedReport) -> str:
    lines, alike = (sum(getattr(i, n) for i in report.figures) for n in ('steps', 'alike'))
    first = next((item.first_other for item in report.figures if item.first_other), '')
    if alike == lines:
        return f'Both say the same of all {lines} lines.'
    return (
        f'[red]{lines - alike} of {lines} lines come out otherwise: a fault of the household.[/] '
        f'The first: {escape(first)}'
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
    with new_chart(
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
