"""The table seen from above, as shapes: x forward is up, y left is left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bbllm.cli.pictures.colors import color_of, edge_of, mix
from bbllm.cli.pictures.labels import Box, Wanted, place_labels
from bbllm.cli.pictures.shapes import (
    Circle,
    Line,
    Paint,
    Panel,
    Point,
    Polygon,
    Text,
    circle_points,
    rectangle,
    ring_points,
)
from bbllm.core.types import Kind, Scene, SceneObject
from bbllm.skills.shapes import half_extent, is_round, outline, top_z

GROUND = '#eceae5'
INK = '#22262b'
MUTED = '#7c8087'
REACH = '#2a8f7f'
FAR = '#c0392b'
GRID_M = 0.1
MARGIN_M = 0.09
MOVED_M = 0.01
"""What came to rest further away than this was moved."""
BASE_M = 0.075
"""Radius of the robot's foot in the picture [m]."""

Inside = Polygon | Circle | Line | Text
Hole = Paint(fill=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What part of the table a panel shows, and how large."""

    x_min: float
    """In the world frame [m]."""
    x_max: float
    y_min: float
    y_max: float
    scale: float
    """Pixels for a metre."""

    @property
    def width(self) -> float:
        """Of the panel [px]."""
        return (self.y_max - self.y_min) * self.scale

    @property
    def height(self) -> float:
        """Of the panel [px]."""
        return (self.x_max - self.x_min) * self.scale

    def at(self, x: float, y: float) -> Point:
        """Return where a point of the world frame lies in the panel [m] -> [px]."""
        return ((self.y_max - y) * self.scale, (self.x_max - x) * self.scale)


def view_of(scenes: Iterable[Scene], width: float) -> View:
    """Return a view of a given width [px] that shows the robot and all things of all scenes."""
    points = [(-BASE_M, 0.0), (0.5, -0.4), (0.5, 0.4)]
    for scene in scenes:
        points += [
            item.pose.position_m[:2] for item in scene.objects if item.kind is not Kind.FIXTURE
        ]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    y_min, y_max = min(ys) - MARGIN_M, max(ys) + MARGIN_M
    return View(
        x_min=min(xs) - 0.06,
        x_max=max(xs) + MARGIN_M,
        y_min=y_min,
        y_max=y_max,
        scale=width / (y_max - y_min),
    )


def draw_scene(
    scene: Scene,
    view: View,
    corner: Point,
    *,
    reach_m: tuple[float, float] | None = None,
    before: Scene | None = None,
) -> Panel:
    """
    Return one panel.

    Args:
        scene: What to draw.
        view: What part of it, and how large.
        corner: Where the panel goes on the page [px].
        reach_m: Nearest and furthest distance from the robot's axis that it can grasp at [m].
        before: What was before; things that moved get a faint trace.
    """
    things = [item for item in scene.objects if item.kind not in (Kind.FIXTURE, Kind.HAND)]
    movable = sorted((t for t in things if t.kind is not Kind.LOCATION), key=top_z)
    locations = [item for item in things if item.kind is Kind.LOCATION]
    shapes: list[Inside] = [Polygon(rectangle(0, 0, view.width, view.height), Paint(fill=GROUND))]
    for item in scene.objects:
        if item.kind is Kind.FIXTURE:
            shapes.append(_table(item, view))
    shapes += _reach(view, reach_m)
    shapes += _grid(view)
    shapes += _robot(view)
    for item in locations:
        shapes += _location(item, view, _far(scene, item))
    if before is not None:
        shapes += _traces(before, movable, view)
    for item in movable:
        shapes += _thing(item, view, _far(scene, item))
    shapes += _names(scene, movable, locations, view)
    shapes.append(
        Polygon(
            rectangle(0.5, 0.5, view.width - 1, view.height - 1), Paint(stroke='#c9c6bf', width=1)
        )
    )
    return Panel(corner=corner, width=view.width, height=view.height, shapes=tuple(shapes))


def short_names(names: Sequence[str]) -> Mapping[str, str]:
    """Return what is left of names without a beginning that they share: location_A -> A."""
    heads = {name.rpartition('_')[0] for name in names}
    if len(heads) == 1 and heads != {''}:
        return {name: name.rpartition('_')[2] for name in names}
    return {name: name for name in names}


def _far(scene: Scene, item: SceneObject) -> bool:
    return scene.has(item.name, 'reachable', 'no')


def _table(item: SceneObject, view: View) -> Polygon:
    wood = mix(color_of(item.color), '#ffffff', 0.68)
    edge = mix(color_of(item.color), '#6b5a40', 0.35)
    points = tuple(view.at(x, y) for x, y in outline(item))
    return Polygon(points, Paint(fill=wood, stroke=edge, width=1.5))


def _grid(view: View) -> list[Inside]:
    shapes: list[Inside] = []
    line = Paint(stroke='#5b5140', stroke_opacity=0.13, width=1)
    for n in range(math.ceil(view.x_min / GRID_M), math.floor(view.x_max / GRID_M) + 1):
        _, y = view.at(n * GRID_M, 0)
        shapes.append(Line(((0, y), (view.width, y)), line))
        if n % 2 == 0 and 16 < y < view.height - 16:
            shapes.append(_tick((6, y), f'{n * GRID_M:.1f}', 'start'))
    for n in range(math.ceil(view.y_min / GRID_M), math.floor(view.y_max / GRID_M) + 1):
        x, _ = view.at(0, n * GRID_M)
        shapes.append(Line(((x, 0), (x, view.height)), line))
        if n % 2 == 0 and 30 < x < view.width - 30:
            shapes.append(
                _tick((x, view.height - 9), f'{n * GRID_M:.1f}'.replace('-', '−'), 'middle')
            )
    return shapes


def _tick(position: Point, text: str, anchor: str) -> Text:
    assert anchor in ('start', 'middle')
    return Text(
        position=position,
        text=text,
        size=9,
        color='#a09a8e',
        anchor='start' if anchor == 'start' else 'middle',
    )


def _reach(view: View, reach_m: tuple[float, float] | None) -> list[Inside]:
    if reach_m is None:
        return []
    base = view.at(0, 0)
    inner, outer = (radius * view.scale for radius in reach_m)
    line = Paint(stroke=REACH, stroke_opacity=0.75, width=1.4, dash=(7, 5))
    return [
        Polygon(ring_points(base, inner, outer), Paint(fill='#ffffff', fill_opacity=0.62)),
        Polygon(circle_points(base, outer, 180), line),
        Polygon(circle_points(base, inner, 90), line),
    ]


def _robot(view: View) -> list[Inside]:
    base = view.at(0, 0)
    radius = BASE_M * view.scale
    tip = view.at(0.17, 0)
    return [
        Circle(base, radius, Paint(fill='#f7f8f9', stroke='#50565e', width=1.6)),
        Circle(base, radius * 0.62, Paint(fill='#dfe3e7', stroke='#8a9098', width=1)),
        Line((view.at(BASE_M, 0), tip), Paint(stroke='#50565e', width=1.6)),
        Polygon(
            ((tip[0] - 4, tip[1] + 3), (tip[0] + 4, tip[1] + 3), (tip[0], tip[1] - 6)),
            Paint(fill='#50565e'),
        ),
        Text(position=(tip[0] + 7, tip[1] + 1), text='x', size=11, color='#50565e'),
        Text(position=base, text='FR3', size=12, color='#3b4046', anchor='middle', bold=True),
    ]


def _location(item: SceneObject, view: View, far: bool) -> list[Inside]:
    x, y, _ = item.pose.position_m
    half = max(item.size_m[0], item.size_m[1], 0.03) / 2 * view.scale
    cx, cy = view.at(x, y)
    color = FAR if far else '#5d6470'
    return [
        Polygon(
            rectangle(cx - half, cy - half, 2 * half, 2 * half),
            Paint(
                fill='#ffffff', fill_opacity=0.55, stroke=color, stroke_opacity=0.85, dash=(3, 2.5)
            ),
        )
    ]


def _thing(item: SceneObject, view: View, far: bool) -> list[Inside]:
    x, y, _ = item.pose.position_m
    fill = color_of(item.color)
    paint = Paint(fill=fill, stroke=edge_of(fill), width=1.4)
    centre = view.at(x, y)
    shapes: list[Inside] = []
    if far:
        radius = 1.45 * _radius(item) * view.scale
        shapes.append(Circle(centre, radius, Paint(stroke=FAR, width=1.3, dash=(4, 3))))
    if is_round(item):
        radius = item.size_m[0] / 2 * view.scale
        shine = Paint(stroke=mix(fill, '#ffffff', 0.45), stroke_opacity=0.8, width=1)
        return [*shapes, Circle(centre, radius, paint), Circle(centre, radius * 0.68, shine)]
    corners = tuple(view.at(px, py) for px, py in outline(item))
    return [*shapes, Polygon(corners, paint), _bevel(corners, centre, fill)]


def _bevel(corners: Sequence[Point], centre: Point, fill: str) -> Polygon:
    inner = tuple(
        (centre[0] + 0.7 * (x - centre[0]), centre[1] + 0.7 * (y - centre[1])) for x, y in corners
    )
    shine = mix(fill, '#ffffff', 0.45)
    return Polygon(inner, Paint(stroke=shine, stroke_opacity=0.8, width=1))


def _traces(before: Scene, movable: Sequence[SceneObject], view: View) -> list[Inside]:
    shapes: list[Inside] = []
    known = {item.name: item for item in before.objects}
    for item in movable:
        old = known.get(item.name)
        if old is None or math.dist(old.pose.position_m, item.pose.position_m) < MOVED_M:
            continue
        edge = edge_of(color_of(item.color))
        ghost = Paint(stroke=edge, stroke_opacity=0.45, width=1, dash=(2.5, 2.5))
        corners = tuple(view.at(x, y) for x, y in outline(old))
        start, end = (view.at(*one.pose.position_m[:2]) for one in (old, item))
        way = Paint(stroke=edge, stroke_opacity=0.38, width=1.3)
        shapes += [Polygon(corners, ghost), Line(_arc(start, end), way)]
    return shapes


def _arc(start: Point, end: Point) -> tuple[Point, ...]:
    """Return a gently bent line; straight ones run through the things between."""
    (ax, ay), (bx, by) = start, end
    mx, my = (ax + bx) / 2 + 0.12 * (by - ay), (ay + by) / 2 - 0.12 * (bx - ax)
    steps = [index / 20 for index in range(21)]
    return tuple(
        (
            (1 - t) ** 2 * ax + 2 * t * (1 - t) * mx + t * t * bx,
            (1 - t) ** 2 * ay + 2 * t * (1 - t) * my + t * t * by,
        )
        for t in steps
    )


def _radius(item: SceneObject) -> float:
    """Return how far a thing reaches from its centre, seen from above, about [m]."""
    return max(half_extent(item, (1.0, 0.0, 0.0)), half_extent(item, (0.0, 1.0, 0.0)))


def _box(centre: Point, radius: float) -> Box:
    return (centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius)


def _caption(scene: Scene, item: SceneObject, short: Mapping[str, str]) -> str:
    """Return a thing's name, with the place that it hides when it stands on one."""
    if scene.held == item.name:
        return f'{item.name} (in the hand)'
    for fact in scene.facts:
        if fact.subject == item.name and fact.predicate == 'on' and fact.object in short:
            return f'{item.name} · {short[fact.object]}'
    return item.name


def _names(
    scene: Scene, movable: Sequence[SceneObject], locations: Sequence[SceneObject], view: View
) -> list[Inside]:
    """Write all names: of locations inside their squares where that fits, of things beside."""
    wanted: list[Wanted] = []
    colors: list[str] = []
    shapes: list[Inside] = []
    boxes: list[Box] = [_box(view.at(0, 0), BASE_M * view.scale)]
    short = short_names([item.name for item in locations])
    for item in movable:
        centre, radius = view.at(*item.pose.position_m[:2]), _radius(item) * view.scale
        boxes.append(_box(centre, radius))
        ring = 1.45 if _far(scene, item) else 1.0
        wanted.append(Wanted(_caption(scene, item, short), centre, ring * radius, 11.5))
        colors.append(FAR if _far(scene, item) else INK)
    covered = [view.at(*item.pose.position_m[:2]) for item in movable]
    for item in locations:
        centre, radius = view.at(*item.pose.position_m[:2]), _radius(item) * view.scale
        color = FAR if _far(scene, item) else '#4c525c'
        text = short[item.name]
        free = all(math.dist(centre, other) > 1.6 * radius for other in covered)
        if free and len(text) <= 2:
            shapes.append(
                Text(
                    position=centre, text=text, size=10.5, color=color, anchor='middle', bold=True
                )
            )
            boxes.append(_box(centre, radius))
        elif len(text) > 2:
            wanted.append(Wanted(text, centre, radius, 10.0))
            colors.append(color)
    placed = place_labels(wanted, boxes, view.width, view.height)
    for label, spot in zip(wanted, placed, strict=True):
        if spot.leader is not None:
            shapes.append(Line(spot.leader, Paint(stroke=INK, stroke_opacity=0.5, width=0.8)))
    for label, spot, color in zip(wanted, placed, colors, strict=True):
        shapes.append(
            Text(
                position=spot.middle,
                text=label.text,
                size=label.size,
                color=color,
                anchor='middle',
                halo='#fbf9f5',
            )
        )
    return shapes
