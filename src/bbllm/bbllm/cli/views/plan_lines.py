"""The plan as lines of a terminal: mark, number, step, call, time; notes below their steps."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from bbllm.cli.views.progress import StepRow, StepState

MARKS = {
    StepState.PENDING: ('·', 'dim'),
    StepState.RUNNING: ('▶', 'bold cyan'),
    StepState.DONE: ('✓', 'green'),
    StepState.PASSED: ('–', 'dim'),
    StepState.FAILED: ('✗', 'bold red'),
    StepState.REPLACED: ('↻', 'yellow'),
    StepState.STOPPED: ('■', 'bold yellow'),
}
TEXT_STYLES = {
    StepState.RUNNING: 'bold',
    StepState.REPLACED: 'yellow',
    StepState.FAILED: 'red',
    StepState.PASSED: 'dim',
    StepState.STOPPED: 'yellow',
}
WORDS = {
    StepState.REPLACED: 'planned anew',
    StepState.FAILED: 'given up',
    StepState.STOPPED: 'stopped',
}
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
    """
    Return the steps as lines, those around the current one where not all fit.

    Args:
        rows: The steps.
        width: Columns of the terminal.
        running_mark: What stands before the step that is worked on.
        height: Lines there are; None for as many as it takes.
    """
    blocks = [_block(row, width, running_mark) for row in rows]
    first, last = visible([len(block) for block in blocks], _focus(rows), height)
    lines = [line for block in blocks[first:last] for line in block]
    if first:
        lines.insert(0, _more(first, 'above'))
    if last < len(rows):
        lines.append(_more(len(rows) - last, 'below'))
    return lines


def visible(sizes: list[int], focus: int, height: int | None) -> tuple[int, int]:
    """
    Return which blocks fit around the one in focus: the first, and one behind the last.

    Args:
        sizes: Lines of each block.
        focus: The block that must be seen.
        height: Lines there are, two of which say how much is left out; None for no limit.
    """
    if height is None or sum(sizes) <= height:
        return 0, len(sizes)
    first, last = focus, min(focus + 1, len(sizes))
    room = height - 2 - sum(sizes[first:last])
    while True:
        # Two lines ahead for each behind: what comes next is what people look for.
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


def _focus(rows: list[StepRow]) -> int:
    """Return the step that is worked on, or the next one, or the last."""
    for index, row in enumerate(rows):
        if row.state in (StepState.RUNNING, StepState.PENDING):
            return index
    return max(0, len(rows) - 1)


def _block(row: StepRow, width: int, running_mark: str) -> list[Text]:
    """Return one step's lines: its own, broken where it is long, and its note."""
    width = min(width, WIDE)
    # On a narrow terminal the call has to go: the step says the same in words.
    call_width = min(34, (width - INDENT - TIME) * 2 // 5) if width >= NARROW else 0
    text_width = max(LEAST_TEXT, width - INDENT - TIME - call_width - 2)
    mark, style = MARKS[row.state]
    if row.state is StepState.RUNNING:
        mark = running_mark
    number_style = 'dim' if row.state is StepState.PENDING else style
    lines = []
    for index, part in enumerate(_broken(row.text, text_width)):
        line = Text('  ', no_wrap=True, overflow='ellipsis')
        line.append(set_cell_size(mark, 1) if index == 0 else ' ', style)
        line.append(f'{row.index:>4} ' if index == 0 else '     ', number_style)
        line.append(set_cell_size(part, text_width), TEXT_STYLES.get(row.state, ''))
        if index == 0:
            line.append(f'  {_cut(row.call, call_width)}', 'dim')
            line.append(f'{row.robot_s:>6.1f} s' if row.robot_s else '', 'dim')
        lines.append(line)
    if row.note:
        word = f' ({WORDS[row.state]})' if row.state in WORDS else ''
        for index, part in enumerate(
            _broken(row.note + word, max(LEAST_TEXT, width - INDENT - 3))
        ):
            arrow = '↳ ' if index == 0 else '  '
            lines.append(Text(f'{"":{INDENT}}{arrow}{part}', style, no_wrap=True))
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
