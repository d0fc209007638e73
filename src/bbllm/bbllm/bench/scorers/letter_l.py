"""
Cubes as a capital L, seen from the robot: an upright bar away from it, and a foot to its right.

The corner has as many cubes before it and to its right as the goal says, or those of the smallest
letter. Cubes of the letter are within reach. A cube that is not of the letter must be further
from it than a pitch and the tolerance of a place: nearer, it would fill a place next to the letter
and make it another sign, such as an inverted T.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from bbllm.bench.scorers.pattern_fit import PatternFit, fit_pattern, nearest, partial_fits
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import LetterL
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import count_of, listed
from bbllm.core.types import Kind

UP, RIGHT = 1 + 0j, -1j


def is_letter(goal: LetterL, up: int, right: int) -> bool:
    """Tell whether so many cubes before the corner and right of it are an L."""
    return min(up, right) >= goal.least_bar or (up, right) == goal.smallest


def parts_of(goal: LetterL, table: Table) -> list[Part]:
    """Lay templates of the letter over the cubes, and judge the one that fits best."""
    points = letter_cubes(table)
    best = min(
        (
            _Reading(goal, table, cells, fit)
            for cells in _templates(goal)
            for fit in _fits(goal, cells, points)
        ),
        key=lambda reading: reading.rank,
        default=None,
    )
    none = f'of {count_of(len(points), "standing cube")} no two lie as in an L.'
    faults = [none] * len(_texts(goal)) if best is None else best.faults
    return [Part(text, fault) for text, fault in zip(_texts(goal), faults)]


def letter_cubes(table: Table) -> dict[str, complex]:
    """Return where the cubes are that may be of the letter."""
    return {name: table.point(name) for name in table.reachable(Kind.CUBE) if table.stands(name)}


def _texts(goal: LetterL) -> list[str]:
    places = range(1, goal.least_cubes + 1)
    return [
        *(f'place {k} of {goal.least_cubes} filled' for k in places),
        'its cubes at one pitch',
        'upright and at a right angle',
        'no other cube beside it',
    ]


def _templates(goal: LetterL) -> Iterator[tuple[complex, ...]]:
    """Yield the cells of every L of as many cubes as it needs: corner, upright, foot."""
    for up in range(1, goal.least_cubes):
        right = goal.least_cubes - 1 - up
        if is_letter(goal, up, right):
            yield _cells(up, right)


def _cells(up: int, right: int) -> tuple[complex, ...]:
    return (0j, *(UP * k for k in range(1, up + 1)), *(RIGHT * k for k in range(1, right + 1)))


def _fits(
    goal: LetterL, cells: tuple[complex, ...], points: Mapping[str, complex]
) -> Iterator[PatternFit]:
    least, most = (edges * goal.edge_m for edges in goal.pitch_edges)
    fits = partial_fits(
        cells,
        points,
        pitch_m=(least, most),
        turn_deg=goal.turn_deg,
        residual_m=goal.residual_edges * goal.edge_m,
    )
    for fit in fits:
        yield fit
        if len(fit.placed) == len(cells):
            yield from _grown(fit, points)


def _grown(fit: PatternFit, points: Mapping[str, complex]) -> Iterator[PatternFit]:
    """Yield the letter with further cubes at the ends of its bars, as many as may belong to it."""
    more = [list(_beyond(fit, points, way)) for way in (UP, RIGHT)]
    for up, right in itertools.product(*(range(len(cells) + 1) for cells in more)):
        placed = {**fit.placed, **dict(more[0][:up]), **dict(more[1][:right])}
        if up + right and len(set(placed.values())) == len(placed):
            yield fit_pattern(placed, points)


def _beyond(
    fit: PatternFit, points: Mapping[str, complex], way: complex
) -> Iterator[tuple[complex, str]]:
    """Yield the cells beyond the end of a bar that have a cube near them, without gaps."""
    free = {name: at for name, at in points.items() if name not in fit.placed.values()}
    for k in itertools.count(1):
        if way * k in fit.placed:
            continue
        # Half a pitch is slack of this search: the fit that comes of it is measured afterwards.
        found = nearest([way * k], free, fit.origin, fit.step, fit.pitch_m / 2)
        if not found:
            return
        yield way * k, found[way * k]
        del free[found[way * k]]


class _Reading:
    """One way to see a letter in the cubes, with what is wrong with it."""

    def __init__(
        self, goal: LetterL, table: Table, cells: Sequence[complex], fit: PatternFit
    ) -> None:
        filled = fit.filled(cells, goal.residual_edges * goal.edge_m)
        few = (
            f'{filled} of {goal.least_cubes} places of the best L are filled, around '
            f'{listed([*fit.placed.values()])}.'
        )
        general = [few, few, few]
        if filled >= goal.least_cubes - 1:  # fewer make no letter that could be judged
            general = [_uneven(goal, fit), _askew(goal, fit), _beside(goal, table, fit)]
        places = [few if k > filled else '' for k in range(1, goal.least_cubes + 1)]
        self.faults = [*places, *general]
        self.rank = (sum(map(bool, self.faults)), fit.residual_m)


def _uneven(goal: LetterL, fit: PatternFit) -> str:
    least, most = (edges * goal.edge_m for edges in goal.pitch_edges)
    if not (at_least(fit.pitch_m, least) and at_most(fit.pitch_m, most)):
        return f'its pitch is {cm(fit.pitch_m)}, not between {cm(least)} and {cm(most)}.'
    offsets = fit.offsets_m
    worst = max(offsets, key=offsets.__getitem__)
    if not at_most(offsets[worst], goal.residual_edges * goal.edge_m):
        return f'{fit.placed[worst]} is {cm(offsets[worst])} from its place.'
    return ''


def _askew(goal: LetterL, fit: PatternFit) -> str:
    if not at_most(abs(fit.turn_deg), goal.turn_deg):
        return f'the L is turned by {fit.turn_deg:.0f} degrees.'
    up, right = (
        {cell: name for cell, name in fit.placed.items() if abs((cell / way).imag) < 0.5}
        for way in (UP, RIGHT)
    )
    if min(len(up), len(right)) < 2:
        return 'one of its bars is a single cube.'
    points = {name: fit.at[cell] for cell, name in fit.placed.items()}
    steps = (fit_pattern(bar, points).step for bar in (up, right))
    off = math.degrees(cmath.phase(next(steps) * next(steps).conjugate()))
    return '' if at_most(abs(off), goal.turn_deg) else f'its corner has {90 + off:.0f} degrees.'


def _beside(goal: LetterL, table: Table, fit: PatternFit) -> str:
    up, right = (sum((cell / way).real > 0.5 for cell in fit.placed) for way in (UP, RIGHT))
    if len(fit.placed) > goal.least_cubes and not is_letter(goal, up, right):
        return f'{count_of(up, "cube")} up and {right} to the right are no L of this size.'
    for name in table.cubes_but(list(fit.placed.values())):
        way = min(abs(table.point(name) - at) for at in fit.at.values())
        free = fit.pitch_m + goal.residual_edges * goal.edge_m
        if way < free:
            return f'{name} is {cm(way)} from the L; {cm(free)} around it are to stay free.'
    return ''


def second_look(goal: LetterL, table: Table) -> Finding:
    """Count cubes along the grid lines ahead and right of each cube, and compare them in pairs."""
    points = letter_cubes(table)
    findings = [
        _compared(goal, table, points, corner, up, right)
        for corner in points
        for up, right in _bars(goal, points, corner)
    ]
    # The finding that got furthest says most.
    return max(findings, key=lambda found: found[0], default=(0, NO_CORNER))[1]


NO_CORNER = Finding(False, 'no cube has enough others ahead of it and to its right.')


def _bars(
    goal: LetterL, points: Mapping[str, complex], corner: str
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the rows of cubes ahead of a cube and to its right that make enough for an L."""
    ahead, beside = (_row(goal, points, corner, way) for way in (UP, RIGHT))
    for up, right in itertools.product(range(1, len(ahead) + 1), range(1, len(beside) + 1)):
        if 1 + up + right >= goal.least_cubes and is_letter(goal, up, right):
            yield ahead[:up], beside[:right]


def _row(goal: LetterL, points: Mapping[str, complex], corner: str, way: complex) -> list[str]:
    """Return the cubes in the wedge that a bar can lie in, the nearest first."""
    slope = math.tan(math.radians(goal.turn_deg))
    # Slack of this search: who is in the wedge is measured against the goal afterwards.
    width = 2 * goal.residual_edges * goal.edge_m * (1 + slope)
    rays = {name: (at - points[corner]) / way for name, at in points.items() if name != corner}
    inside = [
        name
        for name, ray in rays.items()
        if ray.real > 0 and abs(ray.imag) <= min(ray.real, width + slope * ray.real)
    ]
    return sorted(inside, key=lambda name: rays[name].real)


def _compared(
    goal: LetterL,
    table: Table,
    points: Mapping[str, complex],
    corner: str,
    up: Sequence[str],
    right: Sequence[str],
) -> tuple[int, Finding]:
    """Compare the cubes of an L two by two; also return how many of the tests it passed."""
    cells = {corner: 0j}
    cells.update({name: UP * k for k, name in enumerate(up, 1)})
    cells.update({name: RIGHT * k for k, name in enumerate(right, 1)})
    pairs = [
        (cells[b] - cells[a], points[b] - points[a]) for a, b in itertools.combinations(cells, 2)
    ]
    pitch = math.sqrt(sum(abs(way) ** 2 for _, way in pairs) / sum(abs(s) ** 2 for s, _ in pairs))
    reasons = (
        _uneven_steps(goal, pitch),
        _misplaced(goal, points, cells, pairs),
        _leaning(goal, pairs),
        _not_square(goal, [points[name] for name in (up[-1], corner, right[-1])]),
        _crowded(goal, table, list(cells), pitch),
    )
    for passed, reason in enumerate(reasons):
        if reason:
            return passed, Finding(False, f'{listed([*cells])}: {reason}')
    return len(reasons), Finding(True)


Pairs = Sequence[tuple[complex, complex]]
"""For each two cubes of a letter: from one to the other in cells, and in metres."""


def _uneven_steps(goal: LetterL, pitch_m: float) -> str:
    edges = pitch_m / goal.edge_m
    if at_least(edges, goal.pitch_edges[0]) and at_most(edges, goal.pitch_edges[1]):
        return ''
    return f'neighbours are {edges:.2f} edges apart on average.'


def _misplaced(
    goal: LetterL, points: Mapping[str, complex], cells: Mapping[str, complex], pairs: Pairs
) -> str:
    """Compare the way from each cube to the others with what it is for one common step."""
    step = sum(span.conjugate() * way for span, way in pairs)
    step /= sum(abs(span) ** 2 for span, _ in pairs)
    for name in cells:
        drift = sum(
            points[name] - points[other] - step * (cells[name] - cells[other]) for other in cells
        )
        off = abs(drift) / len(cells)
        if not at_most(off, goal.residual_edges * goal.edge_m):
            return f'{name} is {cm(off)} from where the others would have it.'
    return ''


def _leaning(goal: LetterL, pairs: Pairs) -> str:
    """Compare the direction between each two cubes with what it should be; far ones count more."""
    leans = [(abs(span) ** 2, cmath.phase(way / span)) for span, way in pairs]
    turn = math.degrees(
        sum(weight * lean for weight, lean in leans) / sum(weight for weight, _ in leans)
    )
    return '' if at_most(abs(turn), goal.turn_deg) else f'they lean by {turn:.0f} degrees.'


def _not_square(goal: LetterL, ends: Sequence[complex]) -> str:
    """Measure the angle at the corner from the ends of the bars, by the dot product."""
    top, corner, tip = ends
    cosine = ((top - corner).conjugate() * (tip - corner)).real
    cosine /= abs(top - corner) * abs(tip - corner)
    angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    off = abs(angle - 90.0)
    return '' if at_most(off, goal.turn_deg) else f'their corner has {angle:.0f} degrees.'


def _crowded(goal: LetterL, table: Table, members: Sequence[str], pitch_m: float) -> str:
    free = pitch_m + goal.residual_edges * goal.edge_m
    for name in table.cubes_but(members):
        if min(math.dist(table.xy(name), table.xy(other)) for other in members) < free:
            return f'{name} is nearer than {cm(free)}.'
    return ''
