"""Shapes as SVG text, made without any graphics library."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr

from bbllm.core.text import escape_hidden
from bbllm_viewer.viz.shapes import BACKGROUND, Page, Paint, Panel, Point, Shape, Text

FONTS = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def to_svg(page: Page) -> str:
    width, height = _number(page.width), _number(page.height)
    inks = Inks()
    drawn = inks.draw(page.shapes)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}" font-family={quoteattr(FONTS)} stroke-linejoin="round" \
stroke-linecap="round" role="img">
<title>{_text(page.title)}</title>
<style>
{inks.rules}
</style>
<rect width="{width}" height="{height}" fill="{BACKGROUND}"/>
{drawn}
</svg>
"""


class Inks:
    """
    Draws shapes, each with a CSS class for its paint.

    Classes keep a page with hundreds of drawings about four times smaller than paints that each
    shape carries.
    """

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def draw(self, shapes: Iterable[Shape]) -> str:
        """Return the elements of some shapes."""
        return ''.join(self._element(shape) for shape in shapes)

    @property
    def rules(self) -> str:
        """CSS of all classes that were used so far."""
        return '\n'.join(f'.{name}{{{rule}}}' for rule, name in self._classes.items())

    def _class(self, rule: str) -> str:
        return self._classes.setdefault(rule, f'i{len(self._classes)}')

    def _element(self, shape: Shape) -> str:
        if isinstance(shape, Panel):
            left, top = (_number(value) for value in shape.corner)
            size = f'width="{_number(shape.width)}" height="{_number(shape.height)}"'
            inside = self.draw(shape.shapes)
            return f'<svg x="{left}" y="{top}" {size} overflow="hidden">{inside}</svg>'
        if isinstance(shape, Text):
            x, y = shape.position
            # `dominant-baseline` is not known to every viewer; a third of the size centres.
            where = f'x="{_number(x)}" y="{_number(y + 0.35 * shape.size)}"'
            letters = self._class(_letters(shape))
            return f'<text class="{letters}" {where}>{_text(shape.text)}</text>'
        rule = _paint(shape.paint if shape.closed else replace(shape.paint, fill=None))
        path = _path(shape.points) + ('z' if shape.closed else '')
        return f'<path class="{self._class(rule)}" d="{path}"/>'


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


# A page has tens of thousands of steps, of a few hundred lengths.
@lru_cache(maxsize=4096)
def _tenth(count: int) -> str:
    """Return a length that is so many tenths."""
    return _number(count / 10)


def _number(value: float, digits: int = 1) -> str:
    text = f'{value:.{digits}f}'
    text = text.rstrip('0').rstrip('.') if '.' in text else text
    return '0' if text == '-0' else text


def _text(text: str) -> str:
    # XML 1.0 has no way at all to write most control characters.
    return escape(escape_hidden(text))
