"""The whole picture: what was asked and how it ended, over the table or house."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bbllm.core.types import Kind, Scene
from bbllm.viz.floor_plan import draw_floor_plan, house_legend
from bbllm.viz.objects import FAR, REACH
from bbllm.viz.shapes import (
    Page,
    Paint,
    Point,
    Polygon,
    Polyline,
    Shape,
    Text,
    rounded,
    text_width,
    wrap,
)
from bbllm.viz.table import INK, MUTED, draw_scene, short_names
from bbllm.viz.view import View, view_of

PANEL_PX = 620.0
HOUSE_PX = 1000.0
"""Of a house; its letters are read on a page as wide as the project's own."""
EDGE_PX = 28.0
GAP_PX = 24.0
GOOD = '#2f8f4e'
BAD = '#c0392b'
OPEN = '#8a6d1f'


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """The words around the picture."""

    task: str
    ending: str
    """FINISHED, GAVE_UP ...; INTERRUPTED where the journal breaks off."""
    message: str = ''
    """Why it ended so; empty where it finished."""
    details: str = ''
    """Planner, models, counts: one line."""
    episode_id: str = ''
    check: str = ''
    """What a geometric check found, empty where there was none."""


def draw_sheet(
    caption: Caption,
    before: Scene,
    after: Scene | None,
    reach_m: tuple[float, float] | None = None,
) -> Page:
    """Return the picture of one episode, without an end of its start; see `draw_scene`."""
    scenes = [before] if after is None else [before, after]
    view = view_of(scenes, PANEL_PX)
    width = 2 * EDGE_PX + len(scenes) * PANEL_PX + (len(scenes) - 1) * GAP_PX
    head, top = draw_head(caption, width)
    shapes: list[Shape] = list(head)
    left = EDGE_PX
    for name, scene in zip(('before', 'after'), scenes, strict=False):
        shapes.append(Text((left, top + 10), name, 13, MUTED, bold=True))
        old = before if name == 'after' else None
        shapes.append(draw_scene(scene, view, (left, top + 24), reach_m=reach_m, before=old))
        left += PANEL_PX + GAP_PX
    foot = top + 24 + view.height + 26
    shapes += _scale_bar((EDGE_PX, foot), view)
    shapes += _table_legend((EDGE_PX + 0.1 * view.scale + 76, foot), scenes, reach_m)
    return _page(caption, width, foot, shapes)


def draw_house_sheet(caption: Caption, before: Scene, after: Scene | None) -> Page:
    """Return the picture of one episode in a household, in which what changed stands out."""
    width = HOUSE_PX + 2 * EDGE_PX
    head, top = draw_head(caption, width)
    old = None if after is None else before
    panel = draw_floor_plan(after or before, HOUSE_PX, (EDGE_PX, top + 4), before=old)
    foot = top + 4 + panel.height + 22
    legend, _ = _legend((EDGE_PX, foot), house_legend(compared=old is not None))
    shapes: list[Shape] = [*head, panel, *legend]
    return _page(caption, width, foot, shapes)


def _page(caption: Caption, width: float, foot: float, shapes: Sequence[Shape]) -> Page:
    """Return shapes as a page that ends a little below the line of its foot."""
    signed = [*shapes]
    if caption.episode_id:
        text = f'bbllm · {caption.episode_id}'
        signed.append(Text((width - EDGE_PX, foot), text, 11, MUTED, 'end'))
    title = f'{caption.task} – {caption.ending}'
    return Page(width=width, height=foot + 26, title=title, shapes=tuple(signed))


def draw_head(caption: Caption, width: float) -> tuple[list[Shape], float]:
    """Return the words above the panels and where the panels may begin [px]."""
    colors = {'FINISHED': GOOD, 'INTERRUPTED': OPEN, 'CANCELLED': OPEN, 'PARTLY_DONE': OPEN}
    color = colors.get(caption.ending, BAD)
    pill = text_width(caption.ending, 13) + 26
    left = width - EDGE_PX - pill
    shapes: list[Shape] = [
        Polygon(rounded(left, 22.0, pill, 26, 13), Paint(fill=color)),
        Text((left + pill / 2, 35), caption.ending, 13, '#ffffff', 'middle', bold=True),
    ]
    y = 36.0
    room = width - 2 * EDGE_PX
    # Bold letters are wider by a fifth than widths are estimated for.
    for line in wrap(caption.task, 20, (room - pill - 24) / 1.2, 2):
        shapes.append(Text((EDGE_PX, y), line, 20, INK, bold=True))
        y += 26
    for text, ink in ((caption.details, MUTED), (caption.message, color), (caption.check, INK)):
        for line in wrap(text, 13, room, 2) if text else []:
            shapes.append(Text((EDGE_PX, y), line, 13, ink))
            y += 20
    return shapes, y + 4


def _scale_bar(corner: Point, view: View) -> list[Shape]:
    x, y = corner
    end = x + 0.1 * view.scale
    ticks = ((x, y - 4), (x, y + 4), (x, y), (end, y), (end, y - 4), (end, y + 4))
    return [Polyline(ticks, Paint(stroke=INK, width=1.6)), Text((end + 8, y), '10 cm', 12, INK)]


def _legend(corner: Point, entries: Mapping[str, Paint]) -> tuple[list[Shape], float]:
    """Return what paints mean in one line, and where it ends [px]; what rings things is round."""
    x, y = corner
    shapes: list[Shape] = []
    for text, paint in entries.items():
        swatch = rounded(x, y - 7, 14, 14, 7.0 if paint.stroke == FAR else 2.0)
        shapes += [Polygon(swatch, paint), Text((x + 21, y), text, 12, INK)]
        x += 21 + text_width(text, 12) + 18
    return shapes, x


def _table_legend(
    corner: Point, scenes: Sequence[Scene], reach_m: tuple[float, float] | None
) -> list[Shape]:
    entries: dict[str, Paint] = {}
    if reach_m is not None:
        reach = Paint(fill='#ffffff', stroke=REACH, dash=(3, 2), width=1.2)
        entries['within the hand’s reach'] = reach
    if any(fact.predicate == 'reachable' and fact.object == 'no' for fact in scenes[0].facts):
        entries['out of reach'] = Paint(stroke=FAR, width=1.3, dash=(4, 3))
    if len(scenes) > 1:
        entries['where it was'] = Paint(stroke=MUTED, dash=(2.5, 2.5))
    shapes, x = _legend(corner, entries)
    names = [item.name for item in scenes[0].objects if item.kind is Kind.LOCATION]
    short = [*short_names(names).values()]
    if short != names:
        text = f'{short[0]} is {names[0]}'
        if len(names) > 1:
            text = f'{short[0]} … {short[-1]} are {names[0]} … {names[-1]}'
        shapes.append(Text((x, corner[1]), text, 12, INK))
    return shapes
