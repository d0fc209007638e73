"""Draws pages with Pillow, from the shapes that `svg` writes: as PNG files, and for videos."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFont

from bbllm.core.text import escape_line
from bbllm_viewer.viz.shapes import BACKGROUND, Page, Panel, Point, Polygon, Shape, Text

ANCHORS = {'start': 'lm', 'middle': 'mm', 'end': 'rm'}
LINE = 1.7
"""Height of a line to that of its font; what reaches beyond it, as heaped accents, is cut off."""
HALO_PX = 1.5
"""Width of the edge around letters, in pixels of the page."""
SAMPLES = 2
"""Points along each side of a pixel of a PNG file, since Pillow draws polygons without any."""


def to_png(page: Page, scale: float = 2.0) -> bytes:
    """Return the page as a PNG file, with so many pixels for each pixel of the page."""
    file = io.BytesIO()
    draw(page, scale, BACKGROUND, SAMPLES).save(file, 'PNG')
    return file.getvalue()


def draw(drawn: Page | Panel, scale: float, ground: str, samples: int = 1) -> Image.Image:
    """Return a page or panel, with so many pixels for each of its own, and samples in these."""
    size = (samples * round(drawn.width * scale), samples * round(drawn.height * scale))
    picture = Image.new('RGB', size, ground)
    _draw_all(picture, drawn.shapes, samples * scale)
    return picture.reduce(samples)


def _draw_all(picture: Image.Image, shapes: Sequence[Shape], scale: float) -> None:
    for shape in shapes:
        if isinstance(shape, Panel):
            left, top = (round(side * scale) for side in shape.corner)
            right, bottom = left + round(shape.width * scale), top + round(shape.height * scale)
            part = picture.crop((left, top, right, bottom))
            _draw_all(part, shape.shapes, scale)
            picture.paste(part, (left, top))
        elif isinstance(shape, Polygon):
            _draw_polygon(picture, shape, scale)
        else:
            _write(picture, shape, scale)


def _draw_polygon(picture: Image.Image, shape: Polygon, scale: float) -> None:
    paint, points = shape.paint, [(x * scale, y * scale) for x, y in shape.points]
    if shape.closed and paint.fill is not None:
        pen = ImageDraw.Draw(picture, None if paint.fill_opacity == 1 else 'RGBA')
        pen.polygon(points, (*ImageColor.getrgb(paint.fill), round(255 * paint.fill_opacity)))
    if paint.stroke is None:
        return
    width = max(1, round(paint.width * scale))
    if paint.dash is None:
        # Once more to the second point, so that there is a joint at the first.
        line = [*points, *(points[:2] if shape.closed else ())]
        _stroke(picture, line, paint.stroke, paint.stroke_opacity, width)
        return
    on, off = (scale * length for length in paint.dash)
    for piece in _dashes([*points, *(points[:1] if shape.closed else ())], on, off):
        _stroke(picture, piece, paint.stroke, paint.stroke_opacity, width)


def _stroke(
    picture: Image.Image, line: Sequence[Point], color: str, opacity: float, width: int
) -> None:
    if opacity == 1:
        ImageDraw.Draw(picture).line(line, color, width, joint='curve')
        return
    # As a whole, so that its parts do not show through each other where they overlap.
    xs, ys = zip(*line, strict=True)
    left, top = max(0, round(min(xs)) - width), max(0, round(min(ys)) - width)
    right = min(picture.width, round(max(xs)) + width)
    bottom = min(picture.height, round(max(ys)) + width)
    if right > left and bottom > top:
        mask = Image.new('L', (right - left, bottom - top))
        moved = [(x - left, y - top) for x, y in line]
        ImageDraw.Draw(mask).line(moved, round(255 * opacity), width, joint='curve')
        picture.paste(color, (left, top), mask)


def _dashes(line: Sequence[Point], on: float, off: float) -> Iterator[list[Point]]:
    """Yield the pieces of a line that are drawn, by the lengths of dashes and gaps [px]."""
    piece, is_drawn, left = [line[0]], True, on
    for start, end in pairwise(line):
        length, at = math.dist(start, end), 0.0
        while length - at > left:
            at += left
            share = at / length
            cut = (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
            if is_drawn:
                yield [*piece, cut]
            piece, is_drawn = [cut], not is_drawn
            left = on if is_drawn else off
        left -= length - at
        piece.append(end)
    if is_drawn:
        yield piece


def _write(picture: Image.Image, text: Text, scale: float) -> None:
    font = _font(round(text.size * scale, 1), bold=text.bold)
    height = round(LINE * text.size * scale)
    x, y = text.position[0] * scale, text.position[1] * scale
    for color, edge in ((text.halo, HALO_PX * scale), (text.color, 0.0)):
        if color is not None:
            mask = Image.new('L', (picture.width, height))
            ImageDraw.Draw(mask).text(
                (x, height / 2),
                escape_line(text.text),
                255,
                font,
                ANCHORS[text.anchor],
                stroke_width=edge,
            )
            picture.paste(color, (0, round(y - height / 2)), mask)


@lru_cache
def _font(size_px: float, *, bold: bool) -> ImageFont.FreeTypeFont:
    # Of matplotlib, so that every machine draws the same; Pillow's own font has no arrows.
    import matplotlib

    name = 'DejaVuSans-Bold.ttf' if bold else 'DejaVuSans.ttf'
    return ImageFont.truetype(Path(matplotlib.get_data_path(), 'fonts', 'ttf', name), size_px)
