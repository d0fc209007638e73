"""
Where the objects of a household go in a picture: it has rooms and relations, but no positions.

Rooms are laid out in rows that fill the width, as wide as what is in them needs; in a room, boxes
stand in columns, each where there is most space left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, groupby, pairwise

from bbllm.viz.house import HouseItem
from bbllm.viz.shapes import Point, text_width, wrap

LETTERS_PX = 10.5
TITLE_PX = 13.0
CHIP_PX = 18.0
"""Height of an object without contents, and of the head of a box."""
HEAD_PX = 11.5
"""What the sign of a person takes beside its name."""
ROOM_HEAD_PX = 28.0
PAD_PX = 5.5
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

    def height_of(start: int, shares: Sequence[int]) -> float:
        return max(room(start + i, n).height for i, n in enumerate(shares))

    @cache
    def rows(start: int) -> tuple[float, tuple[tuple[int, ...], ...]]:
        """Return the least height of all rooms from one on, and each row's columns per room."""
        if start == len(rooms):
            return 0.0, ()
        found = []
        for n in range(1, min(IN_A_ROW, columns, len(rooms) - start) + 1):
            below, rest = rows(start + n)
            for cuts in combinations(range(1, columns), n - 1):
                shares = tuple(b - a for a, b in pairwise((0, *cuts, columns)))
                found.append((height_of(start, shares) + below, (shares, *rest)))
        return min(found)

    placed: list[Box] = []
    top = 0.0
    for shares in rows(0)[1]:
        height, left = height_of(len(placed), shares), 0.0
        for n in shares:
            box = room(len(placed), n)
            placed.append(replace(box, left=left, top=top, height=height))
            left += box.width
        top += height
    return tuple(placed)


def _room(thing: HouseItem, width: float, columns: int) -> Box:
    """Place what is in a room: what has something in or on it as boxes, all else in rows."""
    gap = GAP_PX
    column = (width - 2 * ROOM_PAD_PX - (columns - 1) * gap) / columns
    things = (*thing.upon, *thing.within)
    boxes = [_box(item, column, wide=True) for item in things if not item.is_leaf]
    # The highest first: what comes last is small and fills the gaps.
    boxes.sort(key=lambda box: -box.height)
    loose, _, _ = _flow([item for item in things if item.is_leaf], column)
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


def _box(thing: HouseItem, most: float, *, wide: bool = False) -> Box:
    """Place an item with all that is in and on it: in a box of that width, or as wide as it is."""
    pad = 2 * PAD_PX + (HEAD_PX if thing.look == 'person' else 0.0)
    text = _cut(_words(thing), LETTERS_PX, most - pad, bold=is_bold(thing))
    state = _cut(thing.state, LETTERS_PX - 1, most - pad, bold=thing.turned)
    name_px = _px(text, LETTERS_PX, bold=is_bold(thing))
    state_px = _px(state, LETTERS_PX - 1, bold=thing.turned) + 6 if state else 0.0
    below = name_px + state_px > most - pad
    widths = [pad + (max(name_px, state_px) if below else name_px + state_px)]
    bottom = CHIP_PX + (12.0 if below else 0.0)
    parts: list[Box] = []
    inside: tuple[float, float] | None = None
    if thing.upon:
        laid, width, height = _flow(thing.upon, most - 2 * PAD_PX)
        parts += [replace(box, left=PAD_PX + box.left, top=bottom + box.top) for box in laid]
        widths.append(width + 2 * PAD_PX)
        bottom += height + PAD_PX
    if thing.within:
        left, top = 2 * PAD_PX - 2, bottom + PAD_PX - 1
        laid, width, height = _flow(thing.within, most - 2 * left)
        parts += [replace(box, left=left + box.left, top=top + box.top) for box in laid]
        widths.append(width + 2 * left)
        inside = (bottom, top + height + PAD_PX - 1)
        bottom = inside[1] + PAD_PX - 1
    return Box(
        thing=thing,
        width=most if wide else min(most, max(widths)),
        height=bottom,
        text=text,
        state=state,
        state_below=below,
        inside=inside,
        parts=tuple(parts),
    )


def _flow(things: Sequence[HouseItem], most: float) -> tuple[list[Box], float, float]:
    """Place items in rows, from left to right; return how wide and high all are, too."""
    placed: list[Box] = []
    left = top = width = bottom = 0.0
    for thing in things:
        box = _box(thing, most)
        if left and left + box.width > most + 0.01:
            left, top = 0.0, bottom + GAP_PX - 1
        placed.append(replace(box, left=left, top=top))
        width, bottom = max(width, left + box.width), max(bottom, top + box.height)
        left += box.width + GAP_PX - 1
    return placed, width, bottom


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


def _cut(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Return a text, cut off with an ellipsis where it is too long."""
    if not text or _px(text, size, bold=bold) <= width:
        return text
    return wrap(text, size, max(width / (1.2 if bold else 1.02), 1.0), 1)[0]
