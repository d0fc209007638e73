"""The table seen from above, as shapes: x forward is up, y left is left."""

import math
from collections.abc import Mapping, Sequence

from bbllm.core.types import Kind, Scene, SceneObject
from bbllm.skills.containers import is_container, lies_in
from bbllm.skills.shapes import top_z
from bbllm.viz.labels import Box, Wanted, place_labels
from bbllm.viz.objects import (
    FAR,
    draw_grid,
    draw_location,
    draw_reach,
    draw_robot,
    draw_table,
    draw_thing,
    draw_traces,
    radius_of,
)
from bbllm.viz.shapes import Flat, Paint, Panel, Point, Polygon, Polyline, Text, rectangle
from bbllm.viz.view import BASE_M, View

GROUND = '#eceae5'
INK = '#22262b'
MUTED = '#7c8087'
PILE_M = 0.02
"""Objects whose centres are this near to each other, seen from above, share one label."""
PAPER = '#fbf9f5'
"""Around letters, so that lines do not run through them."""


def draw_scene(scene: Scene, view: View, corner: Point, *, before: Scene | None = None) -> Panel:
    """Return a scene as one panel; objects that moved since *before* get a faint trace."""
    things = [item for item in scene.objects if item.kind not in (Kind.FIXTURE, Kind.HAND)]
    movable = [item for item in things if item.kind is not Kind.LOCATION]
    # A container is as high as its rim, and yet below what is in it.
    movable.sort(key=lambda item: (not is_container(item), top_z(item)))
    locations = [item for item in things if item.kind is Kind.LOCATION]
    shapes: list[Flat] = [Polygon(rectangle(0, 0, view.width, view.height), Paint(fill=GROUND))]
    shapes += [draw_table(item, view) for item in scene.objects if item.kind is Kind.FIXTURE]
    shapes += [*draw_reach(view), *draw_grid(view), *draw_robot(view)]
    shapes += [draw_location(item, view, _far(scene, item)) for item in locations]
    if before is not None:
        shapes += draw_traces(before, movable, view)
    for item in movable:
        shapes += draw_thing(item, view, _far(scene, item))
    shapes += _names(scene, movable, locations, view)
    border = rectangle(0.5, 0.5, view.width - 1, view.height - 1)
    shapes.append(Polygon(border, Paint(stroke='#c9c6bf', width=1)))
    return Panel(corner=corner, width=view.width, height=view.height, shapes=tuple(shapes))


def short_names(names: Sequence[str]) -> Mapping[str, str]:
    """Return what is left of names without a beginning that they share: location_A -> A."""
    shared = len({name.rpartition('_')[0] for name in names}) == 1
    return {name: name.rpartition('_')[2] if shared else name for name in names}


def piles(movable: Sequence[SceneObject]) -> list[list[SceneObject]]:
    """Return objects in piles, each from the top down; most piles are one object."""
    found: list[list[SceneObject]] = []
    for item in sorted(movable, key=top_z, reverse=True):
        # Of containers each is alone: what is in one need not be in its middle.
        piles = [] if is_container(item) else [p for p in found if not is_container(p[-1])]
        x_y = item.pose.position_m[:2]
        near = (p for p in piles if math.dist(x_y, p[-1].pose.position_m[:2]) < PILE_M)
        if pile := next(near, None):
            pile.append(item)
        else:
            found.append([item])
    return found


def _far(scene: Scene, item: SceneObject) -> bool:
    return scene.has(item.name, 'reachable', 'no')


def _box(centre: Point, radius: float) -> Box:
    return (centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius)


def _caption(scene: Scene, item: SceneObject, short: Mapping[str, str]) -> str:
    """Return an object's name, with the place that it hides when it stands on one."""
    if scene.held == item.name:
        return f'{item.name} (in the hand)'
    for fact in scene.facts:
        if fact.subject == item.name and fact.predicate == 'on' and fact.object in short:
            return f'{item.name} · {short[fact.object]}'
    return item.name


def _names(
    scene: Scene, movable: Sequence[SceneObject], locations: Sequence[SceneObject], view: View
) -> list[Flat]:
    """Write all names: of locations inside their squares where that fits, of objects beside."""
    wanted: list[tuple[Wanted, str]] = []
    shapes: list[Flat] = []
    boxes: list[Box] = [_box(view.at(0, 0), BASE_M * view.scale)]
    short = short_names([item.name for item in locations])
    for pile in piles(movable):
        centre = view.at(*pile[0].pose.position_m[:2])
        radius = max(radius_of(item) for item in pile) * view.scale
        # The name of what is in a container may be in it too.
        if not any(lies_in(item, pile[0]) for item in movable):
            boxes.append(_box(centre, radius))
        far = any(_far(scene, item) for item in pile)
        names = [_caption(scene, item, short) for item in pile]
        text = '\n'.join([names[0], *(f'on {name}' for name in names[1:])])
        reach = 1.45 * radius if far else radius
        wanted.append((Wanted(text, centre, reach, 11.5), FAR if far else INK))
    covered = [view.at(*item.pose.position_m[:2]) for item in movable]
    for item in locations:
        centre, radius = view.at(*item.pose.position_m[:2]), radius_of(item) * view.scale
        color = FAR if _far(scene, item) else '#4c525c'
        text = short[item.name]
        free = all(math.dist(centre, other) > 1.6 * radius for other in covered)
        if free and len(text) <= 2:
            shapes.append(Text(centre, text, 10.5, color, 'middle', bold=True))
            boxes.append(_box(centre, radius))
        elif len(text) > 2:
            wanted.append((Wanted(text, centre, radius, 10.0), color))
    placed = place_labels([label for label, _ in wanted], boxes, view.width, view.height)
    leader = Paint(stroke=INK, stroke_opacity=0.5, width=0.8)
    shapes += [Polyline(spot.leader, leader) for spot in placed if spot.leader is not None]
    for (label, color), spot in zip(wanted, placed, strict=True):
        lines = label.text.split('\n')
        x, top = spot.middle[0], spot.middle[1] - (len(lines) - 1) * label.line / 2
        shapes += [
            Text((x, top + i * label.line), line, label.size, color, 'middle', halo=PAPER)
            for i, line in enumerate(lines)
        ]
    return shapes
