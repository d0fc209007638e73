"""The live view: the plan with each step's state, what goes on, and the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.text import Text

from bbllm.cli.views.plan_lines import plan_lines
from bbllm.cli.views.progress import Progress, counts_text
from bbllm.core.events import (
    ApprovalAnswered,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    WarningRaised,
)
from bbllm.core.printable import escape_texts

REFRESH_HZ = 10.0
FOOT_LINES = 5
"""What goes on, the counts, an empty line, and room below for them to wrap once."""


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
        match escape_texts(event.data):
            case EpisodeStarted() if self._clock is not None:
                self._clock_start_s = self._clock()
            case WarningRaised(text):
                self._console.print(Text(f'  ! {text}', style='yellow'))
            case ApprovalAnswered(granted=granted, text=text):
                mark, style = ('✓', 'green') if granted else ('✗', 'yellow')
                self._console.print(Text(f'  {mark} {text}', style=style))
            case FeedbackReceived(text):
                self._console.print(Text(f'  » {text}', style='magenta'))

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

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stand still, for example while a person is asked something below."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw what is known now."""
        width = options.max_width
        frame = self._spinner.render(console.get_time())
        mark = frame.plain if isinstance(frame, Text) else '▶'
        above = console.render_lines(head(self.progress), options)
        height = None if self.progress.ending else console.height - len(above) - FOOT_LINES
        yield head(self.progress)
        yield Group(*plan_lines(self.progress.rows, width, mark, height))
        yield Padding(self._foot(), (1, 0, 0, 2))

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
    console.print(Group(*plan_lines(progress.rows, console.width, '▶')))
    if progress.approvals:
        console.print(Padding(Text('\n'.join(progress.approvals), 'dim'), (1, 0, 0, 2)))
    counts = counts_text(progress, progress.robot_s)
    console.print(Padding(Group(ending_text(progress), Text(counts, 'dim')), (1, 0, 0, 2)))


def head(progress: Progress) -> RenderableType:
    """Return the task and who works on it."""
    who = f'{progress.planner} · Brain {progress.brain} · Body {progress.body}'
    return Padding(
        Group(Text(progress.task, style='bold'), Text(who if progress.planner else '', 'dim')),
        (1, 0, 1, 2),
    )


def ending_text(progress: Progress) -> Text:
    """Return how it ended and why, in colour."""
    if not progress.ending:
        return Text('INTERRUPTED: the journal breaks off here.', style='bold yellow')
    styles = {'FINISHED': 'bold green', 'CANCELLED': 'bold yellow', 'PARTLY_DONE': 'bold yellow'}
    style = styles.get(progress.ending, 'bold red')
    text = Text(progress.ending, style=style)
    if progress.message:
        text.append(f'  {progress.message}', style='default')
    return text
