"""How a run of the bench is shown while it goes on: a bar on a terminal, else lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from bbllm.bench.compare.text import Grid
from bbllm.bench.log.results import NO_CASE, EpisodeResult
from bbllm.bench.report.summary_table import print_whole
from bbllm.bench.runner.run_watch import RunProgress
from bbllm.cli.views.bar_view import BarView
from bbllm.cli.views.output import Output
from bbllm.core.text import count_of


class ProgressView(BarView):
    """
    Shows where a run stands; a `runner.Watch`.

    Args:
        output: Where words go.
        wants_end: Whether Ctrl-C was pressed.
    """

    def __init__(self, output: Output, wants_end: Callable[[], bool]):
        super().__init__(output)
        self._wants_end = wants_end

    def began(self, progress: RunProgress) -> None:
        """Show what there is to do."""
        if progress.done:
            self._say(
                f'On record already: {progress.done} of {count_of(progress.total, "episode")}.'
            )
        else:
            self._say(f'{count_of(progress.total, "episode")}.')
        self._show(progress)

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        """Show that one more episode is on record."""
        if self._bar is None:
            self._say(self.line(result, progress))
        self._show(progress)

    def warned(self, text: str) -> None:
        """Show a warning."""
        self._say(text, style='yellow')

    def wants_end(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._wants_end()

    def line(self, result: EpisodeResult, progress: RunProgress) -> str:
        """Return one episode in one line."""
        return line_of(result, progress)

    def counts(self, progress: RunProgress) -> str:
        """Return where the run stands, in one line."""
        return counts_text(progress)

    def _say(self, text: str, style: str = '') -> None:
        if self._bar is not None:
            self._bar.console.print(text, style=style or None)
        else:
            self._output.print(text, style)

    def _show(self, progress: RunProgress) -> None:
        if self._bar is not None:
            (task,) = self._bar.task_ids
            self._bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                description=self.counts(progress),
            )


def line_of(result: EpisodeResult, progress: RunProgress, of: str = '') -> str:
    """Return one episode in one line; *of* names its run."""
    left = time_text(progress.left_s)
    # Why a table could not be made is printed once, at the end.
    reason = 'its table could not be made' if result.error == NO_CASE else result.reason
    why = f'  {reason}' if reason else ''
    return (
        f'{progress.done:>4}/{progress.total}  {of}{result.key.name}  {result.verdict}  '
        f'{count_of(result.loops, "loop")}  {left} left{why}'
    )


def counts_text(progress: RunProgress) -> str:
    """Return where the run stands, in one line."""
    parts = [f'{progress.done}/{count_of(progress.total, "episode")}', f'{progress.passed} passed']
    if progress.lost:
        parts.append(f'{progress.lost} lost')
    if progress.per_minute:
        parts.append(f'{progress.per_minute:.0f} a minute')
    parts.append(f'{time_text(progress.left_s)} left')
    return ' · '.join(parts)


def time_text(duration_s: float | None) -> str:
    """Return a duration as people read it: 42 s, 3:07, 1:02:30."""
    if duration_s is None:
        return '?'
    seconds = round(duration_s)
    if seconds < 60:
        return f'{seconds} s'
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f'{hours}:{minutes:02}:{seconds:02}' if hours else f'{minutes}:{seconds:02}'


class CompareView(ProgressView):
    """
    Shows where a comparison stands; a `compare_run.CompareWatch`.

    Args:
        output: Where words go.
        wants_end: Whether Ctrl-C was pressed.
        planners: Those that play, in that order.
    """

    def __init__(self, output: Output, wants_end: Callable[[], bool], planners: Sequence[str]):
        super().__init__(output, wants_end)
        self._planners = list(planners)
        self._planner = ''
        self._stands: RunProgress | None = None

    def plays(self, planner: str) -> None:
        """Show which planner plays next, and how long all of it will take."""
        self._planner = planner
        if self._bar is None:
            stands = counts_text(self._stands) if self._stands else ''
            self._say(f'{self._place()}: {stands}'.rstrip(': '))

    def began(self, progress: RunProgress) -> None:
        """Show what there is to do."""
        super().began(progress)
        self._stands = progress

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        """Show that one more episode is on record."""
        super().ended(result, progress)
        self._stands = progress

    def line(self, result: EpisodeResult, progress: RunProgress) -> str:
        """Return one episode in one line, with its planner."""
        return line_of(result, progress, of=f'{self._planner} ')

    def counts(self, progress: RunProgress) -> str:
        """Return where all runs stand, in one line."""
        counts = counts_text(progress)
        return f'{self._place()} · {counts}' if self._planner else counts

    def _place(self) -> str:
        number = self._planners.index(self._planner) + 1
        return f'{number}/{len(self._planners)} {self._planner}'


def print_grid(grid: Grid, console: Console) -> None:
    """Print a table at its own width."""
    table = Table(
        title=grid.title,
        title_justify='left',
        caption=grid.caption or None,
        caption_justify='left',
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column(grid.header[0], no_wrap=True)
    for name in grid.header[1:]:
        table.add_column(name, justify='right', no_wrap=True)
    for row in grid.rows:
        table.add_row(*row)
    print_whole(table, console)
