"""What the benchmarks share: progress, tables, result files and calls in several processes."""

import json
import math
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
import typer
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

from bbllm.cli.views.output import PlainConsole
from bbllm.core.errors import ConfigError

INK, GRID, BLUE, ORANGE = '#22262b', '#d9dce0', '#2f6db3', '#c2571a'
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


def table_of(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = ''
) -> Table:
    """Return a table whose first column is text and whose other columns are figures."""
    table = Table(title=title, caption=caption or None)
    for index, name in enumerate(columns):
        table.add_column(name, justify='right' if index else 'left')
    for row in rows:
        table.add_row(*row)
    return table


def machine_text(machine: Mapping[str, str]) -> str:
    """Return the machine that a report was measured on, in one line."""
    return ', '.join(f'{key} {value}' for key, value in machine.items())


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a report as JSON, with null for values that are not a number."""
    path.write_text(json.dumps(_plain(data), indent=2) + '\n', 'utf-8')


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


@contextmanager
def new_figure(title: str, subtitle: str) -> Iterator[tuple[Figure, Axes]]:
    """Yield a chart with its axes; its style applies while the context is open."""
    style: dict[Any, Any] = {
        **{'font.size': 9, 'axes.edgecolor': GRID, 'text.parse_math': False},
        **{'axes.spines.top': False, 'axes.spines.right': False},
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(6, 3.7), layout='constrained')
        axes = figure.subplots()
        axes.grid(axis='y', color=GRID)
        axes.set_title(subtitle, loc='left', fontsize=8)
        figure.suptitle(title, x=0.01, ha='left', fontsize=11, fontweight='bold')
        yield figure, axes


def write_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write a chart as SVG and PNG."""
    with mpl.rc_context({'svg.hashsalt': name, 'svg.fonttype': 'none'}):
        figure.savefig(folder / f'{name}.svg', metadata={'Date': None})
    figure.savefig(folder / f'{name}.png', dpi=150)


def make_folder(folder: Path) -> None:
    """
    Create the folder of a report; call this before a long measurement.

    Raises:
        ConfigError: The folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f'The folder {folder} cannot be made ({error.strerror}); give --out one that can.'
        ) from error


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile, nan where there are no values."""
    return float(np.percentile(values, percent)) if len(values) else math.nan


def number(value: float, digits: int) -> str:
    """Return a number as text, empty for nan."""
    return '' if math.isnan(value) else f'{value:.{digits}f}'


def exit_unless(good: bool) -> None:
    """End the command with exit code 1 unless everything was good."""
    if not good:
        raise typer.Exit(1)


def results_of(
    function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], processes: int
) -> Generator[Result, None, None]:
    """
    Yield the results of a module's function for all jobs, in the order of completion.

    If the caller stops early, jobs that have not started are dropped. The worker processes ignore
    Ctrl-C, which a terminal sends to all of them: the caller decides what to do. With one process,
    all run in this one.
    """
    if processes == 1:
        for job in jobs:
            yield function(*job)
        return
    # Spawned, not forked: MuJoCo and NumPy may have threads already.
    context = multiprocessing.get_context('spawn')
    pool = ProcessPoolExecutor(processes, context, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        for future in as_completed([pool.submit(function, *job) for job in jobs]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
