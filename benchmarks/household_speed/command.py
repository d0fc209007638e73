"""
`bbllm bench household-speed`: steps per second of the household and of VirtualHome 2.3.0.

Both run the same scripts in the same random houses, in one process and in turns; the report is
printed, written as JSON and drawn. Lines at which the original breaks off are left out. Outside of
the timed part, the answers of both are compared twice: with the original sorting the ends of edges
by id, so that nothing is left to chance, and with the original as it is, which in some places
takes the first element of a Python set.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bbllm.bench.log.versions import describe_machine
from bbllm.cli.views.output import PlainConsole
from bbllm.core.errors import ConfigError
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import parse_line
from benchmarks.household_speed.random_houses import House, draw_house
from benchmarks.household_speed.random_scripts import draw_script
from benchmarks.household_speed.report import (
    Rate,
    SpeedFigures,
    SpeedReport,
    figure_of,
    print_report,
)
from benchmarks.household_speed.virtualhome import Original, load_original
from benchmarks.shared import TrialBar, make_folder, write_figure, write_json

app = typer.Typer(add_completion=False)
NAME = 'household-speed'
SIZES = (100, 219, 500, 1000, 2000)
"""Nodes of the houses; 219 has the smallest of VirtualHome's trimmed ones."""
NEIGHBOURS = 14
"""Of a thing, by CLOSE: this gives a house of 219 nodes 3,000 edges, near VirtualHome's 3,500."""
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
    Measure all sizes in both modes.

    Args:
        sizes: Nodes of each house.
        scripts: How many scripts are run in each.
        seed: Of the first house; the others count on from it.
        rounds: How often everything is measured; the median counts.

    Raises:
        ConfigError: The original is not installed; says how to get it.
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
    """Time both in turns, and compare what they said."""
    ours: list[tuple[float, float]] = []
    original: list[tuple[float, float]] = []
    for _ in range(rounds):
        original.append(_time(job, _original_steps))
        ours.append(_time(job, _our_steps, least_s=LEAST_S))
    in_order, as_it_is = compare(job, in_order=True), compare(job, in_order=False)
    return SpeedFigures(
        mode=job.mode.value,
        nodes=len(job.house['nodes']),
        edges=len(job.house['edges']),
        steps=in_order.lines,
        done=in_order.done,
        alike=in_order.alike,
        alike_as_it_is=as_it_is.alike,
        first_other=in_order.first_other,
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
    """What both said of the same lines."""

    lines: int = 0
    done: int = 0
    """Lines that succeed in the original."""
    alike: int = 0
    """Lines of which both say the same."""
    first_other: str = ''
    """The first line of which they do not, with both answers; empty where there is none."""


def compare(job: Job, *, in_order: bool) -> Comparison:
    """
    Give both each line and look whether they say the same.

    Args:
        job: The scripts and their house.
        in_order: Let the original, too, take the lowest id where it takes the first of several;
            else it takes what comes first in a Python set, and ours cannot know what that is.
    """
    found = Comparison()
    for script in job.scripts:
        original = Original(job.house, fresh=job.mode is Mode.FRESH, in_order=in_order)
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
    make_folder(out)
    console = PlainConsole(stderr=as_json, markup=True)
    report = run_speed_bench(sizes, scripts, seed, rounds=rounds)
    write_json(out / f'{NAME}.json', report.as_json())
    write_figure(figure_of(report), out, NAME)
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
