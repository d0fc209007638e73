"""Five cubes within reach as a plus sign: one in the middle of four on two crossing lines."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bbllm.bench.scorers.pattern_fit import PatternFit, partial_fits
from bbllm.bench.scorers.plus_fit import (
    PlusFit,
    PlusTolerances,
    check_plus,
    plus_faults,
)
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import PlusSign
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import listed
from bbllm.core.types import Kind, Pose
from bbllm.skills.shapes import contains

CELLS = (0j, 1 + 0j, 1j, -1 + 0j, -1j)
TEXTS = (
    *(f'place {k} of {len(CELLS)} filled' for k in range(1, len(CELLS) + 1)),
    'its arms as long as asked',
    'not turned',
    'no other cube in it or beside it',
)


def parts_of(goal: PlusSign, table: Table) -> list[Part]:
    """Fit a whole plus sign by least squares; where none fits, the best part of one counts."""
    poses = {name: table.now[name].pose for name in table.every(Kind.CUBE) if name in table.now}
    points = plus_cubes(table)
    tolerances = PlusTolerances(
        residual_edges=goal.residual_edges,
        pitch_edges=goal.pitch_edges,
        turn_deg=goal.turn_deg,
        level_edges=goal.level_edges,
    )
    fit = check_plus(poses, goal.edge_m, tolerances, members=list(points))
    if fit.passed:
        return [Part(text) for text in TEXTS]
    if at_most(fit.residual_m, goal.residual_edges * goal.edge_m):
        _, *general = plus_faults(fit, poses, goal.edge_m, tolerances)
        return [Part(text, fault) for text, fault in zip(TEXTS, [''] * len(CELLS) + general)]
    return _unfinished(goal, points, poses, tolerances, fit.reason)


def plus_cubes(table: Table) -> dict[str, complex]:
    """Return where the cubes are that may be of the plus sign."""
    return {name: table.point(name) for name in table.reachable(Kind.CUBE) if table.stands(name)}


def _unfinished(
    goal: PlusSign,
    points: Mapping[str, complex],
    poses: Mapping[str, Pose],
    tolerances: PlusTolerances,
    reason: str,
) -> list[Part]:
    """Count the places of the fullest part of a plus sign; at least one of the five is empty."""
    within = goal.residual_edges * goal.edge_m
    fits = partial_fits(
        CELLS,
        points,
        pitch_m=(goal.pitch_edges[0] * goal.edge_m, goal.pitch_edges[1] * goal.edge_m),
        turn_deg=goal.turn_deg,
        residual_m=within,
    )
    best = max(fits, key=lambda fit: (fit.filled(CELLS, within), -fit.residual_m), default=None)
    filled = 0 if best is None else min(best.filled(CELLS, within), len(CELLS) - 1)
    general = [reason] * 3
    if best is not None and filled == len(CELLS) - 1:  # fewer make no sign that could be judged
        _, *general = plus_faults(_as_plus(best), poses, goal.edge_m, tolerances)
    places = ['' if k <= filled else reason for k in range(1, len(CELLS) + 1)]
    return [Part(text, fault) for text, fault in zip(TEXTS, [*places, *general])]


def _as_plus(fit: PatternFit) -> PlusFit:
    return PlusFit(
        passed=False,
        residual_m=fit.residual_m,
        pitch_m=fit.pitch_m,
        turn_deg=fit.turn_deg,
        middle=(fit.origin.real, fit.origin.imag),
        cubes=tuple(fit.placed.values()),
    )


@dataclass(frozen=True, slots=True)
class _Diagonal:
    """Two cubes that may be opposite arms."""

    ends: tuple[str, str]
    middle: complex
    half: complex
    """From the middle to the first end [m]."""


def second_look(goal: PlusSign, table: Table) -> Finding:
    """Look for two pairs of cubes that halve each other at right angles in a fifth cube."""
    points = plus_cubes(table)
    findings = [
        _crossed(goal, table, centre, one, two)
        for one, two in _crossings(goal, points)
        for centre, at in points.items()
        if centre not in (*one.ends, *two.ends)
        and abs(at - (one.middle + two.middle) / 2) <= 3 * goal.residual_edges * goal.edge_m
    ]
    # The finding that got furthest says most.
    none = Finding(False, 'no two pairs of cubes cross in a fifth cube midway between them.')
    return max(findings, key=lambda found: found[0], default=(0, none))[1]


def _crossings(
    goal: PlusSign, points: Mapping[str, complex]
) -> Iterator[tuple[_Diagonal, _Diagonal]]:
    """Yield pairs of diagonals without a common end whose middles are near each other."""
    # Three times the tolerance is slack of this search: `_crossed` measures what it finds.
    slack = 3 * goal.residual_edges * goal.edge_m
    longest = goal.pitch_edges[1] * goal.edge_m + slack
    diagonals = [
        _Diagonal((a, b), (points[a] + points[b]) / 2, (points[a] - points[b]) / 2)
        for a, b in itertools.combinations(points, 2)
        if abs(points[a] - points[b]) <= 2 * longest
    ]
    for one, two in itertools.combinations(diagonals, 2):
        if abs(one.middle - two.middle) <= slack and not set(one.ends) & set(two.ends):
            yield one, two


def _crossed(
    goal: PlusSign, table: Table, centre: str, one: _Diagonal, two: _Diagonal
) -> tuple[int, Finding]:
    """Judge two diagonals and a centre; also return how many of the tests they passed."""
    first = one.half
    quarter = first * 1j  # the second diagonal should be the first one turned by a right angle
    second = min(two.half, -two.half, key=lambda half: abs(half - quarter))
    names = listed([centre, *one.ends, *two.ends])
    off = _unevenness(table.point(centre), one.middle, two.middle, (second - quarter) / 2)
    if not at_most(off, goal.residual_edges * goal.edge_m):
        return 0, Finding(False, f'{names} are up to {cm(off)} off two crossing diagonals.')
    arm = (abs(first) + abs(second)) / 2 / goal.edge_m
    if not (at_least(arm, goal.pitch_edges[0]) and at_most(arm, goal.pitch_edges[1])):
        return 1, Finding(False, f'half the diagonals of {names} is {arm:.2f} edges.')
    lean = _lean_deg(first, second)
    if not at_most(abs(lean), goal.turn_deg):
        return 2, Finding(False, f'the diagonals of {names} lean by {lean:.0f} degrees.')
    members = (centre, *one.ends, *two.ends)
    heights = [table.now[name].pose.position_m[2] for name in members]
    rise = max(max(heights) - heights[0], heights[0] - min(heights))
    if not at_most(rise, goal.level_edges * goal.edge_m):
        return 3, Finding(
            False, f'the arms of {names} are {cm(rise)} off the level of its centre.'
        )
    return 4, _surrounded(goal, table, members, arm, lean)


def _surrounded(
    goal: PlusSign, table: Table, members: Sequence[str], arm_edges: float, lean_deg: float
) -> Finding:
    """Look for other cubes in the square of a sign, and in a disc around each cube of it."""
    middle = sum(table.point(name) for name in members) / len(members)
    square = _square(middle, (arm_edges + 0.5) * goal.edge_m, lean_deg)
    free = (arm_edges + goal.residual_edges) * goal.edge_m
    for name in table.cubes_but(members):
        if contains(square, table.xy(name)):
            return Finding(False, f'{name} is in the square of {listed(members)}.')
        crowded = [one for one in members if abs(table.point(one) - table.point(name)) < free]
        if crowded:
            return Finding(False, f'{name} is nearer than {cm(free)} to {listed(crowded)}.')
    return Finding(True)


def _square(middle: complex, half_m: float, lean_deg: float) -> list[tuple[float, float]]:
    """Return the corners of the square that the arms reach into, counter-clockwise [m]."""
    corners = (
        middle + cmath.rect(half_m * math.sqrt(2), math.radians(lean_deg + 45 + 90 * quarter))
        for quarter in range(4)
    )
    return [(corner.real, corner.imag) for corner in corners]


def _unevenness(centre: complex, one: complex, two: complex, skew: complex) -> float:
    """
    Return how far the worst of five cubes is from an even cross [m].

    The ends of each diagonal share the error of its middle; what keeps the second from being the
    first turned by a right angle is split evenly among the four ends, along both diagonals.
    """
    middle = (2 * one + 2 * two + centre) / 5
    ends = [one - middle + sign * 1j * skew for sign in (1, -1)]
    ends += [two - middle + sign * skew for sign in (1, -1)]
    return max(abs(error) for error in (centre - middle, *ends))


def _lean_deg(first: complex, second: complex) -> float:
    """Return the mean turn of two diagonals against x and y, -45 to 45 [deg]."""
    # Four times an angle forgets which axis it was taken from.
    both = cmath.rect(1, 4 * cmath.phase(first)) + cmath.rect(1, 4 * cmath.phase(second))
    return math.degrees(cmath.phase(both)) / 4
