"""
What a picture is made of: plain shapes in page coordinates, x right and y down [px].

`svg` and `png` draw the same shapes, so that both pictures agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

Point = tuple[float, float]
BACKGROUND = '#ffffff'


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """How a shape is filled and outlined; colours are `#rrggbb`, None is nothing."""

    fill: str | None = None
    fill_opacity: float = 1.0
    stroke: str | None = None
    stroke_opacity: float = 1.0
    width: float = 1.0
    """Width of the outline [px]."""
    dash: tuple[float, float] | None = None
    """Lengths of dash and gap, None for a full line [px]."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed outline, or an open line, of whose paint only the stroke counts."""

    points: tuple[Point, ...]
    paint: Paint
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text."""

    position: Point
    """Left end, middle or right end of the text, by `anchor`; half of its height."""
    text: str
    size: float = 11.0
    """Height of the font [px]."""
    color: str = '#22262b'
    anchor: Literal['start', 'middle', 'end'] = 'start'
    bold: bool = False
    halo: str | None = None
    """Colour of a soft edge around the letters, None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A part of the page that cuts off what reaches over its edge."""

    corner: Point
    """Upper left corner on the page; the shapes inside count from there [px]."""
    width: float
    height: float
    shapes: tuple[Flat, ...]


Flat: TypeAlias = Polygon | Text
Shape: TypeAlias = Flat | Panel


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole picture."""

    width: float
    height: float
    title: str
    """For readers that see no picture."""
    shapes: tuple[Shape, ...]


def circle_points(centre: Point, radius: float, n: int = 48) -> tuple[Point, ...]:
    """Return a circle as the corners of a polygon."""
    turns = (2 * math.pi * index / n for index in range(n))
    return tuple(
        (centre[0] + radius * math.cos(t), centre[1] + radius * math.sin(t)) for t in turns
    )


def ring_points(centre: Point, inner: float, outer: float) -> tuple[Point, ...]:
    """Return a ring as one outline: around outside, across a seam, back around inside."""
    around = circle_points(centre, outer, 96)
    back = circle_points(centre, inner, 96)[::-1]
    # Both circles begin at angle zero; closing each there makes the seam run there and back.
    return (*around, around[0], back[-1], *back)


def rectangle(left: float, top: float, width: float, height: float) -> tuple[Point, ...]:
    """Return the corners of an upright rectangle."""
    right, bottom = left + width, top + height
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def rounded(
    left: float, top: float, width: float, height: float, radius: float
) -> tuple[Point, ...]:
    """Return the outline of an upright rectangle with round corners."""
    r = min(radius, width / 2, height / 2)
    x0, x1, y0, y1 = left + r, left + width - r, top + r, top + height - r
    middles = ((x1, y1), (x0, y1), (x0, y0), (x1, y0))
    return tuple(
        (x + r * math.cos(turn), y + r * math.sin(turn))
        for quarter, (x, y) in enumerate(middles)
        for turn in (math.pi / 2 * (quarter + part / 4) for part in range(5))
    )


_NARROW = frozenset("iljtfr.,:;'|!()[]{} I1")
_WIDE = frozenset('mwMW@%')


def text_width(text: str, size: float) -> float:
    """Estimate how wide a text is drawn, without a font at hand; errs to the wide side [px]."""
    return size * sum(map(_letter_width, text))


def _letter_width(char: str) -> float:
    """Return the typical width of a grotesque's letter of that class, for size 1."""
    if ord(char) > 0x2E7F:
        return 1.0  # ideographs and other full-width letters
    if char in _NARROW or char in _WIDE:
        return 0.36 if char in _NARROW else 0.92
    return 0.68 if char.isupper() else 0.58


def wrap(text: str, size: float, width: float, most: int) -> list[str]:
    """Break a text into at most some lines; what does not fit becomes an ellipsis."""
    lines = ['']
    for word in text.split():
        longer = f'{lines[-1]} {word}'.strip()
        if text_width(longer, size) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    kept = lines[:most]
    cut = len(lines) > most
    for index, line in enumerate(kept):
        short = line
        while short and text_width(short, size) > width:
            short = short[:-1]
        if short != line or (cut and index == most - 1):
            kept[index] = short[: max(1, len(short) - 2)].rstrip() + '…'
    return kept
