"""The live view: the plan with each step's state, what goes on, and the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.text import Text

from bbllm.cli.views.progress import Progress, StepRow, StepState, counts_text
from bbllm.core.events import (
    ApprovalAnswered,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    WarningRaised,
)
from bbllm.core.text import escape_texts

REFRESH_HZ = 10.0
FOOT_LINES = 5
"""What goes on, the counts, an empty line, and room below for them to wrap once."""


class LiveView:
    """
    Shows an episode on a terminal while it runs; the last picture stays.

    Args:
        console: The terminal.
        clock: The world's clock [s]; without one, simulated time moves on with each call.
    """

    def __init__(self, console: Console, clock: Callable[[], float] | None = None):
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

    def __exit__(self, *error: object) -> None:
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
        progress = self.progress
        frame = self._spinner.render(console.get_time())
        mark = frame.plain if isinstance(frame, Text) else '▶'
        above = console.render_lines(head(progress), options)
        height = None if progress.ending else console.height - len(above) - FOOT_LINES
        yield head(progress)
        yield Group(*plan_lines(progress.rows, options.max_width, mark, height))
        robot_s = progress.robot_s
        if self._clock is not None and self._clock_start_s is not None and not progress.ending:
            robot_s = max(robot_s, self._clock() - self._clock_start_s)
        wall_s = progress.wall_s if progress.ending else time.time() - progress.started_s
        counts = counts_text(progress, robot_s, wall_s if progress.started_s else 0.0)
        now = ending_text(progress) if progress.ending else Text(progress.activity, style='cyan')
        yield Padding(Group(now, Text(counts, 'dim')), (1, 0, 0, 2))


def print_progress(console: Console, progress: Progress) -> None:
    """Print the same view once, for an episode that is over."""
    console.print(head(progress))
    console.print(Group(*plan_lines(progress.rows, console.width, '▶')))
    if progress.approvals:
        console.print(Padding(Text('\n'.join(progress.approvals), 'dim'), (1, 0, 0, 2)))
    counts = counts_text(progress, progress.robot_s)
    console.print(Padding(Group(ending_text(progress), Text(counts, 'dim')), (1, 0, 0, 2)))


def head(progress: Progress) -> RenderableType:
    who = f'{progress.planner} · Brain {progress.brain} · Body {progress.body}'
    return Padding(
        Group(Text(progress.task, style='bold'), Text(who if progress.planner else '', 'dim')),
        (1, 0, 1, 2),
    )


def ending_text(progress: Progress) -> Text:
    if not progress.ending:
        return Text('INTERRUPTED: the journal breaks off here.', style='bold yellow')
    styles = {'FINISHED': 'bold green', 'CANCELLED': 'bold yellow', 'PARTLY_DONE': 'bold yellow'}
    style = styles.get(progress.ending, 'bold red')
    text = Text(progress.ending, style=style)
    if progress.message:
        text.append(f'  {progress.message}', style='default')
    return text


LOOKS = {
    StepState.PENDING: ('·', 'dim', '', ''),
    StepState.RUNNING: ('▶', 'bold cyan', 'bold', ''),
    StepState.DONE: ('✓', 'green', '', ''),
    StepState.PASSED: ('–', 'dim', 'dim', ''),
    StepState.FAILED: ('✗', 'bold red', 'red', ' (given up)'),
    StepState.REPLACED: ('↻', 'yellow', 'yellow', ' (planned anew)'),
    StepState.STOPPED: ('■', 'bold yellow', 'yellow', ' (stopped)'),
}
"""By state: the mark and its style, the style of the text, and words after a note."""
INDENT = 8
"""Columns before a step's text: edge, mark and number."""
TIME = 9
LEAST_TEXT = 16
NARROW = 60
WIDE = 120
"""Columns beyond which lines do not grow: the eye would not find the call of a step."""
_RULER = Console(width=200)
"""For breaking lines only; nothing is printed on it."""


def plan_lines(
    rows: list[StepRow], width: int, running_mark: str, height: int | None = None
) -> list[Text]:
    """Return the steps as lines, those around the current one where *height* lines are too few."""
    blocks = [_block(row, width, running_mark) for row in rows]
    now = (StepState.RUNNING, StepState.PENDING)
    focus = next((i for i, row in enumerate(rows) if row.state in now), max(0, len(rows) - 1))
    first, last = visible([len(block) for block in blocks], focus, height)
    lines = [line for block in blocks[first:last] for line in block]
    if first:
        lines.insert(0, _more(first, 'above'))
    if last < len(rows):
        lines.append(_more(len(rows) - last, 'below'))
    return lines


def visible(sizes: list[int], focus: int, height: int | None) -> tuple[int, int]:
    """
    Return which blocks fit around the one in focus: the first, and one behind the last.

    Of the lines of *height*, two count what is left out; None is no limit.
    """
    if height is None or sum(sizes) <= height:
        return 0, len(sizes)
    first, last = focus, min(focus + 1, len(sizes))
    room = height - 2 - sum(sizes[first:last])
    while True:
        # Two lines ahead for each behind: what comes next matters most.
        ahead = last < len(sizes) and sizes[last] <= room
        behind = first > 0 and sizes[first - 1] <= room
        if not ahead and not behind:
            return first, last
        if ahead and (not behind or sum(sizes[focus:last]) <= 2 * sum(sizes[first:focus])):
            room -= sizes[last]
            last += 1
        else:
            first -= 1
            room -= sizes[first]


def _block(row: StepRow, width: int, running_mark: str) -> list[Text]:
    width = min(width, WIDE)
    # On a narrow terminal the call is left out: the step has the same in words.
    call_width = min(34, (width - INDENT - TIME) * 2 // 5) if width >= NARROW else 0
    text_width = max(LEAST_TEXT, width - INDENT - TIME - call_width - 2)
    mark, style, text_style, word = LOOKS[row.state]
    if row.state is StepState.RUNNING:
        mark = running_mark
    first, *rest = _broken(row.text, text_width)
    line = Text('  ', no_wrap=True, overflow='ellipsis')
    line.append(f'{set_cell_size(mark, 1)}{row.index:>4} ', style)
    line.append(set_cell_size(first, text_width), text_style)
    line.append(f'  {_cut(row.call, call_width)}', 'dim')
    line.append(f'{row.robot_s:>6.1f} s' if row.robot_s else '', 'dim')
    lines = [line]
    for part in rest:
        line = Text(' ' * INDENT, no_wrap=True, overflow='ellipsis')
        lines.append(line.append(set_cell_size(part, text_width), text_style))
    if row.note:
        arrow = '↳ '
        for part in _broken(row.note + word, max(LEAST_TEXT, width - INDENT - 3)):
            lines.append(Text(f'{"":{INDENT}}{arrow}{part}', style, no_wrap=True))
            arrow = '  '
    return lines


def _broken(text: str, width: int) -> list[str]:
    lines = Text(text).wrap(_RULER, width)
    return [line.plain.rstrip() for line in lines] or ['']


def _cut(text: str, width: int) -> str:
    if cell_len(text) > width:
        return set_cell_size(text, max(0, width - 1)) + '…'[:width]
    return set_cell_size(text, width)


def _more(number: int, where: str) -> Text:
    return Text(f'{"":{INDENT}}… {number} more {where}', 'dim', no_wrap=True)
