"""Each kind of object seen from above."""

import math
from collections.abc import Sequence
from dataclasses import replace

from bbllm.core.types import Kind, Scene, SceneObject
from bbllm.skills.containers import is_container
from bbllm.skills.shapes import half_extent, is_round, outline
from bbllm_viewer.viz.colors import color_of, edge_of, mix
from bbllm_viewer.viz.shapes import (
    Flat,
    Paint,
    Point,
    Polygon,
    Text,
    circle_points,
    rectangle,
    ring_points,
)
from bbllm_viewer.viz.view import BASE_M, View

REACH = '#2a8f7f'
FAR = '#c0392b'
TICKS = '#a09a8e'
GRID_M = 0.1
MOVED_M = 0.01
"""What came to rest further away than this was moved."""


def draw_table(item: SceneObject, view: View) -> Polygon:
    wood = mix(color_of(item.color), '#ffffff', 0.68)
    edge = mix(color_of(item.color), '#6b5a40', 0.35)
    return Polygon(_outline(item, view), Paint(fill=wood, stroke=edge, width=1.5))


def draw_grid(view: View) -> list[Flat]:
    """Return lines every 10 cm, with numbers [m] at the left and lower edge."""
    shapes: list[Flat] = []
    line = Paint(stroke='#5b5140', stroke_opacity=0.13, width=1)
    for n in range(math.ceil(view.x_min / GRID_M), math.floor(view.x_max / GRID_M) + 1):
        _, y = view.at(n * GRID_M, 0)
        shapes.append(Polygon(((0, y), (view.width, y)), line, closed=False))
        if n % 2 == 0 and 16 < y < view.height - 16:
            shapes.append(Text((6, y), f'{n * GRID_M:.1f}', 9, TICKS))
    for n in range(math.ceil(view.y_min / GRID_M), math.floor(view.y_max / GRID_M) + 1):
        x, _ = view.at(0, n * GRID_M)
        shapes.append(Polygon(((x, 0), (x, view.height)), line, closed=False))
        if n % 2 == 0 and 30 < x < view.width - 30:
            text = f'{n * GRID_M:.1f}'.replace('-', '−')
            shapes.append(Text((x, view.height - 9), text, 9, TICKS, 'middle'))
    return shapes


def draw_reach(view: View) -> list[Flat]:
    """Return the ring of what the hand can reach, and its border."""
    # Here, so that what draws no table imports no simulator.
    from bbllm.robots.registry import load_robot
    from bbllm.worlds.scene.reaching import reach_ring_m

    base = view.at(0, 0)
    inner, outer = (radius * view.scale for radius in reach_ring_m(load_robot()))
    line = Paint(stroke=REACH, stroke_opacity=0.75, width=1.4, dash=(7, 5))
    return [
        Polygon(ring_points(base, inner, outer), Paint(fill='#ffffff', fill_opacity=0.62)),
        Polygon(circle_points(base, outer, 180), line),
        Polygon(circle_points(base, inner, 90), line),
    ]


def draw_robot(view: View) -> list[Flat]:
    """Return the robot's foot, and the axis that points forward."""
    base = view.at(0, 0)
    radius = BASE_M * view.scale
    tip = view.at(0.17, 0)
    return [
        Polygon(circle_points(base, radius), Paint(fill='#f7f8f9', stroke='#50565e', width=1.6)),
        Polygon(circle_points(base, 0.62 * radius), Paint(fill='#dfe3e7', stroke='#8a9098')),
        Polygon((view.at(BASE_M, 0), tip), Paint(stroke='#50565e', width=1.6), closed=False),
        Polygon(
            ((tip[0] - 4, tip[1] + 3), (tip[0] + 4, tip[1] + 3), (tip[0], tip[1] - 6)),
            Paint(fill='#50565e'),
        ),
        Text((tip[0] + 7, tip[1] + 1), 'x', 11, '#50565e'),
        Text(base, 'FR3', 12, '#3b4046', 'middle', bold=True),
    ]


def draw_location(item: SceneObject, view: View, far: bool) -> Polygon:
    """Return the square that marks a location."""
    half = max(item.size_m[0], item.size_m[1], 0.03) / 2 * view.scale
    x, y = view.at(*item.pose.position_m[:2])
    edge = Paint(stroke=FAR if far else '#5d6470', stroke_opacity=0.85, dash=(3, 2.5))
    paint = replace(edge, fill='#ffffff', fill_opacity=0.55)
    return Polygon(rectangle(x - half, y - half, 2 * half, 2 * half), paint)


def draw_object(item: SceneObject, view: View, far: bool) -> list[Flat]:
    """Return an object in its colour, with its shine or its floor, ringed if out of reach."""
    fill = color_of(item.color)
    paint = Paint(fill=fill, stroke=edge_of(fill), width=1.4)
    inner, share = Paint(stroke=mix(fill, '#ffffff', 0.45), stroke_opacity=0.8, width=1), 0.7
    if is_container(item):
        inner = Paint(fill=mix(fill, '#000000', 0.12), stroke=edge_of(fill), width=0.8)
        share = 0.8
    cx, cy = centre = view.at(*item.pose.position_m[:2])
    shapes: list[Flat] = []
    if far:
        radius = 1.45 * radius_of(item) * view.scale
        ring = Paint(stroke=FAR, width=1.3, dash=(4, 3))
        shapes.append(Polygon(circle_points(centre, radius), ring))
    # Of other things only the size is known; those as long as wide are cans, balls, bowls.
    known = item.kind is not Kind.OTHER and not is_container(item)
    if is_round(item) or (not known and abs(item.size_m[0] - item.size_m[1]) < 1e-6):
        corners = circle_points(centre, item.size_m[0] / 2 * view.scale)
    else:
        corners = _outline(item, view)
    within = tuple((cx + share * (x - cx), cy + share * (y - cy)) for x, y in corners)
    return [*shapes, Polygon(corners, paint), Polygon(within, inner)]


def draw_traces(before: Scene, movable: Sequence[SceneObject], view: View) -> list[Flat]:
    """Return where objects were before, and their paths."""
    shapes: list[Flat] = []
    known = {item.name: item for item in before.objects}
    for item in movable:
        old = known.get(item.name, item)
        if math.dist(old.pose.position_m, item.pose.position_m) >= MOVED_M:
            edge = edge_of(color_of(item.color))
            ghost = Paint(stroke=edge, stroke_opacity=0.45, width=1, dash=(2.5, 2.5))
            start, end = (view.at(*one.pose.position_m[:2]) for one in (old, item))
            way = Paint(stroke=edge, stroke_opacity=0.38, width=1.3)
            shapes.append(Polygon(_outline(old, view), ghost))
            shapes.append(Polygon(arc(start, end), way, closed=False))
    return shapes


def arc(start: Point, end: Point, n: int = 20) -> tuple[Point, ...]:
    """Return a gently bent line of *n* pieces; straight ones run through what is between."""
    (ax, ay), (bx, by) = start, end
    mx, my = (ax + bx) / 2 + 0.12 * (by - ay), (ay + by) / 2 - 0.12 * (bx - ax)
    weights = [((1 - t) ** 2, 2 * t * (1 - t), t * t) for t in (i / n for i in range(n + 1))]
    return tuple((u * ax + v * mx + w * bx, u * ay + v * my + w * by) for u, v, w in weights)


def _outline(item: SceneObject, view: View) -> tuple[Point, ...]:
    return tuple(view.at(x, y) for x, y in outline(item))


def radius_of(item: SceneObject) -> float:
    """Return how far an object reaches from its centre, seen from above, about [m]."""
    return max(half_extent(item, (1.0, 0.0, 0.0)), half_extent(item, (0.0, 1.0, 0.0)))
