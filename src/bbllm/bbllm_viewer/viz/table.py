"""The table seen from above: x forward is up, y left is left; names cover nothing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bbllm.core.types import Kind, Scene, SceneObject
from bbllm.skills.containers import is_container, lies_in
from bbllm.skills.shapes import top_z
from bbllm_viewer.viz.objects import (
    FAR,
    draw_grid,
    draw_location,
    draw_object,
    draw_reach,
    draw_robot,
    draw_table,
    draw_traces,
    radius_of,
)
from bbllm_viewer.viz.shapes import (
    Flat,
    Paint,
    Panel,
    Point,
    Polygon,
    Text,
    circle_points,
    rectangle,
    text_width,
)
from bbllm_viewer.viz.view import BASE_M, View

GROUND = '#eceae5'
INK = '#22262b'
MUTED = '#7c8087'
PILE_M = 0.02
"""Objects whose centres are this near to each other, seen from above, share one label."""
PAPER = '#fbf9f5'
"""Around letters, so that lines do not run through them."""
Box = tuple[float, float, float, float]
"""Left, top, right, bottom [px]."""
Leader = tuple[Point, Point]

ANGLES_DEG = (90, 270, 0, 180, 45, 135, 225, 315, 20, 160, 200, 340, 65, 115, 245, 295)
"""Directions to try, clockwise from the right; first below, then above, then beside."""
GAPS_PX = (3.0, 12.0, 24.0, 40.0, 60.0, 80.0)
LEADER_FROM_PX = 9.0
"""A label further away than this is joined to its object by a thin line."""
LEADER_COST = 30.0
NEAR_PX = 9.0
"""A label that is this near to another object could be read as that one's."""
RIVAL_COST = 200.0
"""More than that of a line of usual length to a place further off."""


def draw_scene(scene: Scene, view: View, corner: Point, *, before: Scene | None = None) -> Panel:
    """Return a scene as one panel; objects that moved since *before* get a faint trace."""
    items = [item for item in scene.objects if item.kind not in (Kind.FIXTURE, Kind.HAND)]
    movable = [item for item in items if item.kind is not Kind.LOCATION]
    # A container is as high as its rim, and yet below what is in it.
    movable.sort(key=lambda item: (not is_container(item), top_z(item)))
    locations = [item for item in items if item.kind is Kind.LOCATION]
    shapes: list[Flat] = [Polygon(rectangle(0, 0, view.width, view.height), Paint(fill=GROUND))]
    shapes += [draw_table(item, view) for item in scene.objects if item.kind is Kind.FIXTURE]
    shapes += [*draw_reach(view), *draw_grid(view), *draw_robot(view)]
    shapes += [draw_location(item, view, _far(scene, item)) for item in locations]
    if before is not None:
        shapes += draw_traces(before, movable, view)
    for item in movable:
        shapes += draw_object(item, view, _far(scene, item))
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
    rivals: list[Box] = []
    short = short_names([item.name for item in locations])
    for pile in piles(movable):
        centre = view.at(*pile[0].pose.position_m[:2])
        radius = max(radius_of(item) for item in pile) * view.scale
        # The name of what is in a container may be in it too.
        if not any(lies_in(item, pile[0]) for item in movable):
            boxes.append(_box(centre, radius))
            rivals.append(boxes[-1])
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
    labels = tuple(label for label, _ in wanted)
    placed = place_labels(labels, tuple(boxes), view.width, view.height, tuple(rivals))
    line, dot = Paint(stroke=INK, stroke_opacity=0.8, width=1.1), Paint(fill=INK, stroke=PAPER)
    for leader in (spot.leader for spot in placed if spot.leader is not None):
        # The dot is in the object, so that a line past others is no question.
        shapes.append(Polygon(leader, line, closed=False))
        shapes.append(Polygon(circle_points(leader[0], 2.4), dot))
    for (label, color), spot in zip(wanted, placed, strict=True):
        lines = label.text.split('\n')
        x, top = spot.middle[0], spot.middle[1] - (len(lines) - 1) * label.line / 2
        shapes += [
            Text((x, top + i * label.line), line, label.size, color, 'middle', halo=PAPER)
            for i, line in enumerate(lines)
        ]
    return shapes


@dataclass(frozen=True, slots=True)
class Wanted:
    """A name to write beside an object."""

    text: str
    """One line or several."""
    centre: Point
    radius: float
    """How far the object reaches from its centre [px]."""
    size: float
    """Height of the font [px]."""

    @property
    def line(self) -> float:
        """Distance from line to line [px]."""
        return 1.2 * self.size

    @property
    def half_size(self) -> tuple[float, float]:
        """Half width and half height of the whole text [px]."""
        lines = self.text.split('\n')
        width = max(text_width(line, self.size) for line in lines)
        return width / 2, len(lines) * self.line / 2


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a name goes."""

    middle: Point
    leader: Leader | None
    """The line from object to name, None where the name stands right beside it."""
    box: Box


# A report draws the same table for several K, on its own page and in the gallery.
@lru_cache(maxsize=64)
def place_labels(
    wanted: tuple[Wanted, ...],
    items: tuple[Box, ...],
    width: float,
    height: float,
    rivals: tuple[Box, ...] = (),
) -> tuple[Placed, ...]:
    """
    Find places in a panel [px] for names, the most crowded first, beside *items*.

    A name that would stand near one of *rivals*, objects that have names too, goes further off,
    with a line to its own.
    """
    placed: dict[int, Placed] = {}
    for index in sorted(range(len(wanted)), key=lambda index: -_crowding(wanted, index)):
        own = wanted[index].centre
        costs = {
            spot: _cost(spot, [*placed.values()], items, (width, height))
            + RIVAL_COST * _rivals(spot.box, own, rivals)
            for spot in _candidates(wanted[index])
        }
        placed[index] = min(costs, key=lambda spot: costs[spot])
    return tuple(placed[index] for index in range(len(wanted)))


def _rivals(label: Box, own: Point, rivals: Sequence[Box]) -> int:
    """Count the objects near a label that are not its own."""
    around = (label[0] - NEAR_PX, label[1] - NEAR_PX, label[2] + NEAR_PX, label[3] + NEAR_PX)
    return sum(
        overlap(around, box) > 0
        and not (box[0] <= own[0] <= box[2] and box[1] <= own[1] <= box[3])
        for box in rivals
    )


def overlap(one: Box, other: Box) -> float:
    """Return the area that two boxes share [px^2]."""
    if one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]:
        return 0.0  # said at once, because most pairs are far apart
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across * down


def _crowding(wanted: Sequence[Wanted], index: int) -> float:
    centre = wanted[index].centre
    return sum(
        1.0 / (10.0 + math.dist(centre, other.centre))
        for other in wanted
        if other is not wanted[index]
    )


def _candidates(label: Wanted) -> list[Placed]:
    half_width, half_height = label.half_size
    spots = []
    for gap in GAPS_PX:
        for angle in ANGLES_DEG:
            dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            # From the centre to where the box just clears the thing along this direction.
            reach = label.radius + gap
            x = label.centre[0] + dx * reach + _sign(dx) * half_width
            y = label.centre[1] + dy * reach + _sign(dy) * half_height
            box = (x - half_width, y - half_height, x + half_width, y + half_height)
            spots.append(Placed((x, y), _leader(label, box, gap), box))
    return spots


def _leader(label: Wanted, box: Box, gap: float) -> Leader | None:
    if gap < LEADER_FROM_PX:
        return None
    x, y = label.centre
    end = (min(max(x, box[0] + 2), box[2] - 2), min(max(y, box[1] + 1), box[3] - 1))
    length = math.dist((x, y), end)
    share = label.radius * 0.4 / length
    return (x + (end[0] - x) * share, y + (end[1] - y) * share), end


def _cost(
    spot: Placed, others: Sequence[Placed], items: Sequence[Box], size: tuple[float, float]
) -> float:
    """Return how bad a spot is, among names that have their places, in a panel of some size."""
    box = spot.box
    area = (box[2] - box[0]) * (box[3] - box[1])
    cost = 50.0 * (area - overlap(box, (2.0, 2.0, size[0] - 2.0, size[1] - 2.0)))
    cost += sum(6.0 * overlap(box, item) for item in items)
    cost += sum(8.0 * overlap(box, other.box) for other in others)
    if spot.leader is not None:
        cost += LEADER_COST + 2.5 * math.dist(*spot.leader)
    return cost


def _sign(value: float) -> float:
    return 0.0 if abs(value) < 0.3 else math.copysign(1.0, value)
