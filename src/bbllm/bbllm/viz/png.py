"""A page as PNG, drawn with Pillow from the very shapes that the SVG is made of."""

from __future__ import annotations

import io
import math
from functools import cache

from PIL import Image, ImageDraw, ImageFont

from bbllm.viz.shapes import (
    Circle,
    Line,
    Page,
    Paint,
    Panel,
    Point,
    Polygon,
    Shape,
    Text,
    circle_points,
)

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

OVERSAMPLING = 2
"""Lines are drawn larger and scaled down, because Pillow does not smooth their edges."""
_ANCHORS = {'start': 'lm', 'middle': 'mm', 'end': 'rm'}


def to_png(page: Page, scale: float = 2.0) -> bytes:
    """
    Return the page as a PNG file.

    Args:
        page: The picture.
        scale: Pixels of the file for each pixel of the page.
    """
    zoom = scale * OVERSAMPLING
    image = _draw(page.width, page.height, page.background, page.shapes, zoom)
    size = (round(page.width * scale), round(page.height * scale))
    file = io.BytesIO()
    image.resize(size, Image.Resampling.LANCZOS).save(file, format='PNG', optimize=True)
    return file.getvalue()


def _draw(
    width: float, height: float, background: str, shapes: tuple[Shape, ...], zoom: float
) -> Image.Image:
    image = Image.new('RGB', (round(width * zoom), round(height * zoom)), background)
    # Mode RGBA on an RGB image makes Pillow blend half-transparent colours.
    pen = _Pen(ImageDraw.Draw(image, 'RGBA'), zoom)
    for shape in shapes:
        if isinstance(shape, Panel):
            part = _draw(shape.width, shape.height, background, shape.shapes, zoom)
            image.paste(part, (round(shape.corner[0] * zoom), round(shape.corner[1] * zoom)))
        else:
            pen.draw(shape)
    return image


class _Pen:
    """Draws shapes at a zoom."""

    def __init__(self, draw: ImageDraw.ImageDraw, zoom: float):
        self._draw = draw
        self._zoom = zoom

    def draw(self, shape: Polygon | Circle | Line | Text) -> None:
        if isinstance(shape, Text):
            self._text(shape)
        elif isinstance(shape, Line):
            self._stroke(self._scaled(shape.points), shape.paint)
        else:
            points = (
                shape.points
                if isinstance(shape, Polygon)
                else circle_points(shape.centre, shape.radius)
            )
            scaled = self._scaled(points)
            if shape.paint.fill is not None:
                self._draw.polygon(scaled, fill=_rgba(shape.paint.fill, shape.paint.fill_opacity))
            self._stroke([*scaled, scaled[0]], shape.paint)

    def _scaled(self, points: tuple[Point, ...]) -> list[Point]:
        return [(x * self._zoom, y * self._zoom) for x, y in points]

    def _stroke(self, points: list[Point], paint: Paint) -> None:
        if paint.stroke is None:
            return
        color = _rgba(paint.stroke, paint.stroke_opacity)
        width = max(1, round(paint.width * self._zoom))
        if paint.dash is None:
            self._draw.line(points, fill=color, width=width, joint='curve')
            return
        dash, gap = (length * self._zoom for length in paint.dash)
        for piece in _dashes(points, dash, gap):
            self._draw.line(piece, fill=color, width=width, joint='curve')

    def _text(self, text: Text) -> None:
        font = _font(round(text.size * self._zoom), text.bold)
        x, y = text.position
        self._draw.text(
            (x * self._zoom, y * self._zoom),
            text.text,
            font=font,
            fill=text.color,
            anchor=_ANCHORS[text.anchor],
            stroke_width=round(1.5 * self._zoom) if text.halo else 0,
            stroke_fill=text.halo,
        )


def _dashes(points: list[Point], dash: float, gap: float) -> list[list[Point]]:
    """Cut a line into its dashes; a dash goes on around corners."""
    pieces: list[list[Point]] = [[points[0]]]
    drawn, left = True, dash
    for start, end in zip(points, points[1:], strict=False):
        length = math.dist(start, end)
        done = 0.0
        while length - done > left:
            done += left
            spot = tuple(a + (b - a) * done / length for a, b in zip(start, end, strict=True))
            if drawn:
                pieces[-1].append((spot[0], spot[1]))
            else:
                pieces.append([(spot[0], spot[1])])
            drawn = not drawn
            left = dash if drawn else gap
        left -= length - done
        if drawn:
            pieces[-1].append(end)
    return [piece for piece in pieces if len(piece) > 1]


def _rgba(color: str, opacity: float) -> tuple[int, int, int, int]:
    red, green, blue = (int(color[index : index + 2], 16) for index in (1, 3, 5))
    return red, green, blue, round(255 * opacity)


@cache
def _font(size: int, bold: bool) -> Font:
    # DejaVu covers more scripts than the font inside Pillow, and most desktops have it.
    try:
        return ImageFont.truetype('DejaVuSans-Bold.ttf' if bold else 'DejaVuSans.ttf', size)
    except OSError:
        return ImageFont.load_default(size)
