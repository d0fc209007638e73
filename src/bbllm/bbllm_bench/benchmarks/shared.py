"""What the benchmarks share: progress, tables, result files and calls in several processes."""

import math
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import starmap
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pydantic_core
import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from bbllm.cli.views.output import Output, PlainConsole
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.intervals import wilson
from bbllm_bench.report.grid import Grid, print_grid
from bbllm_bench.report.words import interval

Result = TypeVar('Result')
_Bar = TypeVar('_Bar', bound='TrialBar')


class TrialBar:
    """A progress bar on a terminal, and elsewhere a line for every so many trials, on stderr."""

    def __init__(self, total: int, *, every: int = 1):
        self._console = PlainConsole(stderr=True)
        self._every = every
        self._done = 0
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(30),
            TextColumn('{task.completed:.0f}/{task.total:.0f} {task.description}', markup=False),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal or self._console.is_dumb_terminal,
        )
        self._task = self._progress.add_task('starting ...', total=total)

    def __enter__(self: _Bar) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def advance(self, text: str, *, failed: bool = False) -> None:
        """Count one more trial; a failed one stays visible above the bar."""
        self._done += 1
        self._progress.update(self._task, completed=self._done, description=text)
        if failed or (self._progress.disable and self._done % self._every == 0):
            self._console.print(text, style='red' if failed else None, soft_wrap=True)


def machine_text(machine: Mapping[str, str]) -> str:
    return ', '.join(f'{key} {value}' for key, value in machine.items())


def write_json(path: Path, report: object, *, printed: bool = False) -> None:
    """
    Write a report as JSON, with null for values that are not a number.

    Where it is *printed* too, that is by `print_json`.
    """
    data = pydantic_core.to_json(report, indent=2, inf_nan_mode='null')
    write_atomically(path, data + b'\n')
    if printed:
        print_json(path, report)


def print_json(path: Path, report: object) -> None:
    """Print a report as the one object of stdout, with the file that it is in under `out`."""
    data = pydantic_core.from_json(pydantic_core.to_json(report, inf_nan_mode='null'))
    Output(json=True).result({**data, 'out': str(path)})


def write_report(
    out: Path, report: object, grids: Sequence[Grid], notes: Sequence[str] = (), *, json: bool
) -> None:
    """Print tables and sentences, and write the report; with *json* it is printed too."""
    console = PlainConsole(stderr=json, markup=True)
    for grid in grids:
        print_grid(grid, console)
    for text in (*notes, f'written to {out}'):
        console.print(text, markup=False, soft_wrap=True)
    write_json(out, report, printed=json)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile, nan where there are no values."""
    return float(np.percentile(values, percent)) if len(values) else math.nan


def number(value: float, digits: int) -> str:
    """Return a number as text, empty for nan."""
    return '' if math.isnan(value) else f'{value:.{digits}f}'


def exit_unless(good: bool) -> None:
    if not good:
        raise typer.Exit(1)


def run_trials(
    function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], processes: int, every: int
) -> list[Result]:
    """
    Return the results of a module's function for all jobs, in their order, under a progress bar.

    With one process, all run in this one.
    """
    found: list[Result] = []
    with TrialBar(len(jobs), every=every) as bar:
        for result in results_of(function, jobs, processes):
            found.append(result)
            bar.advance(f'{len(found)} of {len(jobs)} trials')
    return found


def results_of(
    function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], processes: int
) -> Iterator[Result]:
    """Yield the results of a module's function for all jobs, in their order, as they come."""
    if processes == 1:
        yield from starmap(function, jobs)
        return
    # Spawned, not forked: MuJoCo and NumPy may have threads already. Ctrl-C, which a terminal
    # sends to all processes, is for this one to handle.
    context = multiprocessing.get_context('spawn')
    pool = ProcessPoolExecutor(processes, context, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        yield from pool.map(function, *zip(*jobs, strict=True))
    finally:
        pool.shutdown(cancel_futures=True)


def rate_text(count: int, n: int) -> str:
    """Return a rate with its interval by Wilson: `0.75 [0.30, 0.95]`."""
    if not n:
        return ''
    return f'{count / n:.2f} {interval(*wilson(count, n))}'
