"""The live view: the plan with each step's state, what goes on, and the counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from bbllm.cli.progress import Progress, StepRow, StepState, counts_text
from bbllm.core.types import Event, EventKind

MARKS = {
    StepState.PENDING: ('·', 'dim'),
    StepState.RUNNING: ('▶', 'bold cyan'),
    StepState.DONE: ('✓', 'green'),
    StepState.PASSED: ('–', 'dim'),
    StepState.FAILED: ('✗', 'bold red'),
    StepState.REPLACED: ('↻', 'yellow'),
}
REFRESH_HZ = 10.0
OTHER_LINES = 9
"""Lines of the view that are not steps: head, counts, room for the prompt."""


class LiveView:
    """Shows an episode on a terminal while it runs; the last picture stays."""

    def __init__(self, console: Console, clock: Callable[[], float] | None = None):
        """
        Make a view.

        Args:
            console: The terminal.
            clock: The world's clock [s]; without one, simulated time moves on with each call.
        """
        self.progress = Progress()
        self._console = console
        self._clock = clock
        self._clock_start_s: float | None = None
        self._spinner = Spinner('dots', style='cyan')
        self._live = Live(
            self, console=console, refresh_per_second=REFRESH_HZ, vertical_overflow='crop'
        )

    def __call__(self, event: Event) -> None:
        """Take one event in; the view follows by itself."""
        self.progress.take(event)
        if event.kind is EventKind.STARTED and self._clock is not None:
            self._clock_start_s = self._clock()
        elif event.kind is EventKind.WARNING:
            self._console.print(Text(f'  ! {event.data["text"]}', style='yellow'))
        elif event.kind is EventKind.HUMAN_FEEDBACK:
            self._console.print(Text(f'  » {event.data["text"]}', style='magenta'))

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.refresh()
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw what is known now."""
        height = console.height - OTHER_LINES if not self.progress.ending else None
        yield Group(
            head(self.progress),
            plan_table(self.progress, height, self._spinner),
            Padding(self._foot(), (1, 0, 0, 2)),
        )

    def _foot(self) -> RenderableType:
        progress = self.progress
        robot_s = progress.robot_s
        if self._clock is not None and self._clock_start_s is not None and not progress.ending:
            robot_s = max(robot_s, self._clock() - self._clock_start_s)
        wall_s = progress.wall_s if progress.ending else time.time() - progress.started_s
        counts = counts_text(progress, robot_s, wall_s if progress.started_s else 0.0)
        if progress.ending:
            return Group(ending_text(progress), Text(counts, 'dim'))
        return Group(Text(progress.activity, style='cyan'), Text(counts, 'dim'))


def print_progress(console: Console, progress: Progress) -> None:
    """Print the same view once, for an episode that is over."""
    console.print(head(progress))
    console.print(plan_table(progress, None, None))
    foot = Group(ending_text(progress), Text(counts_text(progress, progress.robot_s), 'dim'))
    console.print(Padding(foot, (1, 0, 0, 2)))


def head(progress: Progress) -> RenderableType:
    """Return the task and who works on it."""
    who = f'{progress.planner} · Brain {progress.brain} · Body {progress.body}'
    return Padding(
        Group(Text(progress.task, style='bold'), Text(who if progress.planner else '', 'dim')),
        (1, 0, 1, 2),
    )


def plan_table(progress: Progress, height: int | None, spinner: Spinner | None) -> Table:
    """Return the steps, those around the current one where not all fit into the height."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=3, justify='right')
    table.add_column(justify='right')
    table.add_column(ratio=3)
    table.add_column(ratio=2, style='dim', no_wrap=True)
    table.add_column(justify='right', style='dim', no_wrap=True, min_width=7)
    rows = progress.rows
    first, last = visible_rows(rows, height)
    if first:
        table.add_row('', '', Text(f'… {first} steps above', 'dim'), '', '')
    for row in rows[first:last]:
        mark, style = MARKS[row.state]
        running = row.state is StepState.RUNNING
        number_style = 'dim' if row.state is StepState.PENDING else style
        text_style = {
            StepState.RUNNING: 'bold',
            StepState.PENDING: '',
            StepState.REPLACED: 'yellow',
            StepState.FAILED: 'red',
            StepState.PASSED: 'dim',
        }.get(row.state, '')
        table.add_row(
            spinner if running and spinner is not None else Text(mark, style),
            Text(str(row.index), number_style),
            Text(row.text, text_style),
            Text(row.call),
            Text(f'{row.robot_s:.1f} s' if row.robot_s else ''),
        )
        if row.note:
            table.add_row('', '', Text(f'↳ {row.note}', style), Text(_word(row), style), '')
    if last < len(rows):
        table.add_row('', '', Text(f'… {len(rows) - last} steps below', 'dim'), '', '')
    return table


def visible_rows(rows: list[StepRow], height: int | None) -> tuple[int, int]:
    """Return which rows to show, first and behind the last, so that about *height* lines fit."""
    sizes = [2 if row.note else 1 for row in rows]
    if height is None or sum(sizes) <= max(height, 3):
        return 0, len(rows)
    height = max(height - 2, 3)
    focus = next(
        (i for i, row in enumerate(rows) if row.state in (StepState.RUNNING, StepState.PENDING)),
        len(rows) - 1,
    )
    first = last = focus
    used = 0
    while used < height and (first > 0 or last < len(rows)):
        # Two lines ahead for each behind: what comes next is what people look for.
        if last < len(rows) and (last - focus <= 2 * (focus - first) or first == 0):
            used += sizes[last]
            last += 1
        else:
            first -= 1
            used += sizes[first]
    return first, last


def _word(row: StepRow) -> str:
    if row.state is StepState.REPLACED:
        return 'planned anew'
    return 'given up' if row.state is StepState.FAILED else ''


def ending_text(progress: Progress) -> Text:
    """Return how it ended and why, in colour."""
    if not progress.ending:
        return Text('INTERRUPTED: the journal breaks off here.', style='bold yellow')
    style = {'FINISHED': 'bold green', 'CANCELLED': 'bold yellow'}.get(progress.ending, 'bold red')
    text = Text(progress.ending, style=style)
    if progress.message:
        text.append(f'  {progress.message}', style='default')
    return text
