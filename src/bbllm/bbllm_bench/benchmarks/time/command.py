"""
`bbllm bench time`, and `bbllm bench stack`, which measures a part of it.

Each figure stands beside a reference of the same run. `--compare FILE` sets another run beside
this one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from bbllm.api.ros_environment import need_ros
from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import PlainConsole
from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm_bench.benchmarks.shared import TrialBar, exit_unless, print_json, write_json
from bbllm_bench.benchmarks.time import commands, motion, stack, task
from bbllm_bench.benchmarks.time.figures import Measured, Row, TimeReport
from bbllm_bench.benchmarks.time.report import print_comparison, print_report
from bbllm_bench.log.versions import describe_machine, find_versions

app = typer.Typer(add_completion=False)
Measure = Callable[[int, int, Callable[[str], None]], Mapping[str, Measured]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Figures that are measured together."""

    keys: tuple[str, ...]
    measure: Measure
    """Called with the number of repetitions, the seed, and what counts the advance."""
    repeats: int = 1
    quick: int = 1
    """Repetitions of a quick run."""
    advances: Callable[[int], int] = lambda repeats: repeats
    """How often it advances, for so many repetitions."""
    needs_ros: bool = False


GROUPS = (
    Group(
        keys=('plan', 'reach'), measure=motion.measure_planning, repeats=motion.QUESTIONS,
        quick=100, advances=lambda _: 2,
    ),
    Group(
        keys=('moving', 'share', 'cycle', 'physics'), measure=motion.measure_motion,
        repeats=motion.TRIALS, quick=10,
    ),
    Group(keys=('help',), measure=commands.measure_help, repeats=commands.HELPS, quick=3),
    Group(keys=('episodes',), measure=commands.measure_episodes, repeats=commands.RUNS),
    Group(
        keys=('idle', 'memory'), measure=stack.measure_idle, repeats=stack.WINDOWS, quick=4,
        advances=lambda _: 1, needs_ros=True,
    ),
    Group(
        keys=('overhead', 'trip'), measure=stack.measure_overhead, repeats=stack.TASKS, quick=2,
        advances=lambda _: 1, needs_ros=True,
    ),
    Group(
        keys=('fast', 'fast-calls', 'ready'), measure=stack.measure_starts,
        repeats=stack.STARTS, needs_ros=True,
    ),
    Group(
        keys=('idle-one', 'fast-one'), measure=stack.measure_one_process, repeats=stack.WINDOWS,
        quick=4, advances=lambda _: 1 + stack.STARTS_OF_ONE, needs_ros=True,
    ),
    Group(
        keys=('task', 'calls'), measure=task.measure_tasks, repeats=task.REPEATS,
        advances=lambda repeats: 2 * repeats,
    ),
)  # fmt: skip
"""In the order in which they are measured."""
KEYS = tuple(key for group in GROUPS for key in group.keys)


@app.command('time')
def time_command(
    measured: Annotated[
        Path | None,
        typer.Argument(
            metavar='[FILE]', help='A run to show, in place of a new one.', show_default=False
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar='LIST', help=f'Some figures: {", ".join(KEYS)}.'),
    ] = None,
    quick: Annotated[bool, typer.Option('--quick', help='Few repetitions of everything.')] = False,
    seed: Annotated[int, typer.Option(min=0, help='Of the tables.')] = 0,
    compare: Annotated[
        Path | None, typer.Option(metavar='FILE', help='Set an earlier run beside this one.')
    ] = None,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-time.json'),
    json: JsonOption = False,
) -> None:
    """
    Measure motion, planning, simulation, stack and commands, each beside a reference.

    Takes ten minutes on an idle machine. Exit code: 0 when everything that was asked for was
    measured, whatever the goals; 1 when something was not; 2 for input that cannot be used.

    Examples:
      bbllm bench time --quick
      bbllm bench time --only moving,plan --out after.json --compare before.json
      bbllm bench time --compare before.json after.json
    """
    keys = _keys_of(only)
    other = None if compare is None else read_report(compare)
    console = PlainConsole(stderr=json, markup=True)
    if measured is not None:
        report = read_report(measured)
    else:
        report = run_time_bench(keys, seed, quick=quick)
        write_json(out, report)
    print_report(report, console)
    if other is not None:
        print_comparison(report, other, console)
    if measured is None:
        console.print(f'{report.wall_s:.0f} s; written to {out}', markup=False)
    if json:
        print_json(measured or out, report)
    exit_unless(not any(row.missing for row in report.rows))


@app.command('stack')
def stack_command(
    moves: Annotated[int, typer.Option(min=1, help='Tasks for the overhead per step.')] = 6,
    trips: Annotated[int, typer.Option(min=10, help='Round trips of the bare action.')] = 200,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-stack.json'),
    json: JsonOption = False,
) -> None:
    """
    Measure the stack of five nodes: start, memory, speed, overhead per step.

    The figures are those of `bbllm bench time`, with fewer repetitions.
    """
    overhead = partial(stack.measure_overhead, trips=trips)
    of_stack = [
        replace(group, repeats=moves, measure=overhead)
        if 'overhead' in group.keys
        else replace(group, repeats=group.quick)
        for group in GROUPS
        if {'idle', 'overhead', 'fast'} & {*group.keys}
    ]
    measure_and_print(of_stack, 'Stack of five nodes', out, json=json)


def measure_and_print(groups: Sequence[Group], title: str, out: Path, *, json: bool) -> None:
    """Measure all figures of some groups, print and write them; exits where one is missing."""
    report = run_time_bench(groups=groups)
    console = PlainConsole(stderr=json, markup=True)
    print_report(report, console, title)
    write_json(out, report, printed=json)
    console.print(f'{report.wall_s:.0f} s; written to {out}', markup=False)
    exit_unless(not any(row.missing for row in report.rows))


def run_time_bench(
    keys: Sequence[str] | None = None,
    seed: int = 0,
    *,
    quick: bool = False,
    groups: Sequence[Group] | None = None,
) -> TimeReport:
    """Measure some figures; those that cannot be measured here have the reason instead."""
    load, begun_s = os.getloadavg()[0], time.perf_counter()
    groups = GROUPS if groups is None else groups
    keys = [key for group in groups for key in group.keys] if keys is None else keys
    asked = [group for group in groups if {*group.keys} & {*keys}]
    repeats = [group.quick if quick else group.repeats for group in asked]
    rows: list[Row] = []
    total = sum(group.advances(n) for group, n in zip(asked, repeats, strict=True))
    with TrialBar(total) as bar:
        for group, n in zip(asked, repeats, strict=True):
            rows += [row for row in _rows(group, n, seed, bar) if row.key in keys]
    return TimeReport(
        machine=describe_machine(),
        versions=find_versions(),
        load=(load, os.getloadavg()[0]),
        seed=seed,
        quick=quick,
        wall_s=time.perf_counter() - begun_s,
        rows=tuple(rows),
    )


def read_report(path: Path) -> TimeReport:
    """
    Read what an earlier run wrote.

    Raises:
        ConfigError: The file cannot be read, or is none of this benchmark.
    """
    try:
        return TypeAdapter(TimeReport).validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(f'{path} cannot be read ({error.strerror}).') from error
    except ValidationError as error:
        raise ConfigError(
            f'{path} is no result of `bbllm bench time`; name a file that it wrote with --out.'
        ) from error


def _rows(group: Group, repeats: int, seed: int, bar: TrialBar) -> list[Row]:
    try:
        if group.needs_ros:
            need_ros('bbllm bench time')
        found = group.measure(repeats, seed, bar.advance)
    except (BbllmError, OSError) as error:
        bar.advance(f'{", ".join(group.keys)}: {error}', failed=True)
        return [Row(key=key, missing=str(error)) for key in group.keys]
    return [Row(key=key, measured=found[key]) for key in group.keys]


def _keys_of(only: str | None) -> tuple[str, ...]:
    keys = KEYS if only is None else tuple(map(str.strip, only.split(',')))
    for key in keys:
        if key not in KEYS:
            raise UnknownNameError('figure', key, KEYS)
    return keys
