"""
Where the objects of a household go in a picture: it has rooms and relations, but no positions.

Rooms are laid out in rows that fill the width, as wide as what is in them needs; in a room, boxes
stand in columns, each where there is most space left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from bbllm.viz.house import HouseItem
from bbllm.viz.shapes import Point, text_width, wrap

LETTERS_PX = 10.5
TITLE_PX = 13.0
CHIP_PX = 18.0
"""Height of an object without contents, and of the head of a box."""
HEAD_PX = 11.5
"""What the sign of a person takes beside its name."""
ROOM_HEAD_PX = 28.0
PAD_PX = 5.0
GAP_PX = 5.0
ROOM_PAD_PX = 9.0
IN_A_ROW = 4
"""As many rooms at the most stand in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """An item with its place."""

    thing: HouseItem
    left: float = 0.0
    """In the box around it, or on the page where it is a room [px]."""
    top: float = 0.0
    width: float
    height: float
    text: str = ''
    state: str = ''
    state_below: bool = False
    """Whether the state has a separate line under the name."""
    inside: tuple[float, float] | None = None
    """Where the inner part begins and ends, from the top; None where nothing is in it [px]."""
    parts: tuple[Box, ...] = ()

    def walk(self, origin: Point = (0.0, 0.0)) -> Iterator[tuple[Box, Point]]:
        """Yield this box and all in it, outer ones first, each with its corner [px]."""
        corner = (origin[0] + self.left, origin[1] + self.top)
        yield self, corner
        for part in self.parts:
            yield from part.walk(corner)


def lay_out(rooms: Sequence[HouseItem], width: float, columns: int) -> tuple[Box, ...]:
    """Place rooms and all in them in a rectangle of some width [px], with columns of boxes."""
    unit = width / columns

    @cache
    def room(index: int, n: int) -> Box:
        return _room(rooms[index], n * unit, n)

    @cache
    def row(start: int, end: int) -> tuple[float, tuple[int, ...]]:
        """Return the least height of a row of rooms, and how many columns each has then."""
        return min(
            (max(room(start + i, n).height for i, n in enumerate(shares)), shares)
            for shares in _shares(columns, end - start)
        )

    @cache
    def rows(start: int) -> tuple[float, tuple[int, ...]]:
        """Return the least height of all rooms from one on, and where their rows end."""
        if start == len(rooms):
            return 0.0, ()
        found = []
        for end in range(start + 1, min(len(rooms), start + min(IN_A_ROW, columns)) + 1):
            below, ends = rows(end)
            found.append((row(start, end)[0] + below, (end, *ends)))
        return min(found)

    placed: list[Box] = []
    top, start = 0.0, 0
    for end in rows(0)[1]:
        height, shares = row(start, end)
        left = 0.0
        for index, n in zip(range(start, end), shares, strict=True):
            placed.append(replace(room(index, n), left=left, top=top, height=height))
            left += n * unit
        top, start = top + height, end
    return tuple(placed)


def _shares(total: int, n: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to share columns among some rooms, at least one to each."""
    if n == 1:
        yield (total,)
        return
    for first in range(1, total - n + 2):
        for rest in _shares(total - first, n - 1):
            yield (first, *rest)


def _room(thing: HouseItem, width: float, columns: int) -> Box:
    """Place what is in a room: what has something in or on it as boxes, all else in rows."""
    gap = GAP_PX
    column = (width - 2 * ROOM_PAD_PX - (columns - 1) * gap) / columns
    things = (*thing.upon, *thing.within)
    boxes = [_box(item, column) for item in things if not item.is_leaf]
    # The highest first: what comes last is small and fills the gaps.
    boxes.sort(key=lambda box: -box.height)
    loose = _flow([item for item in things if item.is_leaf], column)
    bottoms = [ROOM_HEAD_PX] * columns
    parts: list[Box] = []
    rows = [list(row) for _, row in groupby(loose, key=lambda box: box.top)]
    for group in [[box] for box in boxes] + rows:
        at = bottoms.index(min(bottoms))
        left = ROOM_PAD_PX + at * (column + gap)
        parts += [replace(box, left=left + box.left, top=bottoms[at]) for box in group]
        bottoms[at] += max(box.height for box in group) + gap
    height = max(bottoms) - gap + ROOM_PAD_PX
    return Box(
        thing=thing,
        width=width,
        height=max(height, ROOM_HEAD_PX + ROOM_PAD_PX),
        text=_cut(thing.text.replace('_', ' '), TITLE_PX, width - 2 * ROOM_PAD_PX, bold=True),
        parts=tuple(parts),
    )


def _box(thing: HouseItem, width: float) -> Box:
    """Place an item with all that belongs to it in a box of a given width."""
    inner = width - 2 * PAD_PX
    text = _cut(_words(thing), LETTERS_PX, inner, bold=True)
    head = _px(text, LETTERS_PX, bold=True) + _px(thing.state, LETTERS_PX - 1, bold=thing.turned)
    below = bool(thing.state) and head + 8 > inner
    bottom = CHIP_PX + (12.0 if below else 0.0)
    parts: list[Box] = []
    inside: tuple[float, float] | None = None
    if thing.upon:
        laid = _flow(thing.upon, inner)
        parts += [replace(box, left=PAD_PX + box.left, top=bottom + box.top) for box in laid]
        bottom += _height(laid) + PAD_PX
    if thing.within:
        laid = _flow(thing.within, inner - 2 * PAD_PX + 4)
        start = bottom
        parts += [
            replace(box, left=2 * PAD_PX - 2 + box.left, top=start + PAD_PX - 1 + box.top)
            for box in laid
        ]
        bottom = start + _height(laid) + 2 * PAD_PX - 2
        inside = (start, bottom)
        bottom += PAD_PX - 1
    return Box(
        thing=thing,
        width=width,
        height=bottom,
        text=text,
        state=_cut(thing.state, LETTERS_PX - 1, inner, bold=thing.turned),
        state_below=below,
        inside=inside,
        parts=tuple(parts),
    )


def _flow(things: Sequence[HouseItem], width: float) -> list[Box]:
    """Place items in rows, from left to right."""
    placed: list[Box] = []
    left = top = row = 0.0
    for thing in things:
        box = _leaf(thing, width) if thing.is_leaf else _box(thing, _natural(thing, width))
        if left and left + box.width > width + 0.01:
            left, top, row = 0.0, top + row + GAP_PX - 1, 0.0
        placed.append(replace(box, left=left, top=top))
        left += box.width + GAP_PX - 1
        row = max(row, box.height)
    return placed


def _natural(thing: HouseItem, most: float) -> float:
    """Return how wide a box has to be for all that is in it to stand in one row, up to a limit."""
    name_px = _px(_words(thing), LETTERS_PX, bold=is_bold(thing))
    head = name_px + 2 * PAD_PX + (HEAD_PX if thing.look == 'person' else 0.0)
    if thing.state:
        head += _px(thing.state, LETTERS_PX - 1, bold=thing.turned) + 8
    widths = [head]
    for things, pad in ((thing.upon, 2 * PAD_PX), (thing.within, 4 * PAD_PX - 4)):
        each = [
            _leaf(item, most).width if item.is_leaf else _natural(item, most) for item in things
        ]
        widths.append(sum(each) + (len(each) - 1) * (GAP_PX - 1) + pad)
    return min(most, max(widths))


def _leaf(thing: HouseItem, most: float) -> Box:
    pad = 11.0 + (HEAD_PX if thing.look == 'person' else 0.0)
    text = _cut(_words(thing), LETTERS_PX, most - pad, bold=is_bold(thing))
    state = _cut(thing.state, LETTERS_PX - 1, most - pad, bold=thing.turned)
    width = _px(text, LETTERS_PX, bold=is_bold(thing)) + pad
    more = _px(state, LETTERS_PX - 1, bold=thing.turned) if state else 0.0
    below = bool(state) and width + more + 6 > most
    if below:
        width = max(width, more + pad)
    elif state:
        width += more + 6
    return Box(
        thing=thing,
        width=min(width, most),
        height=CHIP_PX + (12.0 if below else 0.0),
        text=text,
        state=state,
        state_below=below,
    )


def is_bold(thing: HouseItem) -> bool:
    """Whether the name of an item is written bold."""
    if thing.look in ('ghost', 'rest'):
        return False
    return not thing.is_leaf or thing.changed or thing.look in ('room', 'person')


def _px(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is drawn: boxes have no room to spare, so bold letters count."""
    signs = 0.3 * size * (text.count('×') + text.count('→'))
    return text_width(text, size) * (1.2 if bold else 1.02) + signs


def _words(thing: HouseItem) -> str:
    """Return the text of an item: with its number where it changed."""
    told_apart = thing.changed and thing.look not in ('person', 'room')
    return thing.name if told_apart else thing.text


def _height(boxes: Sequence[Box]) -> float:
    return max(box.top + box.height for box in boxes)


def _cut(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Return a text, cut off with an ellipsis where it is too long."""
    if not text or _px(text, size, bold=bold) <= width:
        return text
    return wrap(text, size, max(width / (1.2 if bold else 1.02), 1.0), 1)[0]
