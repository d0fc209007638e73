"""Draws pages with Pillow, a twentieth of the work of `bbllm_viewer.viz.png`; a video has many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from bbllm_viewer.viz.shapes import Page, Panel, Polygon, Shape, Text

ANCHORS = {'start': 'lm', 'middle': 'mm', 'end': 'rm'}
LINE = 1.7
"""Height of a line to that of its font; what reaches beyond it, as heaped accents, is cut off."""


def draw(drawn: Page | Panel, scale: float, ground: str) -> Image.Image:
    """Return a page or panel, with so many pixels for each of its own."""
    size = round(drawn.width * scale), round(drawn.height * scale)
    picture = Image.new('RGB', size, ground)
    _draw_all(picture, drawn.shapes, scale, ground)
    return picture


def _draw_all(picture: Image.Image, shapes: Sequence[Shape], scale: float, ground: str) -> None:
    pen = ImageDraw.Draw(picture)
    for shape in shapes:
        if isinstance(shape, Panel):
            left, top = (round(side * scale) for side in shape.corner)
            picture.paste(draw(shape, scale, ground), (left, top))
        elif isinstance(shape, Polygon):
            _draw_polygon(pen, shape, scale)
        else:
            _write(picture, shape, scale)


def _draw_polygon(pen: ImageDraw.ImageDraw, shape: Polygon, scale: float) -> None:
    points = [(x * scale, y * scale) for x, y in shape.points]
    width = max(1, round(shape.paint.width * scale))
    if shape.closed:
        pen.polygon(points, shape.paint.fill, shape.paint.stroke, width)
    else:
        pen.line(points, shape.paint.stroke, width)


def _write(picture: Image.Image, text: Text, scale: float) -> None:
    font = _font(round(text.size * scale, 1), bold=text.bold)
    height = round(LINE * text.size * scale)
    mask = Image.new('L', (picture.width, height), 0)
    x, y = text.position[0] * scale, text.position[1] * scale
    place = x, height / 2
    ImageDraw.Draw(mask).text(place, text.text, 255, font, ANCHORS[text.anchor])
    picture.paste(text.color, (0, round(y - height / 2)), mask)


@lru_cache
def _font(size_px: float, *, bold: bool) -> ImageFont.FreeTypeFont:
    # Of matplotlib, so that every machine draws the same; Pillow's own font has no arrows.
    import matplotlib

    name = 'DejaVuSans-Bold.ttf' if bold else 'DejaVuSans.ttf'
    return ImageFont.truetype(Path(matplotlib.get_data_path(), 'fonts', 'ttf', name), size_px)
