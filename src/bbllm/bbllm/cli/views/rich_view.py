"""The live view: the plan with each step's state, what goes on, and the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.cells import set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from bbllm.core.events import (
    ApprovalAnswered,
    Episode,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    WarningRaised,
    goal_words,
)
from bbllm.core.progress import Progress, StepRow, StepState, counts_text
from bbllm.core.text import escape_texts

REFRESH_HZ = 10.0
FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
"""Marks of the step that runs, one after the other."""
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
            case FeedbackReceived(text, by):
                program = f'{by}: ' if by else ''
                self._console.print(Text(f'  » {program}{text}', style='magenta'))

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
        progress, episode = self.progress, self.progress.episode
        if episode.ending is not None:
            yield whole(progress, options.max_width)
            return
        above = head(episode)
        height = console.height - len(console.render_lines(above, options)) - FOOT_LINES
        mark = FRAMES[int(console.get_time() * REFRESH_HZ) % len(FRAMES)]
        yield above
        yield Group(*plan_lines(progress.rows, options.max_width, mark, height))
        robot_s = progress.robot_s
        if self._clock is not None and self._clock_start_s is not None:
            robot_s = max(robot_s, self._clock() - self._clock_start_s)
        wall_s = time.time() - progress.started_s if progress.started_s else 0.0
        yield foot(Text(progress.activity, style='cyan'), episode, robot_s, wall_s)


def print_progress(console: Console, progress: Progress) -> None:
    """Print the same view once, and who approved what, for an episode that is over."""
    data = [event.data for event in progress.events]
    answers = [each.text for each in data if isinstance(each, ApprovalAnswered)]
    console.print(whole(progress, console.width, '\n'.join(answers)))


def whole(progress: Progress, width: int, answers: str = '') -> RenderableType:
    """Return all of an episode that is over."""
    episode = progress.episode
    lines = plan_lines(progress.rows, width, '▶')
    approvals = [Padding(Text(answers, 'dim'), (1, 0, 0, 2))] if answers else []
    below = foot(ending_text(episode), episode, episode.robot_s, episode.wall_s)
    return Group(head(episode), *lines, *approvals, below)


def head(episode: Episode) -> RenderableType:
    who = f'{episode.planner} · Brain {episode.brain} · Body {episode.body}'
    task = Text(episode.task.instruction, style='bold')
    lines = [task, Text(who if episode.planner else '', 'dim')]
    lines += [Text(line.capitalize(), style='yellow') for line in episode.never]
    goal = episode.goal_stated
    if goal.conditions:
        lines.append(Text(f'Goal: {"; ".join(goal.conditions)}', style='cyan'))
    elif goal.why:
        lines.append(Text(f'Goal not checked: {goal.why}', style='dim'))
    return Padding(Group(*lines), (1, 0, 1, 2))


def foot(now: Text, episode: Episode, robot_s: float, wall_s: float) -> RenderableType:
    """Return what goes on or how it ended, over the counts."""
    counts = Text(counts_text(episode, robot_s, wall_s), 'dim')
    return Padding(Group(now, counts), (1, 0, 0, 2))


GOALS = {'met': 'green', 'unmet': 'bold red'}
"""Styles of what a scene shows of the goal."""


def ending_text(episode: Episode) -> Text:
    if episode.ending is None:
        return Text('INTERRUPTED: the journal breaks off here.', style='bold yellow')
    styles = {'FINISHED': 'bold green', 'CANCELLED': 'bold yellow', 'PARTLY_DONE': 'bold yellow'}
    name = episode.ending.name
    text = Text(name, style=styles.get(name, 'bold red'))
    if episode.goal:
        words = goal_words(episode.ending, episode.goal)
        text.append(f'  {words}', style=GOALS.get(episode.goal, 'bold yellow'))
    if episode.message:
        text.append(f'  {episode.message}', style='default')
    return text


STYLES = {
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
"""Columns below which the calls are left out: the steps have the same in words."""
WIDE = 120
"""Columns beyond which lines do not grow: the eye would not find the call of a step."""


_RULER = Console(width=200)
"""For breaking lines only; nothing is printed on it."""


def plan_lines(
    rows: list[StepRow], width: int, running_mark: str, height: int | None = None
) -> list[Text]:
    """Return the steps as lines, those around the current one where *height* lines are too few."""
    blocks = [_block(row, min(width, WIDE), running_mark) for row in rows]
    lines = [line for block in blocks for line in block]
    if height is None or len(lines) <= height:
        return lines
    now = (StepState.RUNNING, StepState.PENDING)
    focus = next((i for i, row in enumerate(rows) if row.state in now), len(rows))
    room = max(1, height - 2)
    # Two lines ahead for each behind: what comes next matters most.
    first = min(sum(map(len, blocks[:focus])) - room // 3, len(lines) - room)
    first = max(0, first)
    shown = lines[first : first + room]
    if first:
        shown.insert(0, _more(first, 'above'))
    if below := len(lines) - first - room:
        shown.append(_more(below, 'below'))
    return shown


def _block(row: StepRow, width: int, running_mark: str) -> list[Text]:
    """Return a step as a line, and below it the rest of its text and why it failed."""
    call_width = min(34, (width - INDENT - TIME) * 2 // 5) if width >= NARROW else 0
    text_width = max(LEAST_TEXT, width - INDENT - TIME - call_width - 2)
    mark, style, text_style, word = STYLES[row.state]
    if row.state is StepState.RUNNING:
        mark = running_mark
    first, *rest = _wrapped(row.text, text_width) or ['']
    spent = f'{row.robot_s:>6.1f} s' if row.robot_s else ''
    line = Text.assemble(
        (f'  {set_cell_size(mark, 1)}{row.index:>4} ', style),
        (set_cell_size(first, text_width), text_style),
        (f'  {set_cell_size(row.call, call_width)}{spent}', 'dim'),
    )
    below = [(part, text_style) for part in rest]
    if row.note:
        note = _wrapped(f'{row.note}{word}', max(LEAST_TEXT, width - INDENT - 3))
        below += [(f'{"  " if i else "↳ "}{part}', style) for i, part in enumerate(note)]
    lines = [line, *(Text(f'{"":{INDENT}}{part}', style) for part, style in below)]
    for line in lines:
        line.no_wrap, line.overflow = True, 'ellipsis'
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines by the cells that its letters take: Chinese ones take two."""
    return [line.plain.rstrip() for line in Text(text).wrap(_RULER, width)]


def _more(number: int, where: str) -> Text:
    return Text(f'{"":{INDENT}}… {number} more {where}', 'dim', no_wrap=True)
