"""
Which cubes lie where the cells of a pattern are, and how well: least-squares template fits.

Points are complex numbers: 1 is away from the robot, 1j to its left [m]. Cells are complex numbers
too, in steps of the pattern; a fit puts cell t at `origin + step * t`.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bbllm.bench.suites.parts import at_most

TURN_SLACK_DEG = 20.0
"""How much further than allowed a pattern may be turned and still be recognised [deg]; slack of
the search for fits, which are then measured against the goal, and no tolerance of a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFit:
    """A pattern laid over some points."""

    placed: Mapping[complex, str]
    """Name of the point on each cell that has one."""
    at: Mapping[complex, complex]
    """Where that point is [m]."""
    origin: complex
    """Place of cell 0 [m]."""
    step: complex
    """From a cell to the next one: its size is the pitch [m], its angle the turn."""

    @property
    def pitch_m(self) -> float:
        return abs(self.step)

    @property
    def turn_deg(self) -> float:
        return math.degrees(cmath.phase(self.step))

    @property
    def offsets_m(self) -> dict[complex, float]:
        """Distance of each point from its place [m]."""
        return {cell: abs(at - self.origin - self.step * cell) for cell, at in self.at.items()}

    @property
    def residual_m(self) -> float:
        """Largest distance of a point from its place [m]."""
        return max(self.offsets_m.values())

    def filled(self, cells: Sequence[complex], within_m: float) -> int:
        """Count the cells whose point is near enough to its place."""
        offsets = self.offsets_m
        return sum(at_most(offsets[cell], within_m) for cell in cells if cell in offsets)


def fit_pattern(placed: Mapping[complex, str], points: Mapping[str, complex]) -> PatternFit:
    """Fit origin and step to two or more points on given cells, by least squares."""
    at = {cell: points[name] for cell, name in placed.items()}
    mean_cell, mean_point = sum(at) / len(at), sum(at.values()) / len(at)
    top = sum((cell - mean_cell).conjugate() * (point - mean_point) for cell, point in at.items())
    step = top / sum(abs(cell - mean_cell) ** 2 for cell in at)
    return PatternFit(placed=placed, at=at, origin=mean_point - step * mean_cell, step=step)


def partial_fits(
    cells: Sequence[complex],
    points: Mapping[str, complex],
    *,
    pitch_m: tuple[float, float],
    turn_deg: float,
    residual_m: float,
) -> Iterator[PatternFit]:
    """
    Yield the fits of a pattern to any two or more points, each set of points once.

    Two points on two cells propose a fit; the nearest points to the other cells join it.
    """
    seen: set[tuple[tuple[complex, str], ...]] = set()
    for origin, step in _proposals(cells, points, pitch_m, turn_deg, residual_m):
        placed = nearest(cells, points, origin, step, max(abs(step) / 2, 2 * residual_m))
        key = tuple(placed.items())
        if len(placed) > 1 and key not in seen:
            seen.add(key)
            yield fit_pattern(placed, points)


def _proposals(
    cells: Sequence[complex],
    points: Mapping[str, complex],
    pitch_m: tuple[float, float],
    turn_deg: float,
    residual_m: float,
) -> Iterator[tuple[complex, complex]]:
    """Yield origin and step that two points on two cells would have, if about as allowed."""
    least, most = pitch_m[0] - 2 * residual_m, pitch_m[1] + 2 * residual_m
    widest = math.radians(turn_deg + TURN_SLACK_DEG)
    for (s, t), (a, b) in itertools.product(
        itertools.permutations(cells, 2), itertools.combinations(points.values(), 2)
    ):
        step = (b - a) / (t - s)
        if least <= abs(step) <= most and abs(cmath.phase(step)) <= widest:
            yield a - step * s, step


def nearest(
    cells: Sequence[complex],
    points: Mapping[str, complex],
    origin: complex,
    step: complex,
    within_m: float,
) -> dict[complex, str]:
    """Return the point nearest to each cell, where one is near enough; none is used twice."""
    placed: dict[complex, str] = {}
    for cell in cells:
        place = origin + step * cell
        free = [name for name in points if name not in placed.values()]
        name = min(free, key=lambda name: abs(points[name] - place), default=None)
        if name is not None and abs(points[name] - place) <= within_m:
            placed[cell] = name
    return placed
