"""A page as SVG text, made without any graphics library."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from bbllm.core.printable import escape_hidden
from bbllm.viz.shapes import Circle, Line, Page, Paint, Panel, Point, Polygon, Shape, Text

FONTS = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def to_svg(page: Page) -> str:
    """Return the page as one SVG document."""
    width, height = _number(page.width), _number(page.height)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family={quoteattr(FONTS)} role="img">',
        f'<title>{_text(page.title)}</title>',
        f'<rect width="{width}" height="{height}" fill="{page.background}"/>',
        *(_element(shape) for shape in page.shapes),
        '</svg>',
    ]
    return '\n'.join(lines) + '\n'


def _element(shape: Shape) -> str:
    if isinstance(shape, Panel):
        inside = '\n'.join(_element(item) for item in shape.shapes)
        x, y = (_number(value) for value in shape.corner)
        size = f'width="{_number(shape.width)}" height="{_number(shape.height)}"'
        return f'<svg x="{x}" y="{y}" {size} overflow="hidden">\n{inside}\n</svg>'
    if isinstance(shape, Text):
        return _text_element(shape)
    if isinstance(shape, Circle):
        x, y = (_number(value) for value in shape.centre)
        return f'<circle cx="{x}" cy="{y}" r="{_number(shape.radius)}"{_paint(shape.paint)}/>'
    if isinstance(shape, Line):
        return f'<polyline points="{_points(shape.points)}" fill="none"{_stroke(shape.paint)}/>'
    assert isinstance(shape, Polygon)
    return f'<polygon points="{_points(shape.points)}"{_paint(shape.paint)}/>'


def _text_element(text: Text) -> str:
    x, y = text.position
    weight = ' font-weight="600"' if text.bold else ''
    # `dominant-baseline` is not known to every viewer; a third of the size centres the letters.
    where = (
        f'x="{_number(x)}" y="{_number(y + 0.35 * text.size)}" '
        f'font-size="{_number(text.size)}" text-anchor="{text.anchor}"{weight}'
    )
    letters = f'<text {where} fill="{text.color}">{_text(text.text)}</text>'
    if text.halo is None:
        return letters
    # Two texts, because `paint-order` is not known to every viewer either.
    edge = f'fill="{text.halo}" stroke="{text.halo}" stroke-width="3" stroke-linejoin="round"'
    return f'<text {where} {edge} aria-hidden="true">{_text(text.text)}</text>\n{letters}'


def _paint(paint: Paint) -> str:
    if paint.fill is None:
        return f' fill="none"{_stroke(paint)}'
    opacity = '' if paint.fill_opacity == 1 else f' fill-opacity="{_number(paint.fill_opacity)}"'
    return f' fill="{paint.fill}"{opacity}{_stroke(paint)}'


def _stroke(paint: Paint) -> str:
    if paint.stroke is None:
        return ''
    text = f' stroke="{paint.stroke}" stroke-width="{_number(paint.width)}"'
    if paint.stroke_opacity != 1:
        text += f' stroke-opacity="{_number(paint.stroke_opacity)}"'
    if paint.dash is not None:
        text += f' stroke-dasharray="{_number(paint.dash[0])} {_number(paint.dash[1])}"'
    return text + ' stroke-linejoin="round" stroke-linecap="round"'


def _points(points: tuple[Point, ...]) -> str:
    return ' '.join(f'{_number(x)},{_number(y)}' for x, y in points)


def _number(value: float) -> str:
    return f'{value:.2f}'.rstrip('0').rstrip('.')


def _text(text: str) -> str:
    # XML 1.0 has no way at all to write most control characters.
    return escape(escape_hidden(text))
