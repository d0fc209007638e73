"""How a comparison of planners is shown: one bar over all runs, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from bbllm.bench.compare.text import Grid
from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.report.summary_table import print_whole
from bbllm.bench.runner.run_watch import RunProgress
from bbllm.cli.views.bench_progress import ProgressView, counts_text, line_of
from bbllm.cli.views.output import Output


class CompareView(ProgressView):
    """
    Shows where a comparison stands; a `compare_run.CompareWatch`.

    Args:
        output: Where words go.
        wants_end: Tells whether somebody pressed Ctrl-C.
        planners: Who plays, in that order.
    """

    def __init__(self, output: Output, wants_end: Callable[[], bool], planners: Sequence[str]):
        super().__init__(output, wants_end)
        self._planners = list(planners)
        self._planner = ''
        self._stands: RunProgress | None = None

    def plays(self, planner: str) -> None:
        """Show who plays from now on, and how long all of it will still take."""
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
