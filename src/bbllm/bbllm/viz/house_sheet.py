"""The whole picture of an episode in a household: what was asked, over the house as it is now."""

from __future__ import annotations

from bbllm.core.types import Scene
from bbllm.viz.floor_plan import draw_floor_plan, legend
from bbllm.viz.shapes import Page, Shape, Text
from bbllm.viz.sheet import EDGE_PX, Caption, draw_head
from bbllm.viz.table import MUTED

WIDTH_PX = 1000.0
"""Of the house; its letters are read on a page as wide as the project's own."""


def draw_house_sheet(caption: Caption, before: Scene, after: Scene | None) -> Page:
    """
    Return the picture of one episode: one plan, in which what changed stands out.

    Args:
        caption: The words.
        before: The scene at the start.
        after: The scene at the end, None where none was recorded; the start is drawn then.
    """
    width = WIDTH_PX + 2 * EDGE_PX
    head, top = draw_head(caption, width)
    old = None if after is None else before
    panel = draw_floor_plan(after or before, WIDTH_PX, (EDGE_PX, top + 4), before=old)
    foot = top + 4 + panel.height + 22
    shapes: list[Shape] = [*head, panel, *legend((EDGE_PX, foot), compared=old is not None)]
    if caption.episode_id:
        shapes.append(
            Text(
                position=(width - EDGE_PX, foot),
                text=f'bbllm · {caption.episode_id}',
                size=11,
                color=MUTED,
                anchor='end',
            )
        )
    title = f'{caption.task} – {caption.ending}'
    return Page(width=width, height=foot + 24, title=title, shapes=tuple(shapes))
