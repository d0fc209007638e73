"""
Shapes as SVG for a page that holds hundreds of drawings.

`pictures.svg` writes documents that any viewer shows, so each shape there carries all of its
paint. Here the paints become CSS classes that all drawings of a page share, which makes them about
four times smaller.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from markupsafe import escape

from bbllm.bench.report.words import finalize
from bbllm.viz.shapes import Circle, Line, Paint, Point, Polygon, Text

Flat = Polygon | Circle | Line | Text


class Inks:
    """Gives each paint a class, and knows their rules in the end."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def draw(self, shapes: Iterable[Flat]) -> str:
        """Return the elements of some shapes."""
        return ''.join(self._element(shape) for shape in shapes)

    @property
    def rules(self) -> str:
        """CSS of all classes that were used so far."""
        return '\n'.join(f'.{name}{{{rule}}}' for rule, name in self._classes.items())

    def _class(self, rule: str) -> str:
        return self._classes.setdefault(rule, f'i{len(self._classes)}')

    def _element(self, shape: Flat) -> str:
        if isinstance(shape, Text):
            x, y = shape.position
            where = f'x="{_number(x)}" y="{_number(y + 0.35 * shape.size)}"'
            return f'<text class="{self._class(_letters(shape))}" {where}>{_text(shape)}</text>'
        if isinstance(shape, Circle):
            x, y = shape.centre
            where = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(shape.radius)}"'
            return f'<circle class="{self._class(_paint(shape.paint))}" {where}/>'
        points = _path(shape.points)
        if isinstance(shape, Line):
            rule = _paint(replace(shape.paint, fill=None))
            return f'<path class="{self._class(rule)}" d="{points}"/>'
        return f'<path class="{self._class(_paint(shape.paint))}" d="{points}z"/>'


def _paint(paint: Paint) -> str:
    parts = [f'fill:{paint.fill or "none"}']
    if paint.fill is not None and paint.fill_opacity != 1:
        parts.append(f'fill-opacity:{_number(paint.fill_opacity, 2)}')
    if paint.stroke is not None:
        parts.append(f'stroke:{paint.stroke};stroke-width:{_number(paint.width, 2)}')
        if paint.stroke_opacity != 1:
            parts.append(f'stroke-opacity:{_number(paint.stroke_opacity, 2)}')
        if paint.dash is not None:
            parts.append(f'stroke-dasharray:{_number(paint.dash[0])} {_number(paint.dash[1])}')
    return ';'.join(parts)


def _letters(text: Text) -> str:
    parts = [f'font-size:{_number(text.size)}px;fill:{text.color};text-anchor:{text.anchor}']
    if text.bold:
        parts.append('font-weight:600')
    if text.halo is not None:
        parts.append(f'stroke:{text.halo};stroke-width:3px;paint-order:stroke')
    return ';'.join(parts)


def _path(points: tuple[Point, ...]) -> str:
    """Return a path through points, each relative to the one before."""
    tenths = [(round(10 * x), round(10 * y)) for x, y in points]
    parts = [f'M{_tenth(tenths[0][0])} {_tenth(tenths[0][1])}']
    for (ax, ay), (bx, by) in zip(tenths, tenths[1:], strict=False):
        # Differences of rounded points, so that rounding does not add up along the way.
        parts.append(f'l{_tenth(bx - ax)} {_tenth(by - ay)}')
    return ''.join(parts)


def _tenth(value: int) -> str:
    return _number(value / 10)


def _number(value: float, digits: int = 1) -> str:
    text = f'{value:.{digits}f}'
    text = text.rstrip('0').rstrip('.') if '.' in text else text
    return '0' if text == '-0' else text


def _text(shape: Text) -> str:
    return str(escape(finalize(shape.text)))
