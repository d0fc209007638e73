"""
A household seen from above: rooms with their furniture, and in it what is in and on it.

A household has rooms and relations, but no positions. Rooms are laid out in rows that fill the
width, as wide as what is in them needs; in a room, boxes stand in columns, each where there is
most space left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, groupby, pairwise

from bbllm.core.types import Scene
from bbllm_viewer.viz.colors import mix
from bbllm_viewer.viz.house import HouseItem, rooms_of
from bbllm_viewer.viz.objects import arc
from bbllm_viewer.viz.shapes import (
    Flat,
    Paint,
    Panel,
    Point,
    Polygon,
    Text,
    circle_points,
    rectangle,
    rounded,
    text_width,
    wrap,
)
from bbllm_viewer.viz.table import INK, MUTED

FLOOR = '#fbf9f5'
WALL = '#6b665d'
WOOD = '#f0e7d6'
WOOD_EDGE = '#c8b795'
SHUT = '#e2ded6'
"""Behind what is in something closed."""
PAPER = '#ffffff'
EDGE = '#d3cdc0'
LIT = '#ffe68f'
LIT_EDGE = '#d9a520'
CHANGED = '#d9641e'
PERSON = '#2f6fd0'
WALL_PX = 3.0
GHOST = Paint(stroke=CHANGED, stroke_opacity=0.8, width=1.0, dash=(3, 2.5))
ALTERED = Paint(fill=mix(CHANGED, PAPER, 0.8), stroke=CHANGED, width=1.8)

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

    item: HouseItem
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


def _room(entity: HouseItem, width: float, columns: int) -> Box:
    """Place what is in a room: what has something in or on it as boxes, all else in rows."""
    gap = GAP_PX
    column = (width - 2 * ROOM_PAD_PX - (columns - 1) * gap) / columns
    items = (*entity.upon, *entity.within)
    boxes = [_box(item, column, wide=True) for item in items if not item.is_leaf]
    # The highest first: what comes last is small and fills the gaps.
    boxes.sort(key=lambda box: -box.height)
    loose, _, _ = _flow([item for item in items if item.is_leaf], column)
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
        item=entity,
        width=width,
        height=max(height, ROOM_HEAD_PX + ROOM_PAD_PX),
        text=_cut(entity.text.replace('_', ' '), TITLE_PX, width - 2 * ROOM_PAD_PX, bold=True),
        parts=tuple(parts),
    )


def _box(item: HouseItem, most: float, *, wide: bool = False) -> Box:
    """Place an item with all that is in and on it: in a box of that width, or as wide as it is."""
    pad = 2 * PAD_PX + (HEAD_PX if item.style == 'person' else 0.0)
    text = _cut(_words(item), LETTERS_PX, most - pad, bold=is_bold(item))
    state = _cut(item.state, LETTERS_PX - 1, most - pad, bold=item.turned)
    name_px = _px(text, LETTERS_PX, bold=is_bold(item))
    state_px = _px(state, LETTERS_PX - 1, bold=item.turned) + 6 if state else 0.0
    below = name_px + state_px > most - pad
    widths = [pad + (max(name_px, state_px) if below else name_px + state_px)]
    bottom = CHIP_PX + (12.0 if below else 0.0)
    parts: list[Box] = []
    inside: tuple[float, float] | None = None
    if item.upon:
        laid, width, height = _flow(item.upon, most - 2 * PAD_PX)
        parts += [replace(box, left=PAD_PX + box.left, top=bottom + box.top) for box in laid]
        widths.append(width + 2 * PAD_PX)
        bottom += height + PAD_PX
    if item.within:
        left, top = 2 * PAD_PX - 2, bottom + PAD_PX - 1
        laid, width, height = _flow(item.within, most - 2 * left)
        parts += [replace(box, left=left + box.left, top=top + box.top) for box in laid]
        widths.append(width + 2 * left)
        inside = (bottom, top + height + PAD_PX - 1)
        bottom = inside[1] + PAD_PX - 1
    return Box(
        item=item,
        width=most if wide else min(most, max(widths)),
        height=bottom,
        text=text,
        state=state,
        state_below=below,
        inside=inside,
        parts=tuple(parts),
    )


def _flow(items: Sequence[HouseItem], most: float) -> tuple[list[Box], float, float]:
    """Place items in rows, from left to right; return how wide and high all are, too."""
    placed: list[Box] = []
    left = top = width = bottom = 0.0
    for item in items:
        box = _box(item, most)
        if left and left + box.width > most + 0.01:
            left, top = 0.0, bottom + GAP_PX - 1
        placed.append(replace(box, left=left, top=top))
        width, bottom = max(width, left + box.width), max(bottom, top + box.height)
        left += box.width + GAP_PX - 1
    return placed, width, bottom


def is_bold(item: HouseItem) -> bool:
    """Whether the name of an item is written bold."""
    if item.style in ('ghost', 'rest'):
        return False
    return not item.is_leaf or item.changed or item.style in ('room', 'person')


def _px(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is drawn: boxes have no room to spare, so bold letters count."""
    signs = 0.3 * size * (text.count('×') + text.count('→'))
    return text_width(text, size) * (1.2 if bold else 1.02) + signs


def _words(item: HouseItem) -> str:
    """Return the text of an item: with its number where it changed."""
    reported_apart = item.changed and item.style not in ('person', 'room')
    return item.name if reported_apart else item.text


def _cut(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Return a text, cut off with an ellipsis where it is too long."""
    if not text or _px(text, size, bold=bold) <= width:
        return text
    return wrap(text, size, max(width / (1.2 if bold else 1.02), 1.0), 1)[0]


def draw_floor_plan(
    scene: Scene,
    width: float,
    corner: Point = (0.0, 0.0),
    *,
    before: Scene | None = None,
    columns: int = 6,
    changes_only: bool = False,
) -> Panel:
    """
    Return a household as one panel.

    Args:
        scene: What to draw.
        width: Of the panel [px].
        corner: Where the panel goes on the page [px].
        before: What was before; what changed since stands out, with a trace from where it was.
        columns: How many columns of boxes there are over the whole width.
        changes_only: Whether unchanged objects are counted in place of drawn.
    """
    rooms = lay_out(rooms_of(scene, before, changes_only=changes_only), width, columns)
    shapes: list[Flat] = []
    spots: dict[tuple[str, bool], tuple[Box, Point]] = {}
    for room in rooms:
        for box, at in room.walk():
            shapes += _draw(box, at)
            ghost = box.item.style == 'ghost'
            if box.item.moved or ghost:
                spots[box.item.name, ghost] = box, at
    for name, ghost in sorted(spots):
        if ghost and (name, False) in spots:
            shapes += _trace(*spots[name, True], *spots[name, False])
    height = max((room.top + room.height for room in rooms), default=CHIP_PX)
    return Panel(corner=corner, width=width, height=height, shapes=tuple(shapes))


def _draw(box: Box, at: Point) -> list[Flat]:
    """Return one box without what is in it."""
    item, (x, y) = box.item, at
    if item.style == 'room':
        half = WALL_PX / 2
        walls = rectangle(x + half, y + half, box.width - WALL_PX, box.height - WALL_PX)
        return [
            Polygon(walls, Paint(fill=FLOOR, stroke=WALL, width=WALL_PX)),
            Text((x + ROOM_PAD_PX, y + 15), box.text, TITLE_PX, INK, bold=True),
        ]
    person = item.style == 'person'
    radius = CHIP_PX / 2 if person and item.is_leaf else 3.0
    shapes: list[Flat] = [Polygon(rounded(x, y, box.width, box.height, radius), _paint(item))]
    if box.inside is not None:
        top, bottom = box.inside
        inner = (x + PAD_PX - 2, y + top, box.width - 2 * PAD_PX + 4, bottom - top)
        fill = SHUT if item.shut else PAPER
        shapes.append(Polygon(rounded(*inner, 2.0), Paint(fill=fill, stroke=EDGE, width=0.7)))
    left = x + PAD_PX
    middle = y + CHIP_PX / 2 + 0.5
    ink = MUTED if item.style in ('ghost', 'rest') else INK
    if person:
        shapes += _head(left + 3.5, middle)
        left += HEAD_PX
        ink = PAPER
    shapes.append(Text((left, middle), box.text, LETTERS_PX, ink, bold=is_bold(item)))
    if box.state:
        ink = PAPER if person else CHANGED if item.turned else MUTED
        state = Text((left, middle + 12), box.state, LETTERS_PX - 1, ink, bold=item.turned)
        if not box.state_below:
            state = replace(state, position=(x + box.width - PAD_PX, middle), anchor='end')
        shapes.append(state)
    return shapes


def _head(x: float, y: float) -> list[Flat]:
    """Return a head and shoulders."""
    paint = Paint(fill=PAPER)
    turns = (math.pi * index / 10 for index in range(11))
    shoulders = tuple((x + 4.2 * math.cos(t), y + 5.2 - 4.6 * math.sin(t)) for t in turns)
    return [Polygon(circle_points((x, y - 2.4), 2.5), paint), Polygon(shoulders, paint)]


def _paint(item: HouseItem) -> Paint:
    if item.style == 'person':
        return Paint(fill=PERSON, stroke=mix(PERSON, '#1b1e22', 0.3), width=1.0)
    if item.style == 'ghost':
        return replace(GHOST, stroke=PERSON if item.text == 'person' else CHANGED)
    if item.style == 'rest':
        return Paint(fill=FLOOR, stroke=EDGE, width=0.7)
    fill, edge = (WOOD, WOOD_EDGE) if item.style == 'furniture' else (PAPER, EDGE)
    if item.lit:
        fill, edge = (LIT, LIT_EDGE)
    if item.changed:
        whole = not item.lit and (item.moved or item.is_leaf)
        return ALTERED if whole else replace(ALTERED, fill=fill)
    return Paint(fill=fill, stroke=edge, width=0.9)


def _trace(start: Box, a: Point, end: Box, b: Point) -> list[Flat]:
    """Return the path of an object, with a tip, from border to border."""
    color = PERSON if end.item.style == 'person' else CHANGED
    first, last = (
        (x + box.width / 2, y + min(box.height, CHIP_PX) / 2)
        for box, (x, y) in ((start, a), (end, b))
    )
    # Points so near to each other that the line can be cut off at a border.
    points = arc(first, last, 100)
    outside = [p for p in points if not _within(p, a, start) and not _within(p, b, end)]
    if len(outside) < 2:
        return []
    (x0, y0), (x, y) = outside[-2:]
    angle = math.atan2(y - y0, x - x0)
    turns = (angle, angle + 2.3, angle - 2.3)
    tip = tuple((x + 5.0 * math.cos(turn), y + 5.0 * math.sin(turn)) for turn in turns)
    line = Paint(stroke=color, stroke_opacity=0.6, width=1.8)
    return [Polygon(tuple(outside), line, closed=False), Polygon(tip, Paint(fill=color))]


def _within(point: Point, corner: Point, box: Box) -> bool:
    x, y = point[0] - corner[0], point[1] - corner[1]
    margin = 2.0
    return -margin <= x <= box.width + margin and -margin <= y <= box.height + margin


def house_legend(*, compared: bool) -> dict[str, Paint]:
    """Return what the paints mean."""
    return {
        'furniture': Paint(fill=WOOD, stroke=WOOD_EDGE, width=0.9),
        'in it, closed': Paint(fill=SHUT, stroke=EDGE, width=0.7),
        'on': Paint(fill=LIT, stroke=LIT_EDGE, width=0.9),
        'person': Paint(fill=PERSON),
        **({'changed': ALTERED, 'where it was': GHOST} if compared else {}),
    }
