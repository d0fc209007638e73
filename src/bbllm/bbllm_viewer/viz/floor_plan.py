"""
A household as one picture: rooms beside each other, and in each what is in it, on it and carried.

A household has rooms and relations, but no positions. A room is a list: an object with contents
begins a line of its own, with `on` and `in` below it; all others follow each other in lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.types import Scene
from bbllm_viewer.viz.colors import mix
from bbllm_viewer.viz.house import HouseItem, rooms_of
from bbllm_viewer.viz.shapes import (
    Flat,
    Paint,
    Panel,
    Point,
    Polygon,
    Text,
    rectangle,
    rounded,
    text_width,
    wrap,
)
from bbllm_viewer.viz.table import INK, MUTED

FLOOR = '#fbf9f5'
WALL = '#6b665d'
PAPER = '#ffffff'
CHANGED = '#d9641e'
PERSON = '#2f6fd0'
PAINTS = {
    'on': Paint(fill='#ffe68f', stroke='#d9a520', width=0.9),
    'person': Paint(fill=PERSON),
    'changed': Paint(fill=mix(CHANGED, PAPER, 0.8), stroke=CHANGED, width=1.6),
    'where it was': Paint(stroke=CHANGED, stroke_opacity=0.8, width=1.0, dash=(3, 2.5)),
}
"""Around words, by what they mean; `house_legend` has the same."""

WALL_PX = 2.0
LETTERS_PX, TITLE_PX = 10.5, 13.0
LINE_PX, TITLE_LINE_PX = 18.0, 22.0
PAD_PX = 9.0
INDENT_PX = 12.0
GAP_PX = 7.0
"""Between two words [px]."""
AROUND_PX = 3.0
"""From the letters of a word to the paint around it [px]."""
BOLD = 1.2
"""By how much bold letters are wider than `text_width` estimates, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A text in a room, where its line begins at half of its height."""

    left: float
    """In the panel [px]."""
    middle: float
    width: float
    text: str
    size: float
    """Of the letters [px]."""
    color: str
    bold: bool
    paint: Paint | None


class _Room:
    """Writes one room, line by line."""

    def __init__(self, left: float, top: float, width: float) -> None:
        self._first, self._right = left + PAD_PX, left + width - PAD_PX
        self.words: list[Word] = []
        self.bottom = top + PAD_PX / 2
        self._left = self._first

    def line(self, depth: int, height: float = LINE_PX) -> None:
        """Begin a line."""
        self._left = self._first + depth * INDENT_PX
        self.bottom += height

    def write(self, item: HouseItem, depth: int, head: str) -> None:
        """Write an object with all that is on and in it, on lines of their own."""
        self.line(depth)
        self.put(head, depth, MUTED)
        self._word(item, depth)
        for relation, parts in (('on', item.upon), ('in', item.within)):
            self.list(parts, depth + 1, 'holds' if item.style == 'person' else relation)

    def list(self, items: Sequence[HouseItem], depth: int, head: str = '') -> None:
        """Write objects: those without contents one after the other, then the others."""
        leaves = [item for item in items if item.is_leaf]
        if leaves:
            self.line(depth)
            self.put(head, depth, MUTED)
            for item in leaves:
                self._word(item, depth)
        for item in items:
            if not item.is_leaf:
                self.write(item, depth, head)

    def put(
        self,
        text: str,
        depth: int,
        color: str = INK,
        *,
        size: float = LETTERS_PX,
        bold: bool = False,
        paint: Paint | None = None,
    ) -> None:
        """Write a word where the line is, or on the next one where it does not fit."""
        if not text:
            return
        wider = BOLD if bold else 1.02
        start = self._first + depth * INDENT_PX
        width = wider * text_width(text, size)
        if self._left > start and self._left + width > self._right:
            self.line(depth)
        if self._left + width > self._right:
            room = max(self._right - self._left, 1.0)
            text = wrap(text, size, room / wider, 1)[0]
            width = min(room, wider * text_width(text, size))
        middle = self.bottom - LINE_PX / 2
        self.words.append(
            Word(
                left=self._left,
                middle=middle,
                width=width,
                text=text,
                size=size,
                color=color,
                bold=bold,
                paint=paint,
            )
        )
        self._left += width + GAP_PX

    def _word(self, item: HouseItem, depth: int) -> None:
        ghost, person = item.style == 'ghost', item.style == 'person'
        mark = 'where it was' if ghost else 'person' if person else ''
        mark = mark or ('changed' if item.changed else 'on' if item.lit else '')
        color = MUTED if item.style in ('ghost', 'rest') else PAPER if person else INK
        text = item.name if item.changed and not person else item.text
        bold = not ghost and (not item.is_leaf or item.changed or person)
        self.put(text, depth, color, bold=bold, paint=PAINTS.get(mark))
        if item.state:
            self.put(item.state, depth, CHANGED if item.turned else MUTED, bold=item.turned)


def lay_out(
    rooms: Sequence[HouseItem], width: float, columns: int
) -> tuple[list[Word], list[tuple[Point, float, float]]]:
    """Return all words, and corner, width and height of each room: each in the shortest column."""
    unit = width / columns
    bottoms = [0.0] * columns
    words, boxes = list[Word](), list[tuple[Point, float, float]]()
    for item in rooms:
        top = min(bottoms)
        at = bottoms.index(top)
        room = _Room(at * unit, top, unit)
        room.line(0, TITLE_LINE_PX)
        room.put(item.text.replace('_', ' '), 0, size=TITLE_PX, bold=True)
        room.list((*item.upon, *item.within), 0)
        words += room.words
        bottoms[at] = room.bottom + PAD_PX
        boxes.append(((at * unit, top), unit, bottoms[at] - top))
    return words, boxes


def draw_floor_plan(
    scene: Scene,
    width: float,
    corner: Point = (0.0, 0.0),
    *,
    before: Scene | None = None,
    columns: int = 3,
    changes_only: bool = False,
) -> Panel:
    """
    Return a household as one panel.

    Args:
        scene: What to draw.
        width: Of the panel [px].
        corner: Where the panel goes on the page [px].
        before: What was before; what changed since stands out, and where it was is marked.
        columns: How many columns of rooms there are.
        changes_only: Whether unchanged objects are counted in place of drawn.
    """
    words, boxes = lay_out(rooms_of(scene, before, changes_only=changes_only), width, columns)
    half = WALL_PX / 2
    shapes: list[Flat] = [
        Polygon(
            rectangle(left + half, top + half, wide - WALL_PX, high - WALL_PX),
            Paint(fill=FLOOR, stroke=WALL, width=WALL_PX),
        )
        for (left, top), wide, high in boxes
    ]
    for word in words:
        if word.paint is not None:
            left, wide = word.left - AROUND_PX, word.width + 2 * AROUND_PX
            around = rounded(left, word.middle - 7.5, wide, 15.0, 3.0)
            shapes.append(Polygon(around, word.paint))
        at = (word.left, word.middle)
        shapes.append(Text(at, word.text, word.size, word.color, bold=word.bold))
    height = max((top + high for (_, top), _, high in boxes), default=LINE_PX)
    return Panel(corner=corner, width=width, height=height, shapes=tuple(shapes))


def house_legend(*, compared: bool) -> dict[str, Paint]:
    """Return what the paints mean."""
    then = ('changed', 'where it was')
    return {name: paint for name, paint in PAINTS.items() if compared or name not in then}
