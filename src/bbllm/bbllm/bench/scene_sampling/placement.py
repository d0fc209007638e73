"""
Finds room on a table: one draw of a scene's positions, by simple and exact arithmetic.

All that is random comes from `random.Random.random`, whose stream Python promises to keep, and
nothing but sums, products and comparisons decides; so the same seed gives the same scene on
every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from bbllm.bench.suites.scene_recipe import (
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

DRAWS = 60
"""Positions that are tried for one object before the whole scene is drawn anew."""
EDGE_OF_TABLE_M = 0.04
"""How far centres stay from the edge of the table [m]."""
LEAST_X_M = 0.12
"""Nothing stands beside or behind the robot's base [m]."""


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

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return items in another order."""
        left = list(items)
        return [left.pop(int(len(left) * self._random.random())) for _ in items]


class Floor:
    """What stands where so far, and where more may stand."""

    def __init__(self, recipe: Recipe, dice: Dice) -> None:
        self._recipe = recipe
        self._dice = dice
        self._points: list[Point] = []
        self._boxes: list[Box] = []
        x, y = recipe.table.xy
        a, b = (size / 2 - EDGE_OF_TABLE_M for size in recipe.table.size)
        self._table: Box = (max(x - a, LEAST_X_M), x + a, y - b, y + b)

    def spot(self, area: Area, *, reach: bool, label: str) -> Point:
        """
        Return and take a place for one object.

        Raises:
            NoRoomError: None was found; names *label*.
        """
        within = self._recipe.reach_m if reach else self._recipe.beyond_m
        x0, x1, y0, y1 = _overlap(self._box_of(area), (0.0, within[1], -within[1], within[1]))
        for _ in range(DRAWS if x0 < x1 and y0 < y1 else 0):
            point = (self._dice.between(x0, x1), self._dice.between(y0, y1))
            clear = abs(point[1]) >= self._recipe.middle_m or isinstance(area, tuple)
            if clear and _in_ring(point, within) and self._free(point):
                self._points.append(point)
                return point
        raise NoRoomError(f'no free place for {label}')

    def pattern(self, group: LocationGroup, n: int, label: str) -> list[Point]:
        """
        Return the places of a pattern, and keep everything else away from it.

        Args:
            group: What kind of pattern, how large and where.
            n: How many places, for a row.
            label: What errors call it.

        Raises:
            NoRoomError: It fits nowhere.
        """
        steps = PATTERNS.get(group.pattern) or tuple((0, -i) for i in range(n))
        within = self._recipe.reach_m if group.reach else self._recipe.beyond_m
        area = self._box_of(group.area)
        for _ in range(DRAWS if steps else 0):
            pitch = self._dice.between(*group.pitch)
            around = _around(steps, pitch)
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
        if not steps:
            return []
        raise NoRoomError(f'no free place for {label}')

    def _box_of(self, area: Area) -> Box:
        margin = self._recipe.middle_m
        if area == 'left':
            return _overlap(self._table, (-9.0, 9.0, margin, 9.0))
        if area == 'right':
            return _overlap(self._table, (-9.0, 9.0, -9.0, -margin))
        return self._table if area == 'anywhere' else _overlap(self._table, area)

    def _free(self, point: Point) -> bool:
        nearest = self._recipe.spacing_m**2
        return all(
            (point[0] - x) ** 2 + (point[1] - y) ** 2 >= nearest for x, y in self._points
        ) and all(_gap(point, box) >= nearest for box in self._boxes)

    def _box_free(self, box: Box) -> bool:
        apart = self._recipe.spacing_m
        return all(_gap(point, box) >= apart**2 for point in self._points) and all(
            max(box[0] - other[1], other[0] - box[1], box[2] - other[3], other[2] - box[3])
            >= apart
            for other in self._boxes
        )


def _around(steps: Sequence[tuple[int, int]], pitch: float) -> Box:
    """Return the box of a pattern whose first multiples (0, 0) are at the origin."""
    rows, columns = [step[0] for step in steps], [step[1] for step in steps]
    return (min(rows) * pitch, max(rows) * pitch, min(columns) * pitch, max(columns) * pitch)


def _overlap(one: Box, other: Box) -> Box:
    return (
        max(one[0], other[0]),
        min(one[1], other[1]),
        max(one[2], other[2]),
        min(one[3], other[3]),
    )


def _in_ring(point: Point, within: Span) -> bool:
    return within[0] ** 2 <= point[0] ** 2 + point[1] ** 2 <= within[1] ** 2


def _gap(point: Point, box: Box) -> float:
    """Return the squared distance between a point and a box; 0 inside [m^2]."""
    dx = max(box[0] - point[0], point[0] - box[1], 0.0)
    dy = max(box[2] - point[1], point[1] - box[3], 0.0)
    return dx * dx + dy * dy


assert EDGE_OF_TABLE_M > EDGE_M / 2 * 2**0.5  # a turned cube does not hang over the edge
