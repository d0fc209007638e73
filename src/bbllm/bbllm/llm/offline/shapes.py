"""Patterns on the table: sets of places that lie as a plus sign, a row or a triangle do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bbllm.llm.offline.phrases import Side
from bbllm.llm.offline.sight import Thing

NEAR_M = 0.02
"""Closer than this to a place is at it [m]."""
PLACED_M, POSED_M = 0.01, 0.004
"""Closer than this to a location or a pose need not be put there again [m]."""
GRID_M = 0.01
"""How far a place may lie off the grid of a pattern [m]."""
MIN_PITCH_M = 0.055
"""Below this, fingers do not fit between two cubes of 4 cm [m]."""
MAX_PITCH_M, MAX_ROW_PITCH_M = 0.095, 0.15
"""Above this, a pattern or a row falls apart to the eye [m]."""
FREE_M = 0.07
"""How far a free pose is from everything else [m]."""
POSE_PITCH_M = 0.08
"""Pitch of patterns that are laid out without named locations, and of what is beside a thing
[m]."""
TIGHT_PITCH_M = 0.065
"""The same where a table is crowded [m]."""
WORK_MIDDLE_M = (0.48, 0.0)
"""Where this model thinks that the work space of an arm has its middle [m]."""
POSES_X_M = (0.475, 0.50, 0.45, 0.525, 0.425, 0.55, 0.40, 0.575, 0.375, 0.35)
POSES_Y_M = tuple(0.03 * i for i in range(13))
POSE_RANGE_M = (0.30, 0.65)
"""How near to and far from the arm's axis a pose of this model's own is [m]."""
SIDE_M = 0.03
"""How far from the middle line a place must be to be on a side [m]."""


@dataclass(frozen=True)
class Cell:
    """One place on the table."""

    key: str
    """A location's name, or `x y` where it has none."""
    x: float
    y: float

    def gap(self, other: Cell) -> float:
        """Return the distance to another place [m]."""
        return math.hypot(self.x - other.x, self.y - other.y)

    def holds(self, thing: Thing) -> bool:
        """Tell whether a thing stands there as well as if the hand had put it there."""
        return self.near(thing, POSED_M if ' ' in self.key else PLACED_M)

    def near(self, thing: Thing, within: float = NEAR_M) -> bool:
        """Tell whether a thing stands there, or a location lies there."""
        return thing.at is not None and (
            (thing.at[0] - self.x) ** 2 + (thing.at[1] - self.y) ** 2 < within**2
        )


@dataclass(frozen=True)
class Box:
    """The rectangle around a pattern, or around one place."""

    x: tuple[float, float]
    y: tuple[float, float]
    room: float
    """How far other things are to be from it [m]."""

    @classmethod
    def around(cls, cells: Iterable[Cell], room: float = 0.09) -> Box:
        """Return the least one that holds all of these places."""
        points = [(cell.x, cell.y) for cell in cells]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        return cls((min(xs), max(xs)), (min(ys), max(ys)), room)

    def gap(self, x: float, y: float) -> float:
        """Return how far a point is from it [m]."""
        dx = max(self.x[0] - x, x - self.x[1], 0.0)
        return math.hypot(dx, max(self.y[0] - y, y - self.y[1], 0.0))

    @property
    def off_middle(self) -> float:
        """How far its middle is from that of the work space [m]."""
        x, y = sum(self.x) / 2, sum(self.y) / 2
        return math.hypot(x - WORK_MIDDLE_M[0], y - WORK_MIDDLE_M[1])


def offsets(shape: str, n: int) -> list[tuple[int, int]]:
    """
    Return a pattern as grid cells (forward, left), in the order in which they are filled.

    Args:
        shape: `plus`, `triangle`, `square`, `L`, `row` or `column`.
        n: How many things there are, for the patterns that may have any number.
    """
    if shape == 'plus':  # the middle first: later there would be neighbours on all sides
        return [(0, 0), (1, 0), (0, 1), (0, -1), (-1, 0)]
    if shape == 'triangle':
        return [(1, 0), (0, 1), (0, -1)]
    if shape == 'square':
        return [(1, 1), (1, 0), (0, 1), (0, 0)]
    if shape == 'L':  # three up, and the foot to the right
        return [(2, 0), (1, 0), (0, 0), (0, -1), (0, -2)][:n]
    if shape == 'column':
        return [(-i, 0) for i in range(n)]
    return [(0, -i) for i in range(n)]


SIZES = {'plus': (5,), 'triangle': (3,), 'square': (4,), 'L': (5, 4)}
"""How many things a shape takes, best first; rows and columns take what there is."""


def named_patterns(
    steps: Sequence[tuple[int, int]], locations: Sequence[Thing], side: Side | None
) -> Iterator[tuple[Cell, ...]]:
    """Yield the sets of named locations that form a pattern."""
    cells = [Cell(item.name, item.at[0], item.at[1]) for item in locations if item.at]
    cells = [cell for cell in cells if on_side(cell, side)]
    for origin in cells:
        for pitch in _pitches(origin, cells):
            if pitch > (MAX_ROW_PITCH_M if _straight(steps) else MAX_PITCH_M):
                continue
            found = [_cell_at(cells, origin, step, steps[0], pitch) for step in steps]
            whole = tuple(cell for cell in found if cell is not None)
            if len(whole) == len(steps):
                yield whole


def _straight(steps: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a pattern is a row or a column."""
    return any(len({step[axis] for step in steps}) == 1 for axis in range(2))


def on_side(cell: Cell, side: Side | None) -> bool:
    """Tell whether a place is on the side that is asked for, if any is."""
    return side is None or (cell.y > SIDE_M if side == 'left' else cell.y < -SIDE_M)


def _pitches(origin: Cell, cells: Sequence[Cell]) -> list[float]:
    found: list[float] = []
    for cell in cells:
        dx, dy = abs(cell.x - origin.x), abs(cell.y - origin.y)
        pitch = max(dx, dy)
        aligned = min(dx, dy) < GRID_M and pitch >= MIN_PITCH_M
        if aligned and all(abs(pitch - other) > GRID_M for other in found):
            found.append(pitch)
    return sorted(found)


def _cell_at(
    cells: Sequence[Cell],
    origin: Cell,
    step: tuple[int, int],
    first: tuple[int, int],
    pitch: float,
) -> Cell | None:
    x = origin.x + (step[0] - first[0]) * pitch
    y = origin.y + (step[1] - first[1]) * pitch
    near = [cell for cell in cells if max(abs(cell.x - x), abs(cell.y - y)) < GRID_M]
    return near[0] if near else None


def pose_patterns(
    steps: Sequence[tuple[int, int]], side: Side | None, pitch: float = POSE_PITCH_M
) -> Iterator[tuple[Cell, ...]]:
    """Yield patterns of poses, those in the middle of the table first."""
    signs = {'left': (1,), 'right': (-1,), None: (-1, 1)}[side]
    rows = [step[0] for step in steps]
    columns = [step[1] for step in steps]
    middle_x, middle_y = (max(rows) + min(rows)) / 2, (max(columns) + min(columns)) / 2
    for y, x, sign in itertools.product(POSES_Y_M, POSES_X_M, signs):
        cells = tuple(
            pose_cell(
                x + (step[0] - middle_x) * pitch,
                sign * y + (step[1] - middle_y) * pitch,
            )
            for step in steps
        )
        if all(on_side(cell, side) and within_range(cell) for cell in cells):
            yield cells


def patterns_through(
    standing: Sequence[Cell], steps: Sequence[tuple[int, int]], side: Side | None
) -> Iterator[tuple[Cell, ...]]:
    """Yield the patterns of poses of which one of these places is a part."""
    for origin in standing:
        for pitch in (*_pitches(origin, standing), POSE_PITCH_M, TIGHT_PITCH_M):
            for here in steps if pitch <= MAX_PITCH_M else ():
                moves = ((step[0] - here[0], step[1] - here[1]) for step in steps)
                cells = [pose_cell(origin.x + i * pitch, origin.y + j * pitch) for i, j in moves]
                if all(on_side(cell, side) and within_range(cell) for cell in cells):
                    yield tuple(cells)


def within_range(cell: Cell) -> bool:
    """Tell whether this model would choose a pose: not too near, not too far."""
    return POSE_RANGE_M[0] <= math.hypot(cell.x, cell.y) <= POSE_RANGE_M[1]


def around(thing: Thing) -> list[Cell]:
    """Return poses beside a thing."""
    if thing.at is None:
        return []
    x, y, _ = thing.at
    beside = ((0.0, -1), (0.0, 1), (-1, 0.0), (1, 0.0))
    return [pose_cell(x + dx * POSE_PITCH_M, y + dy * POSE_PITCH_M) for dx, dy in beside]


def pose_cell(x: float, y: float) -> Cell:
    """Return a place without a name."""
    x, y = round(x, 3) + 0.0, round(y, 3) + 0.0
    return Cell(f'{x:.3f} {y:.3f}', x, y)
