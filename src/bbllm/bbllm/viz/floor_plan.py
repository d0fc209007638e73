"""A household seen from above: rooms with their furniture, and in it what is in and on it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from bbllm.core.types import Scene
from bbllm.viz.colors import mix
from bbllm.viz.house import HouseItem, rooms_of
from bbllm.viz.house_layout import (
    CHIP_PX,
    HEAD_PX,
    LETTERS_PX,
    PAD_PX,
    ROOM_PAD_PX,
    TITLE_PX,
    Box,
    is_bold,
    lay_out,
)
from bbllm.viz.objects import arc
from bbllm.viz.shapes import (
    Circle,
    Flat,
    Line,
    Paint,
    Panel,
    Point,
    Polygon,
    Text,
    rectangle,
    rounded,
    text_width,
)
from bbllm.viz.table import INK, MUTED

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
    Return one panel.

    Args:
        scene: What to draw.
        width: Of the panel [px].
        corner: Where the panel goes on the page [px].
        before: What was before; what changed since stands out, with a trace from where it was.
        columns: How many columns of boxes there are over the whole width.
        changes_only: Whether unchanged objects are counted in place of drawn.
    """
    rooms = rooms_of(scene, before, changes_only=changes_only)
    boxes = lay_out(rooms, width, columns)
    shapes: list[Flat] = []
    spots: dict[tuple[str, bool], Box] = {}
    corners: dict[tuple[str, bool], Point] = {}
    for room in boxes:
        for box, at in room.walk():
            shapes += _draw(box, at)
            if box.thing.moved or box.thing.look == 'ghost':
                key = (box.thing.name, box.thing.look == 'ghost')
                spots[key], corners[key] = box, at
    for name, ghost in sorted(spots):
        if ghost and (name, False) in spots:
            ends = [(spots[name, old], corners[name, old]) for old in (True, False)]
            shapes += _trace(*ends[0], *ends[1])
    height = max((room.top + room.height for room in boxes), default=CHIP_PX)
    return Panel(corner=corner, width=width, height=height, shapes=tuple(shapes))


def _draw(box: Box, at: Point) -> list[Flat]:
    """Return one box without what is in it."""
    thing = box.thing
    if thing.look == 'room':
        return _draw_room(box, at)
    x, y = at
    radius = CHIP_PX / 2 if thing.look == 'person' and thing.is_leaf else 3.0
    shapes: list[Flat] = [Polygon(rounded(x, y, box.width, box.height, radius), _paint(thing))]
    if box.inside is not None:
        top, bottom = box.inside
        inner = (x + PAD_PX - 2, y + top, box.width - 2 * PAD_PX + 4, bottom - top)
        fill = SHUT if thing.shut else PAPER
        shapes.append(Polygon(rounded(*inner, 2.0), Paint(fill=fill, stroke=EDGE, width=0.7)))
    left = x + (PAD_PX if not thing.is_leaf else 5.5)
    middle = y + CHIP_PX / 2 + 0.5
    if thing.look == 'person':
        shapes += _head(left + 3.5, middle, thing)
        left += HEAD_PX
    shapes.append(
        Text(
            position=(left, middle),
            text=box.text,
            size=LETTERS_PX,
            color=_ink(thing),
            bold=is_bold(thing),
        )
    )
    if box.state:
        shapes.append(_state(box, left, middle, x + box.width - PAD_PX))
    return shapes


def _state(box: Box, left: float, middle: float, right: float) -> Text:
    thing = box.thing
    color = CHANGED if thing.turned else MUTED
    if thing.look == 'person':
        color = '#ffffff'
    if box.state_below:
        return Text(
            position=(left, middle + 12),
            text=box.state,
            size=LETTERS_PX - 1,
            color=color,
            bold=thing.turned,
        )
    return Text(
        position=(right, middle),
        text=box.state,
        size=LETTERS_PX - 1,
        color=color,
        anchor='end',
        bold=thing.turned,
    )


def _draw_room(box: Box, at: Point) -> list[Flat]:
    x, y = at
    half = WALL_PX / 2
    walls = rectangle(x + half, y + half, box.width - WALL_PX, box.height - WALL_PX)
    return [
        Polygon(walls, Paint(fill=FLOOR, stroke=WALL, width=WALL_PX)),
        Text(
            position=(x + ROOM_PAD_PX, y + 15), text=box.text, size=TITLE_PX, color=INK, bold=True
        ),
    ]


def _head(x: float, y: float, thing: HouseItem) -> list[Flat]:
    """Return a head and shoulders."""
    paint = Paint(fill='#ffffff' if thing.look == 'person' else PERSON)
    shoulders = tuple(
        (x + 4.2 * math.cos(t), y + 5.2 - 4.6 * math.sin(t))
        for t in (math.pi * index / 10 for index in range(11))
    )
    return [Circle((x, y - 2.4), 2.5, paint), Polygon(shoulders, paint)]


def _paint(thing: HouseItem) -> Paint:
    if thing.look == 'person':
        return Paint(fill=PERSON, stroke=mix(PERSON, '#1b1e22', 0.3), width=1.0)
    if thing.look == 'ghost':
        color = PERSON if thing.text == 'person' else CHANGED
        return Paint(stroke=color, stroke_opacity=0.8, width=1.0, dash=(3, 2.5))
    if thing.look == 'rest':
        return Paint(fill=FLOOR, stroke=EDGE, width=0.7)
    fill, edge = (WOOD, WOOD_EDGE) if thing.look == 'furniture' else (PAPER, EDGE)
    if thing.lit:
        fill, edge = (LIT, LIT_EDGE)
    if thing.changed:
        whole = thing.moved or thing.is_leaf
        fill = fill if thing.lit or not whole else mix(CHANGED, '#ffffff', 0.8)
        return Paint(fill=fill, stroke=CHANGED, width=1.8)
    return Paint(fill=fill, stroke=edge, width=0.9)


def _ink(thing: HouseItem) -> str:
    if thing.look == 'person':
        return '#ffffff'
    return MUTED if thing.look in ('ghost', 'rest') else INK


def _trace(start: Box, a: Point, end: Box, b: Point) -> list[Flat]:
    """Return the path of an object, with a tip, from border to border."""
    color = PERSON if end.thing.look == 'person' else CHANGED
    centres = [
        (x + box.width / 2, y + min(box.height, CHIP_PX) / 2)
        for box, (x, y) in ((start, a), (end, b))
    ]
    points = _finer(arc(centres[0], centres[1]))
    outside = [
        point
        for point in points
        if not _within(point, a, start.width, start.height)
        and not _within(point, b, end.width, end.height)
    ]
    if len(outside) < 2:
        return []
    line = Paint(stroke=color, stroke_opacity=0.6, width=1.8)
    (x0, y0), (x1, y1) = outside[-2], outside[-1]
    return [Line(tuple(outside), line), _tip((x0, y0), (x1, y1), color)]


def _finer(points: Sequence[Point]) -> list[Point]:
    """Return a line with points so near to each other that it can be cut off at a border."""
    return [
        (ax + (bx - ax) * share, ay + (by - ay) * share)
        for (ax, ay), (bx, by) in itertools.pairwise(points)
        for share in (0.0, 0.2, 0.4, 0.6, 0.8)
    ]


def _tip(before: Point, end: Point, color: str) -> Polygon:
    angle = math.atan2(end[1] - before[1], end[0] - before[0])
    points = [
        (end[0] + r * math.cos(angle + turn), end[1] + r * math.sin(angle + turn))
        for r, turn in ((5.0, 0.0), (5.0, 2.3), (5.0, -2.3))
    ]
    return Polygon(tuple(points), Paint(fill=color))


def _within(point: Point, corner: Point, width: float, height: float) -> bool:
    x, y = point
    margin = 2.0
    return (
        corner[0] - margin <= x <= corner[0] + width + margin
        and corner[1] - margin <= y <= corner[1] + height + margin
    )


def legend(corner: Point, *, compared: bool) -> Sequence[Flat]:
    """Return what the colours mean, in one line from a point on."""
    entries: list[tuple[str, Paint]] = [
        ('furniture', Paint(fill=WOOD, stroke=WOOD_EDGE, width=0.9)),
        ('in it, closed', Paint(fill=SHUT, stroke=EDGE, width=0.7)),
        ('on', Paint(fill=LIT, stroke=LIT_EDGE, width=0.9)),
        ('person', Paint(fill=PERSON)),
    ]
    if compared:
        entries += [
            ('changed', Paint(fill=mix(CHANGED, '#ffffff', 0.8), stroke=CHANGED, width=1.8)),
            ('where it was', Paint(stroke=CHANGED, stroke_opacity=0.8, width=1.0, dash=(3, 2.5))),
        ]
    x, y = corner
    shapes: list[Flat] = []
    for text, paint in entries:
        shapes += [
            Polygon(rounded(x, y - 7, 20, 14, 3.0), paint),
            Text(position=(x + 26, y), text=text, size=12, color=INK),
        ]
        x += 26 + text_width(text, 12) + 16
    return shapes
