"""A page as PNG, drawn with matplotlib from the very shapes that the SVG is made of."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bbllm_viewer.viz.shapes import (
    BACKGROUND,
    Flat,
    Page,
    Paint,
    Panel,
    Point,
    Polygon,
    Text,
    rectangle,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

_ALIGNMENTS = {'start': 'left', 'middle': 'center', 'end': 'right'}
_DPI = 72
"""With as many dots to an inch, a point of matplotlib is a pixel of the page."""


def to_png(page: Page, scale: float = 2.0) -> bytes:
    """Return the page as a PNG file, with so many pixels for each pixel of the page."""
    from matplotlib.figure import Figure

    # A hair more than whole pixels, of which matplotlib cuts the fraction off.
    inches = [(round(side * scale) + 0.01) / (_DPI * scale) for side in (page.width, page.height)]
    figure = Figure(figsize=(inches[0], inches[1]), dpi=_DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, page.width), ylim=(page.height, 0))
    for shape in page.shapes:
        if isinstance(shape, Panel):
            area = Polygon(rectangle(*shape.corner, shape.width, shape.height), Paint())
            clip = axes.add_patch(_patch(area, (0.0, 0.0)))
            _draw(axes, shape.shapes, shape.corner, clip)
        else:
            _draw(axes, [shape], (0.0, 0.0))
    file = io.BytesIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box.
        warnings.simplefilter('ignore', UserWarning)
        figure.savefig(file, format='png', dpi=_DPI * scale, facecolor=BACKGROUND)
    return file.getvalue()


def _draw(axes: Axes, shapes: Sequence[Flat], corner: Point, clip: Patch | None = None) -> None:
    """Draw shapes that count from a corner, cut off at the border of a patch."""
    for shape in shapes:
        if isinstance(shape, Polygon):
            drawn = axes.add_patch(_patch(shape, corner))
        else:
            drawn = _write(axes, shape, corner)
        if clip is not None:
            drawn.set_clip_path(clip)


def _patch(shape: Polygon, corner: Point) -> Patch:
    from matplotlib.patches import Polygon as PolygonPatch

    points = [(corner[0] + x, corner[1] + y) for x, y in shape.points]
    style = _style(shape.paint)
    return PolygonPatch(points, closed=shape.closed, fill=shape.closed, **style)


def _style(paint: Paint) -> dict[str, Any]:
    from matplotlib.colors import to_rgba

    edge = 'none' if paint.stroke is None else to_rgba(paint.stroke, paint.stroke_opacity)
    return {
        'facecolor': 'none' if paint.fill is None else to_rgba(paint.fill, paint.fill_opacity),
        'edgecolor': edge,
        'linewidth': paint.width if paint.stroke is not None else 0.0,
        'linestyle': '-' if paint.dash is None else (0.0, [n / paint.width for n in paint.dash]),
        'joinstyle': 'round',
        'capstyle': 'round' if paint.dash is None else 'butt',
    }


def _write(axes: Axes, text: Text, corner: Point) -> Any:
    from matplotlib.patheffects import withStroke

    x, y = text.position
    return axes.text(
        corner[0] + x,
        corner[1] + y,
        text.text,
        fontsize=text.size,
        color=text.color,
        weight='bold' if text.bold else 'normal',
        ha=_ALIGNMENTS[text.anchor],
        va='center_baseline',
        parse_math=False,
        path_effects=[withStroke(linewidth=3, foreground=text.halo)] if text.halo else None,
    )
