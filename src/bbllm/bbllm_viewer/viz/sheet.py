"""The whole picture of an episode: the task and its ending, over the table or house."""

from collections.abc import Mapping, Sequence

from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode, SceneRecorded
from bbllm.core.journal import summarize
from bbllm.core.text import count_of, escape_line, escape_texts
from bbllm.core.types import Kind, Scene
from bbllm_viewer.viz.floor_plan import draw_floor_plan, house_legend
from bbllm_viewer.viz.objects import FAR, REACH
from bbllm_viewer.viz.png import to_png
from bbllm_viewer.viz.shapes import (
    Page,
    Paint,
    Point,
    Polygon,
    Shape,
    Text,
    rounded,
    text_width,
    wrap,
)
from bbllm_viewer.viz.svg import to_svg
from bbllm_viewer.viz.table import INK, MUTED, draw_scene, short_names
from bbllm_viewer.viz.view import View, view_of

PANEL_PX = 620.0
ALONE_PX = 480.0
HOUSE_PX = 1000.0
"""Of a house; its letters are read on a page as wide as the project's own."""
EDGE_PX = 28.0
GAP_PX = 24.0
OPEN, BAD = '#8a6d1f', '#c0392b'
COLORS = {'FINISHED': '#2f8f4e', 'INTERRUPTED': OPEN, 'CANCELLED': OPEN, 'PARTLY_DONE': OPEN}
"""Of endings; all others are bad."""
LARGE_PX = 2e6
"""Area of a page from which on it is not written at twice its size [px^2]."""
FAR_M = 1000.0
"""Beyond it lies what a damaged journal places; to draw that takes all memory [m]."""


def scenes_of(episode: Episode) -> dict[str, Scene]:
    """Return the scenes on record by moment: `before`, and `after` where it came so far."""
    recorded = [event.data for event in episode.events if isinstance(event.data, SceneRecorded)]
    return {data.moment: escape_texts(data.scene) for data in recorded}


def drawable_scenes(episode: Episode) -> tuple[Scene, Scene | None]:
    """
    Return the scene before, and the one after where the episode came so far.

    Raises:
        ConfigError: There is no scene, or one that cannot be drawn.
    """
    scenes = scenes_of(episode)
    if 'before' not in scenes:
        raise ConfigError('the record has no scene')
    for item in (item for scene in scenes.values() for item in scene.objects):
        if any(abs(value) > FAR_M for value in (*item.pose.position_m, *item.size_m)):
            raise ConfigError(f'{item.name} lies or reaches beyond {FAR_M:g} m')
    return scenes['before'], scenes.get('after')


def draw_episode(episode: Episode, check: str = '') -> Page:
    """
    Return the picture of an episode, without an end of its start; *check* is what a check found.

    Raises:
        ConfigError: As `drawable_scenes`.
    """
    before, after = drawable_scenes(episode)
    if before.is_symbolic:
        return _draw_house(episode, check, before, after)
    return _draw_table(episode, check, [before] if after is None else [before, after])


def episode_pictures(episode: Episode, check: str = '') -> dict[str, bytes]:
    """Return `draw_episode` as files by suffix: `.svg` and `.png`; raises as it does."""
    page = draw_episode(episode, check)
    # A house of a thousand objects would take most of a minute at the usual size.
    scale = 2.0 if page.width * page.height < LARGE_PX else 1.0
    return {'.svg': to_svg(page).encode(errors='replace'), '.png': to_png(page, scale)}


def draw_alone(scene: Scene) -> Page:
    """Draw a table from above, or a house as its rooms, and nothing beside it."""
    if scene.is_symbolic:
        panel = draw_floor_plan(scene, HOUSE_PX)
    else:
        panel = draw_scene(scene, view_of([scene], ALONE_PX), (0.0, 0.0))
    return Page(width=panel.width, height=panel.height, title='The scene', shapes=(panel,))


def scene_png(scene: Scene) -> bytes:
    """Return a drawing of a scene from above, as `draw_alone`, as a PNG file."""
    return to_png(draw_alone(scene), scale=1.0)


def draw_change(scene: Scene, before: Scene | None) -> Page:
    """Draw a table from above with where its objects were before."""
    view = view_of([scene] if before is None else [before, scene], ALONE_PX)
    panel = draw_scene(scene, view, (0.0, 0.0), before=before)
    return Page(width=panel.width, height=panel.height, title='The scene', shapes=(panel,))


def _draw_table(episode: Episode, check: str, scenes: Sequence[Scene]) -> Page:
    view = view_of(scenes, PANEL_PX)
    width = 2 * EDGE_PX + len(scenes) * PANEL_PX + (len(scenes) - 1) * GAP_PX
    timed = f' · {episode.robot_s:.0f} s of robot time'
    shapes, top = _head(episode, timed, check, width)
    for i, scene in enumerate(scenes):
        left = EDGE_PX + i * (PANEL_PX + GAP_PX)
        shapes.append(Text((left, top + 10), ('before', 'after')[i], 13, MUTED, bold=True))
        old = scenes[0] if i else None
        shapes.append(draw_scene(scene, view, (left, top + 24), before=old))
    foot = top + 24 + view.height + 26
    shapes += _scale_bar((EDGE_PX, foot), view)
    shapes += _table_legend((EDGE_PX + 0.1 * view.scale + 76, foot), scenes)
    return _page(episode, width, foot, shapes)


def _draw_house(episode: Episode, check: str, before: Scene, after: Scene | None) -> Page:
    width = HOUSE_PX + 2 * EDGE_PX
    # The clock of a house counts steps, which are the calls.
    shapes, top = _head(episode, '', check, width)
    old = None if after is None else before
    panel = draw_floor_plan(after or before, HOUSE_PX, (EDGE_PX, top + 4), before=old)
    foot = top + 4 + panel.height + 22
    legend, _ = _legend((EDGE_PX, foot), house_legend(compared=old is not None))
    return _page(episode, width, foot, [*shapes, panel, *legend])


def _page(episode: Episode, width: float, foot: float, shapes: Sequence[Shape]) -> Page:
    """Return shapes as a page that ends a little below the line of its foot."""
    signed = Text((width - EDGE_PX, foot), f'bbllm · {escape_line(episode.id)}', 11, MUTED, 'end')
    title = f'{escape_line(episode.task.instruction)} – {summarize(episode)["ending"]}'
    return Page(width=width, height=foot + 26, title=title, shapes=(*shapes, signed))


def _head(episode: Episode, timed: str, check: str, width: float) -> tuple[list[Shape], float]:
    """Return the words above the panels and where the panels may begin [px]."""
    ending = str(summarize(episode)['ending'])
    color = COLORS.get(ending, BAD)
    pill = text_width(ending, 13) + 26
    left = width - EDGE_PX - pill
    shapes: list[Shape] = [
        Polygon(rounded(left, 22.0, pill, 26, 13), Paint(fill=color)),
        Text((left + pill / 2, 35), ending, 13, '#ffffff', 'middle', bold=True),
    ]
    y = 36.0
    room = width - 2 * EDGE_PX
    # Bold letters are wider by a fifth than widths are estimated for.
    for line in wrap(escape_line(episode.task.instruction), 20, (room - pill - 24) / 1.2, 2):
        shapes.append(Text((EDGE_PX, y), line, 20, INK, bold=True))
        y += 26
    calls, repairs = count_of(episode.steps, 'call'), count_of(episode.feedback_loops, 'repair')
    models = f'{episode.planner} · Brain {episode.brain} · Body {episode.body}'
    message = '' if episode.ending is None else episode.message
    details = f'{models} · {calls} · {repairs}{timed}'
    for text, ink in ((details, MUTED), (message, color), (check, INK)):
        for line in wrap(escape_line(text), 13, room, 2) if text else []:
            shapes.append(Text((EDGE_PX, y), line, 13, ink))
            y += 20
    return shapes, y + 4


def _scale_bar(corner: Point, view: View) -> list[Shape]:
    x, y = corner
    end = x + 0.1 * view.scale
    ticks = ((x, y - 4), (x, y + 4), (x, y), (end, y), (end, y - 4), (end, y + 4))
    line = Polygon(ticks, Paint(stroke=INK, width=1.6), closed=False)
    return [line, Text((end + 8, y), '10 cm', 12, INK)]


def _legend(corner: Point, entries: Mapping[str, Paint]) -> tuple[list[Shape], float]:
    """Return what paints mean in one line, and where it ends [px]; what rings things is round."""
    x, y = corner
    shapes: list[Shape] = []
    for text, paint in entries.items():
        swatch = rounded(x, y - 7, 14, 14, 7.0 if paint.stroke == FAR else 2.0)
        shapes += [Polygon(swatch, paint), Text((x + 21, y), text, 12, INK)]
        x += 21 + text_width(text, 12) + 18
    return shapes, x


def _table_legend(corner: Point, scenes: Sequence[Scene]) -> list[Shape]:
    reach = Paint(fill='#ffffff', stroke=REACH, dash=(3, 2), width=1.2)
    entries = {'within the hand’s reach': reach}
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
