"""
Finds room on a table: one draw of a scene's positions, by simple and exact arithmetic.

All that is random comes from `random.Random.random`, whose stream Python promises to keep, and
nothing but sums, products and comparisons decides; so the same seed gives the same scene on
every machine.
"""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from bbllm.core.types import Kind
from bbllm.scene.object_models import OBJECT_MODELS
from bbllm_bench.suites.scene_recipe import (
    EDGE_M,
    PATTERNS,
    Area,
    Count,
    LocationGroup,
    Recipe,
    Span,
)

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Least x, greatest x, least y, greatest y [m]."""
T = TypeVar('T')

DRAWS, GOODS_DRAWS = 60, 80
"""Positions that are tried for one object before the whole scene is drawn anew."""
EDGE_OF_TABLE_M = 0.04
"""How far centres stay from the edge of the table [m]."""
LEAST_X_M = 0.12
"""Nothing stands beside or behind the robot's base [m]."""
GAP_M = 0.03
"""Room for the fingers between two goods [m]."""
TALL_M, PALM_M = 0.05, 0.05
"""What is taller is in the way of the palm, and how much more room there is beside it [m]."""
CONTAINERS_M = (0.36, 0.60)
"""How near to and far from the robot's axis containers may be: their rims are in reach too [m]."""


class NoRoomError(Exception):
    """This draw of a scene cannot be completed; the text names the rule that failed."""


class Dice:
    """Everything that is random in a scene."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def between(self, least: float, most: float) -> float:
        """Return a number, rounded to a thousandth."""
        return round(least + (most - least) * self._random.random(), 3) + 0.0

    def number(self, count: Count) -> int:
        """Return a whole number of a range, both ends included."""
        least, most = (count, count) if isinstance(count, int) else count
        return least + int((most - least + 1) * self._random.random())

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.number((0, len(items) - 1))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(int(len(left) * self._random.random())) for _ in items]

    def point(self, box: Box, n: int, fits: Callable[[Point], bool], label: str) -> Point:
        """
        Return a point of a box that fits, of at most so many that are drawn.

        Raises:
            NoRoomError: None did; names *label*.
        """
        x0, x1, y0, y1 = box
        for _ in range(n if x0 < x1 and y0 < y1 else 0):
            point = (self.between(x0, x1), self.between(y0, y1))
            if fits(point):
                return point
        raise NoRoomError(f'no free place for {label}')


class Floor:
    """What stands where so far, and where more may stand."""

    def __init__(self, recipe: Recipe, dice: Dice) -> None:
        self._recipe = recipe
        self._dice = dice
        self._points: list[tuple[Point, str]] = []
        """With the kind of good that is there, '' for a block and a location."""
        self._boxes: list[Box] = []

    def spot(self, area: Area, *, reach: bool, label: str, kind: str = '') -> Point:
        """
        Return and take a place for one block or location, or for one good of a kind.

        Raises:
            NoRoomError: None was found; names *label*.
        """
        recipe = self._recipe
        within = recipe.reach_m if reach else recipe.beyond_m
        if reach and kind and OBJECT_MODELS[kind].kind is Kind.CONTAINER:
            within = CONTAINERS_M

        def fits(point: Point) -> bool:
            return (
                (kind != '' or isinstance(area, tuple) or abs(point[1]) >= recipe.middle_m)
                and _in_ring(point, within)
                and all(
                    _square(point, at) >= self._apart_m(kind, other) ** 2
                    for at, other in self._points
                )
                and all(_gap(point, box) >= recipe.spacing_m**2 for box in self._boxes)
            )

        box = _overlap(self._part(area, kind), (0.0, within[1], -within[1], within[1]))
        point = self._dice.point(box, GOODS_DRAWS if kind else DRAWS, fits, label)
        self._points.append((point, kind))
        return point

    def _part(self, area: Area, kind: str = '') -> Box:
        (x, y), (a, b) = self._recipe.table.xy, self._recipe.table.size
        edge, middle_m = radius_m(kind) if kind else EDGE_OF_TABLE_M, self._recipe.middle_m
        least_x = LEAST_X_M + edge if kind else LEAST_X_M
        a, b = a / 2 - edge, b / 2 - edge
        halves = {'left': (-9.0, 9.0, middle_m, 9.0), 'right': (-9.0, 9.0, -9.0, -middle_m)}
        part = area if isinstance(area, tuple) else halves.get(area, (-9.0, 9.0, -9.0, 9.0))
        return _overlap((max(x - a, least_x), x + a, y - b, y + b), part)

    def _apart_m(self, one: str, other: str) -> float:
        if not (one and other):
            return self._recipe.spacing_m
        tall = any(OBJECT_MODELS[kind].size_m[2] > TALL_M for kind in (one, other))
        return radius_m(one) + radius_m(other) + GAP_M + (PALM_M if tall else 0.0)

    def pattern(self, group: LocationGroup, n: int, label: str) -> list[Point]:
        """
        Return the places of a pattern, *n* for a row, and keep everything else away from it.

        Raises:
            NoRoomError: It fits nowhere; names *label*.
        """
        steps = PATTERNS.get(group.pattern) or tuple((0, -i) for i in range(n))
        if not steps:
            return []
        rows, columns = [step[0] for step in steps], [step[1] for step in steps]
        within = self._recipe.reach_m if group.reach else self._recipe.beyond_m
        area = self._part(group.area)
        for _ in range(DRAWS):
            pitch = self._dice.between(*group.pitch)
            # The box of the pattern whose multiples (0, 0) are at the origin.
            around = (min(rows) * pitch, max(rows) * pitch,
                      min(columns) * pitch, max(columns) * pitch)  # fmt: skip
            span = (area[0] - around[0], area[1] - around[1],
                    area[2] - around[2], area[3] - around[3])  # fmt: skip
            if group.centre is not None:
                (x, y), off = group.centre, group.centre_m
                mx, my = (around[0] + around[1]) / 2, (around[2] + around[3]) / 2
                wanted = (x - off - mx, x + off - mx, y - off - my, y + off - my)
                span = _overlap(span, wanted)
            if span[0] > span[1] or span[2] > span[3]:
                continue
            x, y = self._dice.between(*span[:2]), self._dice.between(*span[2:])
            points = [
                (round(x + i * pitch, 3) + 0.0, round(y + j * pitch, 3) + 0.0) for i, j in steps
            ]
            box = (x + around[0], x + around[1], y + around[2], y + around[3])
            if all(_in_ring(point, within) for point in points) and self._box_free(box):
                self._boxes.append(box)
                return points
        raise NoRoomError(f'no free place for {label}')

    def _box_free(self, box: Box) -> bool:
        apart = self._recipe.spacing_m
        return all(_gap(point, box) >= apart**2 for point, _ in self._points) and all(
            max(box[0] - other[1], other[0] - box[1], box[2] - other[3], other[2] - box[3])
            >= apart
            for other in self._boxes
        )


def radius_m(kind: str) -> float:
    """Return half the diagonal of a kind's box seen from above, however it is turned [m]."""
    x, y, _ = OBJECT_MODELS[kind].size_m
    return float((x * x + y * y) ** 0.5 / 2)


def _overlap(one: Box, other: Box) -> Box:
    return (
        max(one[0], other[0]),
        min(one[1], other[1]),
        max(one[2], other[2]),
        min(one[3], other[3]),
    )


def _in_ring(point: Point, within: Span) -> bool:
    return within[0] ** 2 <= point[0] ** 2 + point[1] ** 2 <= within[1] ** 2


def _square(one: Point, other: Point) -> float:
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2


def _gap(point: Point, box: Box) -> float:
    """Return the squared distance between a point and a box; 0 inside [m^2]."""
    dx = max(box[0] - point[0], point[0] - box[1], 0.0)
    dy = max(box[2] - point[1], point[1] - box[3], 0.0)
    return dx * dx + dy * dy


assert EDGE_OF_TABLE_M > EDGE_M / 2 * 2**0.5  # a turned cube does not hang over the edge
