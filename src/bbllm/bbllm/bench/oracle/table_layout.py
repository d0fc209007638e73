"""Places on a table, and the sets of places that form a plus sign, a row or a triangle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bbllm.bench.oracle.table_goals import Side, TableObject

NEAR_M = 0.02
"""Closer than this to a place is at it [m]."""
TIGHT_M = 0.05
"""Nearer than this to a place, an object leaves no room for another there [m]."""
PLACED_M, POSED_M = 0.01, 0.004
"""Closer than this to a location or a pose need not be put there again [m]."""
GRID_M = 0.01
"""How far a location may be off the grid of a pattern [m]."""
MIN_PITCH_M = 0.055
"""Below this, fingers do not fit between two cubes of 4 cm [m]."""
MAX_PITCH_M, MAX_ROW_PITCH_M = 0.095, 0.15
"""Above this, a pattern or a row has holes [m]."""
POSE_PITCH_M, TIGHT_PITCH_M = 0.08, 0.065
"""Pitch of patterns without named locations, and on a crowded table [m]."""
WORK_MIDDLE_M = (0.48, 0.0)
"""Assumed middle of the arm's work space [m]."""
POSES_X_M = (0.475, 0.50, 0.45, 0.525, 0.425, 0.55, 0.40, 0.575, 0.375, 0.35)
POSES_Y_M = tuple(0.03 * i for i in range(13))
POSE_RANGE_M = (0.30, 0.65)
"""Least and greatest distance of a chosen pose from the arm's axis [m]."""
SIDE_M = 0.03
"""How far from the middle line a place on a side is [m]."""
SIZES = {'plus': (5,), 'triangle': (3,), 'square': (4,), 'L': (5, 4)}
"""How many objects a shape takes, best first; rows and columns take all."""
_OFFSETS = {
    'plus': ((0, 0), (1, 0), (0, 1), (0, -1), (-1, 0)),  # middle first, while it can be reached
    'triangle': ((1, 0), (0, 1), (0, -1)),
    'square': ((1, 1), (1, 0), (0, 1), (0, 0)),
    'L': ((2, 0), (1, 0), (0, 0), (0, -1), (0, -2)),
}
Steps = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class TablePlace:
    """A place on the table."""

    key: str
    """A location's name, or `x y` where it has none."""
    x: float
    y: float
    pose: str = ''
    """The pose in numbers, where the task gives it."""

    def holds(self, thing: TableObject) -> bool:
        """Whether an object stands there as well as if the hand had put it there."""
        return self.near(thing, POSED_M if ' ' in self.key else PLACED_M)

    def near(self, thing: TableObject, within: float = NEAR_M) -> bool:
        """Whether an object stands there, or a location is there."""
        return thing.at is not None and math.dist(thing.at[:2], (self.x, self.y)) < within

    def on_side(self, side: Side | None) -> bool:
        """Whether it is on the side that is asked for, if any is."""
        return side is None or (self.y > SIDE_M if side == 'left' else self.y < -SIDE_M)


@dataclass(frozen=True)
class OnTop:
    """On top of an object, or in a container."""

    base: str


@dataclass(frozen=True)
class Region:
    """Any free place on a side, or on the whole table."""

    side: Side | None


Where: TypeAlias = TablePlace | OnTop | Region


@dataclass(frozen=True)
class Rectangle:
    """The rectangle around some places."""

    x: tuple[float, float]
    y: tuple[float, float]
    room: float
    """How far other objects are to be from it [m]."""

    @classmethod
    def around(cls, cells: Iterable[TablePlace], room: float = 0.09) -> Rectangle:
        """Return the smallest one that contains all of these places."""
        xs, ys = zip(*((cell.x, cell.y) for cell in cells), strict=True)
        return cls((min(xs), max(xs)), (min(ys), max(ys)), room)

    def gap(self, x: float, y: float) -> float:
        """Return how far a point is from it [m]."""
        dx = max(self.x[0] - x, x - self.x[1], 0.0)
        return math.hypot(dx, max(self.y[0] - y, y - self.y[1], 0.0))

    @property
    def off_middle(self) -> float:
        """How far its middle is from that of the work space [m]."""
        return math.dist((sum(self.x) / 2, sum(self.y) / 2), WORK_MIDDLE_M)


def pose_cell(x: float, y: float) -> TablePlace:
    """Return a place without a name."""
    x, y = round(x, 3) + 0.0, round(y, 3) + 0.0
    return TablePlace(f'{x:.3f} {y:.3f}', x, y)


def cell_of(location: TableObject) -> TablePlace:
    """Return a named location as a place."""
    assert location.at is not None  # scenes contain the pose of every location
    return TablePlace(location.name, *location.at[:2])


def offsets(shape: str, n: int) -> Steps:
    """Return a pattern as grid cells (forward, left), in the order in which they are filled."""
    if shape in _OFFSETS:
        return _OFFSETS[shape][:n]
    return [(-i, 0) if shape == 'column' else (0, -i) for i in range(n)]


def named_patterns(
    steps: Steps, locations: Sequence[TableObject], side: Side | None
) -> Iterator[tuple[TablePlace, ...]]:
    """Yield the sets of named locations that form a pattern."""
    cells = [cell for cell in map(cell_of, locations) if cell.on_side(side)]
    straight = any(len({step[axis] for step in steps}) == 1 for axis in range(2))
    widest_m = MAX_ROW_PITCH_M if straight else MAX_PITCH_M
    for origin, other in itertools.product(cells, cells):
        aside, pitch = sorted((abs(other.x - origin.x), abs(other.y - origin.y)))
        if aside < GRID_M and MIN_PITCH_M <= pitch <= widest_m:
            whole = tuple(
                cell
                for at in _grid(steps, (origin.x, origin.y), steps[0], pitch)
                for cell in cells
                if max(abs(cell.x - at.x), abs(cell.y - at.y)) < GRID_M
            )
            if len(whole) == len(steps):
                yield whole


def pose_patterns(
    steps: Steps, side: Side | None, pitch: float = POSE_PITCH_M
) -> Iterator[tuple[TablePlace, ...]]:
    """Yield patterns of poses within reach, those in the middle of the table first."""
    rows, columns = zip(*steps, strict=True)
    middle = (max(rows) + min(rows)) / 2, (max(columns) + min(columns)) / 2
    near, far = POSE_RANGE_M
    for y, x, sign in itertools.product(POSES_Y_M, POSES_X_M, (-1, 1)):
        cells = _grid(steps, (x, sign * y), middle, pitch)
        if all(c.on_side(side) and near <= math.hypot(c.x, c.y) <= far for c in cells):
            yield cells


def _grid(
    steps: Steps, at: tuple[float, float], anchor: tuple[float, float], pitch: float
) -> tuple[TablePlace, ...]:
    """Return a pattern of poses with the step `anchor` at a point."""
    return tuple(
        pose_cell(at[0] + (i - anchor[0]) * pitch, at[1] + (j - anchor[1]) * pitch)
        for i, j in steps
    )
