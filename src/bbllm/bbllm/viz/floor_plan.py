"""A household seen from above: rooms with their furniture, and in it what is in and on it."""

import math
from dataclasses import replace

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
    Paint,
    Panel,
    Point,
    Polygon,
    Polyline,
    Text,
    rectangle,
    rounded,
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
            ghost = box.thing.look == 'ghost'
            if box.thing.moved or ghost:
                spots[box.thing.name, ghost] = box, at
    for name, ghost in sorted(spots):
        if ghost and (name, False) in spots:
            shapes += _trace(*spots[name, True], *spots[name, False])
    height = max((room.top + room.height for room in rooms), default=CHIP_PX)
    return Panel(corner=corner, width=width, height=height, shapes=tuple(shapes))


def _draw(box: Box, at: Point) -> list[Flat]:
    """Return one box without what is in it."""
    thing, (x, y) = box.thing, at
    if thing.look == 'room':
        half = WALL_PX / 2
        walls = rectangle(x + half, y + half, box.width - WALL_PX, box.height - WALL_PX)
        return [
            Polygon(walls, Paint(fill=FLOOR, stroke=WALL, width=WALL_PX)),
            Text((x + ROOM_PAD_PX, y + 15), box.text, TITLE_PX, INK, bold=True),
        ]
    person = thing.look == 'person'
    radius = CHIP_PX / 2 if person and thing.is_leaf else 3.0
    shapes: list[Flat] = [Polygon(rounded(x, y, box.width, box.height, radius), _paint(thing))]
    if box.inside is not None:
        top, bottom = box.inside
        inner = (x + PAD_PX - 2, y + top, box.width - 2 * PAD_PX + 4, bottom - top)
        fill = SHUT if thing.shut else PAPER
        shapes.append(Polygon(rounded(*inner, 2.0), Paint(fill=fill, stroke=EDGE, width=0.7)))
    left = x + PAD_PX
    middle = y + CHIP_PX / 2 + 0.5
    ink = MUTED if thing.look in ('ghost', 'rest') else INK
    if person:
        shapes += _head(left + 3.5, middle)
        left += HEAD_PX
        ink = PAPER
    shapes.append(Text((left, middle), box.text, LETTERS_PX, ink, bold=is_bold(thing)))
    if box.state:
        ink = PAPER if person else CHANGED if thing.turned else MUTED
        state = Text((left, middle + 12), box.state, LETTERS_PX - 1, ink, bold=thing.turned)
        if not box.state_below:
            state = replace(state, position=(x + box.width - PAD_PX, middle), anchor='end')
        shapes.append(state)
    return shapes


def _head(x: float, y: float) -> list[Flat]:
    """Return a head and shoulders."""
    paint = Paint(fill=PAPER)
    turns = (math.pi * index / 10 for index in range(11))
    shoulders = tuple((x + 4.2 * math.cos(t), y + 5.2 - 4.6 * math.sin(t)) for t in turns)
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
        fill = fill if thing.lit or not whole else mix(CHANGED, PAPER, 0.8)
        return Paint(fill=fill, stroke=CHANGED, width=1.8)
    return Paint(fill=fill, stroke=edge, width=0.9)


def _trace(start: Box, a: Point, end: Box, b: Point) -> list[Flat]:
    """Return the path of an object, with a tip, from border to border."""
    color = PERSON if end.thing.look == 'person' else CHANGED
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
    return [Polyline(tuple(outside), line), Polygon(tip, Paint(fill=color))]


def _within(point: Point, corner: Point, box: Box) -> bool:
    x, y = point[0] - corner[0], point[1] - corner[1]
    margin = 2.0
    return -margin <= x <= box.width + margin and -margin <= y <= box.height + margin


def house_legend(*, compared: bool) -> dict[str, Paint]:
    """Return what the paints mean."""
    ghost = Paint(stroke=CHANGED, stroke_opacity=0.8, width=1.0, dash=(3, 2.5))
    changed = Paint(fill=mix(CHANGED, PAPER, 0.8), stroke=CHANGED, width=1.8)
    return {
        'furniture': Paint(fill=WOOD, stroke=WOOD_EDGE, width=0.9),
        'in it, closed': Paint(fill=SHUT, stroke=EDGE, width=0.7),
        'on': Paint(fill=LIT, stroke=LIT_EDGE, width=0.9),
        'person': Paint(fill=PERSON),
        **({'changed': changed, 'where it was': ghost} if compared else {}),
    }
