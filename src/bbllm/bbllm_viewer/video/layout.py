"""Where on a picture of a video each text is, for any size: a page of plain shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bbllm.core.progress import StepRow, StepState
from bbllm.core.text import cut
from bbllm_viewer.video.story import MOST_CHARACTERS, Story, Tone
from bbllm_viewer.viz.shapes import (
    Flat,
    Page,
    Paint,
    Panel,
    Point,
    Polygon,
    Shape,
    Text,
    rectangle,
    text_width,
    wrap,
)

WIDTH, HEIGHT = 960.0, 540.0
"""Of a page; videos have any size of these proportions [px]."""
EDGE = 12.0
HEAD, FOOT = 62.0, 62.0
"""Heights of the task above and of the caption below [px]."""
VIEW_WIDTH = 500.0
MIDDLE = HEIGHT - HEAD - FOOT
"""Height of the view and the plan [px]."""
CLOCK_WIDTH = 190.0
INK, DIM, LINE, CARD, GROUND = '#1b2228', '#5c6873', '#dfe3e7', '#ffffff', '#f6f7f8'
BROAD, BOLD = 1.04, 1.16
"""How much wider the letters of `viz.png` and its bold ones are than `text_width` estimates."""
TONES = {
    Tone.PLAIN: ('#5c6873', '#eef1f4'),
    Tone.WORK: ('#1f5fa8', '#e8f1fb'),
    Tone.FAILURE: ('#b3261e', '#fdecea'),
    Tone.REPAIR: ('#8f5a00', '#fff1d2'),
    Tone.SUCCESS: ('#1d7a46', '#e4f4ea'),
    Tone.OPEN: ('#8f5a00', '#fff6e3'),
}
"""Colours of the label and of the ground."""
STYLES = {
    StepState.PENDING: ('○', DIM, DIM),
    StepState.RUNNING: ('▶', TONES[Tone.WORK][0], INK),
    StepState.DONE: ('✓', TONES[Tone.SUCCESS][0], INK),
    StepState.PASSED: ('–', DIM, DIM),
    StepState.FAILED: ('✗', TONES[Tone.FAILURE][0], INK),
    StepState.REPLACED: ('↻', TONES[Tone.REPAIR][0], DIM),
    StepState.STOPPED: ('■', TONES[Tone.OPEN][0], INK),
}
"""Mark, its colour and the colour of the text, by state."""
AROUND = 24
"""Steps before and after the one that is worked on, of which a picture shows what fits."""
ROW, NOTE_ROW, GAP = 19.5, 16.0, 4.0
TEXT, NOTE = 14.0, 12.5
"""Heights of lines and of letters of steps and causes [px]."""
MARK_AT, NUMBER_END, TEXT_AT, TIME_WIDTH = 20.0, 54.0, 62.0, 46.0
CALL_SHARE = 0.42
"""Of a wide plan that the calls take."""
WIDE = 700.0
"""From this width on a plan has the calls beside its steps [px]."""


@dataclass(frozen=True, slots=True)
class Block:
    """A step of the plan as lines."""

    row: StepRow
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def height(self) -> float:
        """With the gap below [px]."""
        return ROW * len(self.lines) + NOTE_ROW * len(self.notes) + GAP


def view_box(scale: float) -> tuple[int, int, int, int]:
    """Return left, top, width and height of the arm on a picture [px]."""
    left, top, width, height = EDGE, HEAD, VIEW_WIDTH, MIDDLE
    return round(left * scale), round(top * scale), round(width * scale), round(height * scale)


def page_of(story: Story, *, view: bool) -> Page:
    """Return all but the arm and the clock; without a view, the plan takes its room."""
    left = EDGE + (VIEW_WIDTH + EDGE if view else 0.0)
    plan = _plan(story, (left, HEAD), WIDTH - EDGE - left)
    shapes = (*_head(story), plan, _foot(story))
    return Page(width=WIDTH, height=HEIGHT, title=story.task, shapes=shapes)


def clock_of(clock: str, remark: str, tone: Tone) -> Panel:
    """Return the clock at the end of the caption."""
    right, ground = CLOCK_WIDTH - 14.0, TONES[tone][1]
    corner = (WIDTH - EDGE - CLOCK_WIDTH, HEIGHT - FOOT + 10.0)
    shapes = (
        Polygon(rectangle(0, 0, CLOCK_WIDTH, 40.0), Paint(fill=ground)),
        Text((right, 12.0), clock, 13, INK, 'end'),
        Text((right, 29.0), remark, 11, DIM, 'end'),
    )
    return Panel(corner=corner, width=CLOCK_WIDTH, height=40.0, shapes=shapes)


def _wrapped(text: str, size: float, width: float, most: int, *, bold: bool = False) -> list[str]:
    return wrap(text, size, width / (BOLD if bold else BROAD), most)


def _head(story: Story) -> list[Shape]:
    width = WIDTH - 2 * EDGE
    (task,) = _wrapped(story.task, 19, width, 1, bold=True)
    (line,) = _wrapped(story.who, 12, width, 1)
    return [
        Text((EDGE, 22.0), task, 19, INK, bold=True),
        Text((EDGE, 45.0), line, 12, DIM),
    ]


def _foot(story: Story) -> Panel:
    caption = story.caption
    ink, ground = TONES[caption.tone]
    width, height = WIDTH - 2 * EDGE, FOOT - 20.0
    room = width - 18.0 - CLOCK_WIDTH
    size, first, lines = 15.0, 27.0, _wrapped(caption.text, 15, room, 2)
    if len(lines) > 1:
        size, first, lines = 12.0, 21.0, _wrapped(caption.text, 12, room, 2)
    shapes: list[Flat] = [
        Polygon(rectangle(0, 0, width, height), Paint(fill=ground)),
        Polygon(rectangle(0, 0, 5, height), Paint(fill=ink)),
        Text((18.0, 9.0), caption.label, 10, ink, bold=True),
    ]
    shapes += [Text((18.0, first + 14.0 * i), line, size, INK) for i, line in enumerate(lines)]
    corner = (EDGE, HEIGHT - FOOT + 10.0)
    return Panel(corner=corner, width=width, height=height, shapes=tuple(shapes))


def _plan(story: Story, corner: Point, width: float) -> Panel:
    calls = width >= WIDE
    rows, begin = story.rows, max(0, story.focus - AROUND)
    around = rows[begin : story.focus + AROUND + 1]
    blocks = [_block(row, width, calls=calls, timed=story.timed) for row in around]
    shapes: list[Flat] = [
        Polygon(rectangle(0.5, 0.5, width - 1, MIDDLE - 1), Paint(fill=CARD, stroke=LINE)),
        Text((12.0, 16.0), 'PLAN', 11, DIM, bold=True),
    ]
    top, room = 32.0, MIDDLE - 38.0
    if not blocks:
        shapes.append(Text((12.0, 41.0), 'no plan yet', NOTE, DIM))
    first, last = 0, len(blocks)
    if sum(block.height for block in blocks) > room or len(rows) > len(blocks):
        first, last = _in_sight(blocks, story.focus - begin, room - 2 * ROW)
    if above := begin + first:
        shapes.append(Text((TEXT_AT, top + 7), f'… {above} more above', NOTE, DIM))
        top += ROW
    for block in blocks[first:last]:
        shapes += _drawn(block, top, width, calls=calls)
        top += block.height
    if below := len(rows) - begin - last:
        shapes.append(Text((TEXT_AT, top + 7), f'… {below} more below', NOTE, DIM))
    return Panel(corner=corner, width=width, height=MIDDLE, shapes=tuple(shapes))


def _in_sight(blocks: list[Block], focus: int, room: float) -> tuple[int, int]:
    """Return the first and the end of the steps that fit, from two before the one in focus."""
    first = last = max(0, min(focus - 2, len(blocks) - 1))
    used = 0.0
    while last < len(blocks) and used + blocks[last].height <= room:
        used += blocks[last].height
        last += 1
    while first and used + blocks[first - 1].height <= room:
        first -= 1
        used += blocks[first].height
    return first, last


def _style_of(row: StepRow) -> tuple[str, str, str]:
    # A repair has begun, and its plan is not there yet.
    failed = row.state is StepState.RUNNING and row.note
    return STYLES[StepState.FAILED if failed else row.state]


def _ground(row: StepRow) -> str | None:
    if row.state is StepState.RUNNING:
        return TONES[Tone.FAILURE if row.note else Tone.WORK][1]
    if row.state is StepState.REPLACED:
        return TONES[Tone.REPAIR][1]
    return TONES[Tone.FAILURE][1] if row.note and row.state is StepState.FAILED else None


def _text_room(width: float, *, calls: bool) -> float:
    room = width - TEXT_AT - TIME_WIDTH - 12.0
    return room * (1 - CALL_SHARE) if calls else room


def _block(row: StepRow, width: float, *, calls: bool, timed: bool) -> Block:
    text, note = (cut(text, MOST_CHARACTERS) for text in (row.text, row.note))
    lines = _wrapped(text, TEXT, _text_room(width, calls=calls), 2)
    notes = _wrapped(note, NOTE, width - TEXT_AT - 20.0, 2) if note else []
    shown = row if timed else replace(row, robot_s=0.0)
    return Block(shown, tuple(lines), tuple(notes))


def _drawn(block: Block, top: float, width: float, *, calls: bool) -> list[Flat]:
    row = block.row
    mark, mark_ink, ink = _style_of(row)
    shapes: list[Flat] = []
    if ground := _ground(row):
        box = rectangle(6.0, top - 1, width - 12.0, block.height - GAP + 2)
        stripe = rectangle(6.0, top - 1, 3.0, block.height - GAP + 2)
        shapes = [Polygon(box, Paint(fill=ground)), Polygon(stripe, Paint(fill=mark_ink))]
    middle = top + ROW / 2
    shapes += [
        Text((MARK_AT, middle), mark, TEXT, mark_ink, 'middle'),
        Text((NUMBER_END, middle), str(row.index), NOTE, DIM, 'end'),
    ]
    if row.robot_s:
        shapes.append(Text((width - 14.0, middle), f'{row.robot_s:.1f} s', 11, DIM, 'end'))
    if calls and row.call:
        room = _text_room(width, calls=calls)
        (call,) = _wrapped(row.call, NOTE, room * CALL_SHARE / (1 - CALL_SHARE) - 12.0, 1)
        shapes.append(Text((TEXT_AT + room + 8.0, middle), call, NOTE, DIM))
    for i, line in enumerate(block.lines):
        y = middle + i * ROW
        shapes.append(Text((TEXT_AT, y), line, TEXT, ink))
        if row.state is StepState.REPLACED:
            through = ((TEXT_AT, y), (TEXT_AT + text_width(line, TEXT), y))
            shapes.append(Polygon(through, Paint(stroke=DIM), closed=False))
    top += ROW * len(block.lines)
    for i, line in enumerate(block.notes):
        shapes.append(Text((TEXT_AT, top + NOTE_ROW * (i + 0.5)), line, NOTE, mark_ink))
    return shapes
