"""Places on a table, and the sets of places that form a plus sign, a row or a triangle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bbllm.bench.oracle.table_goals import Side, TableObject

NEAR_M = 0.02
"""Closer than this to a place is at it [m]."""
PLACED_M, POSED_M = 0.01, 0.004
"""Closer than this to a location or a pose need not be put there again [m]."""
GRID_M = 0.01
"""How far a location may be off the grid of a pattern [m]."""
MIN_PITCH_M = 0.055
"""Below this, fingers do not fit between two cubes of 4 cm [m]."""
MAX_PITCH_M, MAX_ROW_PITCH_M = 0.095, 0.15
"""Above this, a pattern or a row has holes [m]."""
FREE_M = 0.07
"""How far a free pose is from everything else [m]."""
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
class Place:
    """A place on the table."""

    key: str
    """A location's name, or `x y` where it has none."""
    x: float
    y: float

    def holds(self, thing: TableObject) -> bool:
        """Whether an object stands there as well as if the hand had put it there."""
        return self.near(thing, POSED_M if ' ' in self.key else PLACED_M)

    def near(self, thing: TableObject, within: float = NEAR_M) -> bool:
        """Whether an object stands there, or a location is there."""
        return thing.at is not None and math.dist(thing.at[:2], (self.x, self.y)) < within


@dataclass(frozen=True)
class Rectangle:
    """The rectangle around some places."""

    x: tuple[float, float]
    y: tuple[float, float]
    room: float
    """How far other objects are to be from it [m]."""

    @classmethod
    def around(cls, cells: Iterable[Place], room: float = 0.09) -> Rectangle:
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


def pose_cell(x: float, y: float) -> Place:
    """Return a place without a name."""
    x, y = round(x, 3) + 0.0, round(y, 3) + 0.0
    return Place(f'{x:.3f} {y:.3f}', x, y)


def cell_of(location: TableObject) -> Place:
    """Return a named location as a place."""
    assert location.at is not None  # scenes contain the pose of every location
    return Place(location.name, *location.at[:2])


def on_side(cell: Place, side: Side | None) -> bool:
    """Whether a place is on the side that is asked for, if any is."""
    return side is None or (cell.y > SIDE_M if side == 'left' else cell.y < -SIDE_M)


def within_range(cell: Place) -> bool:
    """Whether a pose is neither too near to the arm nor too far."""
    return POSE_RANGE_M[0] <= math.hypot(cell.x, cell.y) <= POSE_RANGE_M[1]


def offsets(shape: str, n: int) -> Steps:
    """Return a pattern as grid cells (forward, left), in the order in which they are filled."""
    if shape in _OFFSETS:
        return _OFFSETS[shape][:n]
    return [(-i, 0) if shape == 'column' else (0, -i) for i in range(n)]


def named_patterns(
    steps: Steps, locations: Sequence[TableObject], side: Side | None
) -> Iterator[tuple[Place, ...]]:
    """Yield the sets of named locations that form a pattern."""
    cells = [cell for cell in map(cell_of, locations) if on_side(cell, side)]
    straight = any(len({step[axis] for step in steps}) == 1 for axis in range(2))
    for origin in cells:
        for pitch in _pitches(origin, cells):
            if pitch > (MAX_ROW_PITCH_M if straight else MAX_PITCH_M):
                continue
            found = [_cell_at(cells, origin, step, steps[0], pitch) for step in steps]
            whole = tuple(cell for cell in found if cell is not None)
            if len(whole) == len(steps):
                yield whole


def _pitches(origin: Place, cells: Sequence[Place]) -> list[float]:
    found: list[float] = []
    for cell in cells:
        dx, dy = abs(cell.x - origin.x), abs(cell.y - origin.y)
        pitch = max(dx, dy)
        aligned = min(dx, dy) < GRID_M and pitch >= MIN_PITCH_M
        if aligned and all(abs(pitch - other) > GRID_M for other in found):
            found.append(pitch)
    return sorted(found)


def _cell_at(
    cells: Sequence[Place],
    origin: Place,
    step: tuple[int, int],
    first: tuple[int, int],
    pitch: float,
) -> Place | None:
    x, y = origin.x + (step[0] - first[0]) * pitch, origin.y + (step[1] - first[1]) * pitch
    return next((c for c in cells if max(abs(c.x - x), abs(c.y - y)) < GRID_M), None)


def pose_patterns(
    steps: Steps, side: Side | None, pitch: float = POSE_PITCH_M
) -> Iterator[tuple[Place, ...]]:
    """Yield patterns of poses, those in the middle of the table first."""
    signs = {'left': (1,), 'right': (-1,), None: (-1, 1)}[side]
    rows, columns = zip(*steps, strict=True)
    middle = (max(rows) + min(rows)) / 2, (max(columns) + min(columns)) / 2
    for y, x, sign in itertools.product(POSES_Y_M, POSES_X_M, signs):
        cells = tuple(
            pose_cell(x + (i - middle[0]) * pitch, sign * y + (j - middle[1]) * pitch)
            for i, j in steps
        )
        if all(on_side(cell, side) and within_range(cell) for cell in cells):
            yield cells


def patterns_through(
    standing: Sequence[Place], steps: Steps, side: Side | None
) -> Iterator[tuple[Place, ...]]:
    """Yield the patterns of poses of which one of these places is a part."""
    for origin in standing:
        for pitch in (*_pitches(origin, standing), POSE_PITCH_M, TIGHT_PITCH_M):
            for here in steps if pitch <= MAX_PITCH_M else ():
                cells = tuple(
                    pose_cell(origin.x + (i - here[0]) * pitch, origin.y + (j - here[1]) * pitch)
                    for i, j in steps
                )
                if all(on_side(cell, side) and within_range(cell) for cell in cells):
                    yield cells


def color_rows(
    n: int, begun: Sequence[TableObject], locations: Sequence[TableObject], side: Side | None
) -> Iterator[tuple[tuple[Place, ...], bool]]:
    """
    Yield rows of places without holes, from left to right, and whether they have names.

    Args:
        n: How many objects are to stand there.
        begun: Those of them that the robot has placed; rows of poses may go on from them.
        locations: The named places.
        side: Only there.
    """
    named = [cell_of(location) for location in locations]
    lines: list[tuple[list[Place], bool]] = []
    for first in named:
        line = [cell for cell in named if abs(cell.x - first.x) < GRID_M]
        lines.append((sorted(line, key=lambda cell: -cell.y), True))
    starts = [(item.at[0], item.at[1]) for item in begun if item.at]
    starts += [(x, y) for x in POSES_X_M for y in (0.0, POSE_PITCH_M / 2)]
    for pitch, (x, y) in itertools.product((POSE_PITCH_M, TIGHT_PITCH_M), starts):
        slots = [pose_cell(x, y - i * pitch) for i in range(-9, 10)]
        lines.append(([cell for cell in slots if within_range(cell)], False))
    for line, has_names in lines:
        usable = [cell for cell in line if on_side(cell, side)]
        for start in range(len(usable) - n + 1):
            cells = tuple(usable[start : start + n])
            gaps = [left.y - right.y for left, right in itertools.pairwise(cells)]
            if all(MIN_PITCH_M <= gap <= MAX_PITCH_M for gap in gaps):
                yield cells, has_names
