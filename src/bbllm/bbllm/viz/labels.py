"""Where names are written, so that they cover neither objects nor each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bbllm.viz.shapes import Point, text_width

Box = tuple[float, float, float, float]
"""Left, top, right, bottom [px]."""
Leader = tuple[Point, Point]

ANGLES_DEG = (90, 270, 0, 180, 45, 135, 225, 315, 20, 160, 200, 340, 65, 115, 245, 295)
"""Directions to try, clockwise from the right; first below, then above, then beside."""
GAPS_PX = (3.0, 12.0, 24.0, 40.0, 60.0, 80.0)
LEADER_FROM_PX = 9.0
"""A label further away than this is joined to its object by a thin line."""
LEADER_COST = 30.0


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


def place_labels(
    wanted: Sequence[Wanted], things: Sequence[Box], width: float, height: float
) -> list[Placed]:
    """Find places in a panel [px] for names, the most crowded first, beside *things*."""
    placed: dict[int, Placed] = {}
    for index in sorted(range(len(wanted)), key=lambda index: -_crowding(wanted, index)):
        cost = partial(_cost, others=[*placed.values()], things=things, size=(width, height))
        spots = _candidates(wanted[index])
        best = min((spot for spot in spots if spot.leader is None), key=cost)
        # No place with a leader costs less than the leader.
        placed[index] = best if cost(best) <= LEADER_COST else min(spots, key=cost)
    return [placed[index] for index in range(len(wanted))]


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
    share = label.radius * 0.8 / length
    return (x + (end[0] - x) * share, y + (end[1] - y) * share), end


def _cost(
    spot: Placed, others: Sequence[Placed], things: Sequence[Box], size: tuple[float, float]
) -> float:
    """Return how bad a spot is, among names that have their places, in a panel of some size."""
    box, leader = spot.box, spot.leader
    area = (box[2] - box[0]) * (box[3] - box[1])
    cost = 50.0 * (area - overlap(box, (2.0, 2.0, size[0] - 2.0, size[1] - 2.0)))
    cost += sum(6.0 * overlap(box, thing) for thing in things)
    for other in others:
        cost += 8.0 * overlap(box, other.box)
        cost += 150.0 * (other.leader is not None and _crosses(other.leader, box))
    if leader is None:
        return cost
    cost += LEADER_COST + 2.5 * math.dist(*leader)
    cost += sum(60.0 for thing in things if _crosses(leader, thing))
    for other in others:
        cost += 150.0 * _crosses(leader, other.box)
        cost += 200.0 * (other.leader is not None and _cut(leader, other.leader))
    return cost


def _crosses(line: Leader, box: Box) -> bool:
    """Whether a line runs through a box, and so through one of its diagonals."""
    left, top, right, bottom = box
    diagonals = (((left, top), (right, bottom)), ((left, bottom), (right, top)))
    return any(_cut(line, diagonal) for diagonal in diagonals)


def _cut(one: Leader, other: Leader) -> bool:
    def side(a: Point, b: Point, p: Point) -> float:
        return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

    return (
        side(*one, other[0]) * side(*one, other[1]) < 0
        and side(*other, one[0]) * side(*other, one[1]) < 0
    )


def _sign(value: float) -> float:
    return 0.0 if abs(value) < 0.3 else math.copysign(1.0, value)
