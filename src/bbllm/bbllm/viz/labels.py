"""Where names are written, so that they cover neither objects nor each other."""

import math
from collections.abc import Callable, Iterator, Sequence
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
    order = sorted(range(len(wanted)), key=lambda index: -_crowding(wanted, index))
    for index in order:
        others = [item.box for item in placed.values()]
        leaders = [item.leader for item in placed.values() if item.leader is not None]
        costs = partial(
            _costs, others=others, things=things, leaders=leaders, size=(width, height)
        )
        placed[index] = _cheapest(_candidates(wanted[index]), costs)
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


def _cheapest(spots: Sequence[Placed], costs: Callable[[Placed], Iterator[float]]) -> Placed:
    """Return the first of the best spots."""
    best, least = spots[0], math.inf
    for spot in spots:
        cost = 0.0
        for part in costs(spot):
            cost += part
            if cost >= least:
                break  # no part is negative, so that the rest need not be known
        else:
            best, least = spot, cost
    return best


def _costs(
    spot: Placed,
    others: Sequence[Box],
    things: Sequence[Box],
    leaders: Sequence[Leader],
    size: tuple[float, float],
) -> Iterator[float]:
    """Yield the costs of a spot, the cheapest to compute first."""
    box = spot.box
    if spot.leader is not None:
        yield 30.0 + 2.5 * math.dist(*spot.leader)
    inside = overlap(box, (2.0, 2.0, size[0] - 2.0, size[1] - 2.0))
    yield 50.0 * ((box[2] - box[0]) * (box[3] - box[1]) - inside)
    yield sum(8.0 * overlap(box, other) for other in others)
    yield sum(6.0 * overlap(box, thing) for thing in things)
    yield sum(150.0 for leader in leaders if _crosses(leader, box))
    if spot.leader is not None:
        yield sum(150.0 for other in others if _crosses(spot.leader, other))
        yield sum(60.0 for thing in things if _crosses(spot.leader, thing))
        yield sum(200.0 for leader in leaders if _cut(spot.leader, leader))


def _crosses(line: Leader, box: Box) -> bool:
    """Whether a line runs through a box, sampled in steps."""
    (ax, ay), (bx, by) = line
    if max(ax, bx) <= box[0] or min(ax, bx) >= box[2]:
        return False  # said at once, because most pairs are far apart
    if max(ay, by) <= box[1] or min(ay, by) >= box[3]:
        return False
    n = max(2, int(math.dist(*line) / 3.0))
    return any(
        box[0] < ax + (bx - ax) * i / n < box[2] and box[1] < ay + (by - ay) * i / n < box[3]
        for i in range(1, n)
    )


def _cut(one: Leader, other: Leader) -> bool:
    def side(a: Point, b: Point, p: Point) -> float:
        return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

    return (
        side(*one, other[0]) * side(*one, other[1]) < 0
        and side(*other, one[0]) * side(*other, one[1]) < 0
    )


def _sign(value: float) -> float:
    return 0.0 if abs(value) < 0.3 else math.copysign(1.0, value)
