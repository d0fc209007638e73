"""
Goals of cubes on the cells of a grid: a capital L and a plus sign.

A pattern is data: its cells, which are laid over the cubes by least squares. Points are complex
numbers: 1 is away from the robot, 1j to its left [m]. Cells are complex numbers too, in steps of
the pattern; a fit puts cell t at `origin + step * t`.

The letter is as the robot sees it: an upright bar away from it, and a foot to its right, each with
a pitch of its own. Cubes of a pattern are within reach. A cube that is not of it must be further
from it than a pitch and the tolerance of a place: nearer, it would fill a place next to the
pattern and make it another sign, such as an inverted T or a Latin cross.
"""

import cmath
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.core.text import count_of, listed
from bbllm.core.types import Pose
from bbllm.worlds.scene.table_tolerances import DEFAULTS
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.goals import GridGoal, LetterL, PlusSign
from bbllm_bench.suites.scores import Condition, at_most, between, cm

UP, RIGHT = 1 + 0j, -1j
PLUS_CELLS = (0j, 1 + 0j, 1j, -1 + 0j, -1j)
TURN_SLACK_DEG = 20.0
"""How much further than allowed a pattern may be turned and still be recognised [deg]; slack of
the search for fits, which are then measured against the goal, and no tolerance of a verdict."""
WIDEST_TURN_DEG = 45.0
"""A plus sign that is turned further is one of other arms that is turned less [deg]."""
Cells = tuple[complex, ...]
Points = Mapping[str, complex]


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
    bars: tuple['PatternFit', ...] = ()
    """Fits of the bars of a letter, each with its own pitch; empty while one of them lacks cubes.
    They replace the common fit wherever something is measured."""

    @property
    def names(self) -> list[str]:
        return [*self.placed.values()]

    @property
    def pitch_m(self) -> float:
        return abs(self.step)

    @property
    def turn_deg(self) -> float:
        return math.degrees(cmath.phase(self.step))

    @property
    def offsets_m(self) -> dict[complex, float]:
        """Distance of each point from its place; of a corner, from the farther one [m]."""
        if self.bars:
            offsets = [bar.offsets_m for bar in self.bars]
            return {cell: max(each.get(cell, 0.0) for each in offsets) for cell in self.at}
        return {cell: abs(at - self.origin - self.step * cell) for cell, at in self.at.items()}

    @property
    def residual_m(self) -> float:
        """Largest distance of a point from its place [m]."""
        return max(self.offsets_m.values())

    @property
    def worst(self) -> str:
        cell, off_m = max(self.offsets_m.items(), key=lambda item: item[1])
        return f'{self.placed[cell]} is {cm(off_m)} from its place'


Reading = tuple[PatternFit, Sequence[str]]
"""One way to see a pattern in the cubes, with the faults of its places and in general."""


def _rank(reading: Reading) -> tuple[int, int, float]:
    fit, faults = reading
    return sum(map(bool, faults)), -len(fit.placed), fit.residual_m


def fit_pattern(placed: Mapping[complex, str], points: Points) -> PatternFit:
    """Fit origin and step to two or more points on given cells, by least squares."""
    at = {cell: points[name] for cell, name in placed.items()}
    mean_cell, mean_point = sum(at) / len(at), sum(at.values()) / len(at)
    top = sum((cell - mean_cell).conjugate() * (point - mean_point) for cell, point in at.items())
    step = top / sum(abs(cell - mean_cell) ** 2 for cell in at)
    return PatternFit(placed=placed, at=at, origin=mean_point - step * mean_cell, step=step)


def _partial_fits(
    goal: GridGoal, cells: Cells, points: Points, turn_deg: float
) -> Iterator[PatternFit]:
    """
    Yield the fits of a pattern to any two or more points, each set of points once.

    Two points on two cells propose a fit; the nearest points to the other cells join it.
    """
    slack_m = 2 * goal.residual_m
    least, most = goal.pitch_m
    seen: set[tuple[tuple[complex, str], ...]] = set()
    for (s, t), (a, b) in itertools.product(
        itertools.permutations(cells, 2), itertools.combinations(points.values(), 2)
    ):
        step = (b - a) / (t - s)
        likely = least - slack_m <= abs(step) <= most + slack_m
        if likely and abs(cmath.phase(step)) <= math.radians(turn_deg):
            places = {cell: a + step * (cell - s) for cell in cells}
            placed = _nearest(places, points, max(abs(step) / 2, slack_m))
            key = tuple(placed.items())
            if len(placed) > 1 and key not in seen:
                seen.add(key)
                yield fit_pattern(placed, points)


def _nearest(
    places: Mapping[complex, complex], points: Points, within_m: float
) -> dict[complex, str]:
    """Return the point nearest to each cell's place, if near enough; none is used twice."""
    placed: dict[complex, str] = {}
    for cell, place in places.items():
        free = [name for name in points if name not in placed.values()]
        name = min(free, key=lambda name: abs(points[name] - place), default=None)
        if name is not None and abs(points[name] - place) <= within_m:
            placed[cell] = name
    return placed


def _read(goal: GridGoal, noun: str, n: int, fit: PatternFit, cells: Cells, general: Iterable[str],
          wrong: Mapping[complex, str]) -> Reading:  # fmt: skip
    """
    Return a fit with its faults.

    Of the n places of the pattern, those of `cells` count; the cubes on `wrong` ones fill none,
    for the reason that each has. The three general faults are asked for only where they mean
    something.
    """
    good = [c for c, off in fit.offsets_m.items() if at_most(off, goal.residual_m)]
    filled = len({*good}.intersection(cells).difference(wrong))
    few = f'{filled} of {n} places of the best {noun} are filled, around {listed(fit.names)}'
    if not at_most(fit.residual_m, goal.residual_m):
        few += f'; {_allowed(fit.worst, goal.residual_m)}'
    elif wrong:
        few += f'; {next(iter(wrong.values()))}'
    else:
        empty = (fit.origin + fit.step * cell for cell in cells if cell not in fit.placed)
        few += (
            ''.join(f'; no cube counts at x {at.real:.2f}, y {at.imag:.2f}' for at in empty) + '.'
        )
    places = [few if k >= filled else '' for k in range(n)]
    # With more than one place empty there is no shape that could be measured.
    return fit, [*places, *(general if filled >= n - 1 else (few, few, few))]


def _allowed(fault: str, limit_m: float) -> str:
    return f'{fault}; {cm(limit_m)} are allowed.'


def _conditions(
    n: int, texts: Sequence[str], none: str, readings: Iterable[Reading]
) -> list[Condition]:
    texts = [*(f'place {k} of {n} filled' for k in range(1, n + 1)), *texts]
    best = min(readings, key=_rank, default=None)
    return [*map(Condition, texts, [none] * len(texts) if best is None else best[1])]


def _pitch_fault(goal: GridGoal, fit: PatternFit) -> str:
    least, most = goal.pitch_m
    wrong = (
        f'its pitch is {cm(one.pitch_m)}, not between {cm(least)} and {cm(most)}.'
        for one in fit.bars or (fit,)
        if not between(one.pitch_m, goal.pitch_m)
    )
    return next(wrong, '')


def _turn_fault(goal: GridGoal, noun: str, fit: PatternFit) -> str:
    turns = [one.turn_deg for one in fit.bars or (fit,)]
    turn_deg = sum(turns) / len(turns)
    turned = f'the {noun} is turned by {turn_deg:.0f} degrees; {goal.turn_deg:g} are allowed.'
    return '' if at_most(abs(turn_deg), goal.turn_deg) else turned


def _crowd_fault(noun: str, others: Points, members: Iterable[complex], free_m: float) -> str:
    """Return which other cube fills a place next to a pattern, '' if none does."""
    members = [*members]
    for name, point in others.items():
        way = min(abs(point - member) for member in members)
        if way < free_m:
            return f'{name} is {cm(way)} from the {noun}; {cm(free_m)} around it are to stay free.'
    return ''


# --- the letter L -------------------------------------------------------------------------------


def letter_l(goal: LetterL, table: Table) -> list[Condition]:
    """Lay templates of the letter over the cubes, and take the one that fits best."""
    points, cubes = table.standing_cubes(), table.cubes_but(())
    texts = (
        'its pitches in limits',
        'upright and at a right angle',
        'no other cube beside it',
    )
    none = f'of {count_of(len(points), "standing cube")} no two lie as in an L.'
    readings = _letter_readings(goal, points, cubes)
    return _conditions(goal.least_cubes, texts, none, readings)


def _letter_readings(goal: LetterL, points: Points, cubes: Points) -> Iterator[Reading]:
    """Yield all ways to see the letter in some points, among all cubes."""
    for up in range(1, goal.least_cubes - 1):
        cells = _letter_cells(up, goal.least_cubes - 1 - up)
        if _is_letter(goal, up, goal.least_cubes - 1 - up):
            for fit in _letter_fits(goal, cells, points):
                faults = _letter_faults(goal, cubes, fit)
                yield _read(goal, 'L', goal.least_cubes, fit, cells, faults, {})


def _is_letter(goal: LetterL, up: int, right: int) -> bool:
    return up >= goal.least_up and right >= goal.least_right


def _letter_cells(up: int, right: int) -> Cells:
    return (0j, *(UP * k for k in range(1, up + 1)), *(RIGHT * k for k in range(1, right + 1)))


def _letter_fits(goal: LetterL, cells: Cells, points: Points) -> Iterator[PatternFit]:
    """Yield the fits of a letter to some of the points, those with longer bars included."""
    for fit in _partial_fits(goal, cells, points, goal.turn_deg + TURN_SLACK_DEG):
        if len(fit.placed) < len(cells):
            yield _letter_fit(fit.placed, points)
    for placed in _whole_letters(goal, cells, points):
        fit = _letter_fit(placed, points)
        yield fit
        more = [[*_beyond(bar, fit, points, way)] for bar, way in zip(fit.bars, (UP, RIGHT))]
        for up, right in itertools.product(*(range(len(found) + 1) for found in more)):
            longer = {**placed, **dict(more[0][:up]), **dict(more[1][:right])}
            if up + right and len(set(longer.values())) == len(longer):
                yield _letter_fit(longer, points)


def _whole_letters(goal: LetterL, cells: Cells, points: Points) -> Iterator[Mapping[complex, str]]:
    """
    Yield the ways to fill all cells of a letter, each set of points once.

    A corner and a point on each bar propose both pitches; the nearest points to the other cells
    join them.
    """
    least, most = goal.pitch_m
    slack_m, slack = 2 * goal.residual_m, math.radians(goal.turn_deg + TURN_SLACK_DEG)
    seen: set[tuple[tuple[complex, str], ...]] = set()

    def proposed(corner: complex, way: complex) -> list[complex]:
        bar = [cell for cell in cells if (cell / way).real > 0.5]
        steps = [(at - corner) / cell for at in points.values() for cell in bar]
        return [
            step
            for step in steps
            if least - slack_m <= abs(step) <= most + slack_m and abs(cmath.phase(step)) <= slack
        ]

    for corner in points.values():
        for up, right in itertools.product(proposed(corner, UP), proposed(corner, RIGHT)):
            places = {c: corner + (right if abs(c.imag) > 0.5 else up) * c for c in cells}
            placed = _nearest(places, points, max(min(abs(up), abs(right)) / 2, slack_m))
            key = tuple(placed.items())
            if len(placed) == len(cells) and key not in seen:
                seen.add(key)
                yield placed


def _letter_fit(placed: Mapping[complex, str], points: Points) -> PatternFit:
    """Fit a letter: where it has its corner and cubes on both bars, each bar by itself."""
    bars = [
        {cell: name for cell, name in placed.items() if abs((cell / way).imag) < 0.5}
        for way in (UP, RIGHT)
    ]
    whole = 0j in placed and min(map(len, bars)) > 1
    fits = tuple(fit_pattern(bar, points) for bar in bars) if whole else ()
    return replace(fit_pattern(placed, points), bars=fits)


def _beyond(
    bar: PatternFit, fit: PatternFit, points: Points, way: complex
) -> Iterator[tuple[complex, str]]:
    """Yield the cells beyond the end of a bar that have a cube near them, without gaps."""
    free = {name: at for name, at in points.items() if name not in fit.names}
    for cell in (way * k for k in itertools.count(1)):
        if cell in fit.placed:
            continue
        # A pitch is slack of this search: the fit that comes of it is measured afterwards.
        found = _nearest({cell: bar.origin + bar.step * cell}, free, bar.pitch_m)
        if not found:
            return
        yield cell, found[cell]
        del free[found[cell]]
        bar = fit_pattern({**bar.placed, **found}, points)


def _letter_faults(goal: LetterL, cubes: Points, fit: PatternFit) -> Iterator[str]:
    near = at_most(fit.residual_m, goal.residual_m)
    yield _pitch_fault(goal, fit) or ('' if near else _allowed(fit.worst, goal.residual_m))
    yield _turn_fault(goal, 'L', fit) or _bent(goal, fit)
    up, right = (sum((cell / way).real > 0.5 for cell in fit.placed) for way in (UP, RIGHT))
    if len(fit.placed) > goal.least_cubes and not _is_letter(goal, up, right):
        yield f'{count_of(up, "cube")} up and {right} to the right are no L of this size.'
        return
    others = {name: at for name, at in cubes.items() if name not in fit.names}
    free_m = max(one.pitch_m for one in fit.bars or (fit,)) + goal.residual_m
    yield _crowd_fault('L', others, fit.at.values(), free_m)


def _bent(goal: LetterL, fit: PatternFit) -> str:
    if not fit.bars:
        return 'one of its bars, or its corner, has no cube.'
    up, right = fit.bars
    off = math.degrees(cmath.phase(up.step * right.step.conjugate()))
    bent = f'its corner has {90 + off:.0f} degrees, not 90; {goal.turn_deg:g} more or less are'
    return '' if at_most(abs(off), goal.turn_deg) else f'{bent} allowed.'


# --- the plus sign ------------------------------------------------------------------------------


def plus_sign(goal: PlusSign, table: Table) -> list[Condition]:
    """Lay the sign over the cubes, and take the reading that fits best."""
    cubes = {name: table.now[name].pose for name in table.cubes_but(())}
    points = table.standing_cubes()
    texts = ('its arms as long as asked', 'not turned', 'no other cube in it or beside it')
    none = f'of {count_of(len(points), "standing cube")} no two lie as in a plus sign.'
    return _conditions(len(PLUS_CELLS), texts, none, _plus_readings(goal, points, cubes))


def check_plus(cubes: Mapping[str, Pose], edge_m: float) -> tuple[str, PatternFit | None]:
    """Return why cubes are no plus sign, as conditions have it, '' if they are, and the fit."""
    goal = PlusSign(
        kind='plus_sign',
        edge_m=edge_m,
        pitch_edges=(1.0, DEFAULTS.gap),
        residual_edges=DEFAULTS.residual,
        turn_deg=DEFAULTS.turn_deg,
        level_edges=DEFAULTS.residual,
        level_m=DEFAULTS.level_m,
        tilt_deg=18.0,
    )
    points = {name: complex(*pose.position_m[:2]) for name, pose in cubes.items()}
    best = min(_plus_readings(goal, points, cubes), key=_rank, default=None)
    if best is None:
        return 'no two cubes lie as in a plus sign.', None
    return next(filter(None, best[1]), ''), best[0]


def _plus_readings(goal: PlusSign, points: Points, cubes: Mapping[str, Pose]) -> Iterator[Reading]:
    for fit in _partial_fits(goal, PLUS_CELLS, points, WIDEST_TURN_DEG):
        heights = {cell: cubes[name].position_m[2] for cell, name in fit.placed.items()}
        level = heights.get(0j, min(heights.values()))
        rises = {cell: abs(z - level) for cell, z in heights.items()}
        wrong = {
            cell: _allowed(f'{fit.placed[cell]} is {cm(rise)} above or below', goal.rise_m)
            for cell, rise in rises.items()
            if not at_most(rise, goal.rise_m)
        }
        wrong |= _aside(goal, fit)
        general = _plus_faults(goal, cubes, fit)
        yield _read(goal, 'plus sign', len(PLUS_CELLS), fit, PLUS_CELLS, general, wrong)


def _aside(goal: PlusSign, fit: PatternFit) -> dict[complex, str]:
    """
    Return the arms that are beside their line through the middle, and how far.

    The fit alone does not bound them: it follows an arm by 9/20 of its way.
    """
    middle = fit.at.get(0j)
    if middle is None:
        return {}
    turn = fit.step / abs(fit.step)
    ways = {c: abs(((at - middle) / (turn * c)).imag) for c, at in fit.at.items() if c}
    return {
        cell: _allowed(
            f'{fit.placed[cell]} is {cm(way)} beside the line through the middle', goal.residual_m
        )
        for cell, way in ways.items()
        if not at_most(way, goal.residual_m)
    }


def _plus_faults(goal: PlusSign, cubes: Mapping[str, Pose], fit: PatternFit) -> Iterator[str]:
    yield _pitch_fault(goal, fit)
    yield _turn_fault(goal, 'plus sign', fit)
    names = [name for name in cubes if name not in fit.names]
    others = {name: complex(*cubes[name].position_m[:2]) for name in names}
    turn = fit.step / abs(fit.step)
    reach = fit.pitch_m + goal.edge_m / 2
    rays = {name: (point - fit.origin) / turn for name, point in others.items()}
    within = [name for name, ray in rays.items() if max(abs(ray.real), abs(ray.imag)) < reach]
    spoilt = f'{" and ".join(within)} lies within the plus sign.' if within else ''
    free_m = fit.pitch_m + goal.residual_m
    yield spoilt or _crowd_fault('plus sign', others, fit.at.values(), free_m)
