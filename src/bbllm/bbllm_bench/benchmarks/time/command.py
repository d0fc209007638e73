"""`bbllm bench time`: each figure beside a reference of the same run, and beside another run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Figures that are measured together."""

    keys: tuple[str, ...]
    measure: Callable[[int, int], Mapping[str, Measured]]
    """Called with the number of repetitions and the seed."""
    repeats: int = 1
    quick: int = 1
    """Repetitions of a quick run."""
    needs_ros: bool = False


GROUPS = (
    Group(
        keys=('plan', 'reach'), measure=motion.measure_planning, repeats=motion.QUESTIONS,
        quick=100,
    ),
    Group(
        keys=('moving', 'share', 'cycle', 'physics'), measure=motion.measure_motion,
        repeats=motion.TRIALS, quick=10,
    ),
    Group(keys=('help',), measure=commands.measure_help, repeats=commands.HELPS, quick=3),
    Group(keys=('episodes',), measure=commands.measure_episodes, repeats=commands.RUNS),
    Group(
        keys=('idle',), measure=stack.measure_idle, repeats=stack.WINDOWS, quick=4,
        needs_ros=True,
    ),
    Group(
        keys=('overhead',), measure=stack.measure_overhead, repeats=stack.TASKS, quick=2,
        needs_ros=True,
    ),
    Group(
        keys=('fast', 'ready'), measure=stack.measure_starts, repeats=stack.STARTS,
        needs_ros=True,
    ),
    Group(
        keys=('idle-one', 'fast-one'), measure=stack.measure_one_process,
        repeats=stack.WINDOWS, quick=4, needs_ros=True,
    ),
    Group(keys=('task', 'calls'), measure=task.measure_tasks, repeats=task.REPEATS),
)  # fmt: skip
"""In the order in which they are measured."""
KEYS = tuple(key for group in GROUPS for key in group.keys)


def time(
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


def run_time_bench(keys: Sequence[str], seed: int = 0, *, quick: bool = False) -> TimeReport:
    """Measure some figures; those that cannot be measured here have the reason instead."""
    load, begun_s = os.getloadavg()[0], perf_counter()
    asked = [group for group in GROUPS if {*group.keys} & {*keys}]
    rows: list[Row] = []
    with TrialBar(len(asked)) as bar:
        for group in asked:
            found = _rows(group, group.quick if quick else group.repeats, seed)
            rows += [row for row in found if row.key in keys]
            why = next((f': {row.missing}' for row in found if row.missing), '')
            bar.advance(f'{", ".join(group.keys)}{why}', failed=bool(why))
    return TimeReport(
        machine=describe_machine(),
        versions=find_versions(),
        load=(load, os.getloadavg()[0]),
        seed=seed,
        quick=quick,
        wall_s=perf_counter() - begun_s,
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


def _rows(group: Group, repeats: int, seed: int) -> list[Row]:
    try:
        if group.needs_ros:
            need_ros('bbllm bench time')
        found = group.measure(repeats, seed)
    except (BbllmError, OSError) as error:
        return [Row(key=key, missing=str(error)) for key in group.keys]
    return [Row(key=key, measured=found[key]) for key in group.keys]


def _keys_of(only: str | None) -> tuple[str, ...]:
    keys = KEYS if only is None else tuple(map(str.strip, only.split(',')))
    for key in keys:
        if key not in KEYS:
            raise UnknownNameError('figure', key, KEYS)
    return keys
