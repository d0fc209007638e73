"""Goals of cubes by colour: a line, and a triangle."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from bbllm.core.text import count_of, listed
from bbllm.core.types import Kind
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.goals import ColorLine, Triangle
from bbllm_bench.suites.scores import Condition, at_least, at_most, between, cm

SIGNS = {'left': 1.0, 'right': -1.0}
Names = Sequence[str]
Points = Mapping[str, complex]


# --- all cubes within reach in one line across the table, from left to right by colour ----------
#
# Only cubes whose colour the goal names can be ordered: they are the line. Another cube between
# its ends spoils it, and so does a hole. Cubes of one colour may stand in any order among
# themselves.


def _colored(goal: ColorLine | Triangle, table: Table) -> list[str]:
    """Return the cubes within reach that have a colour of the goal."""
    return [name for name in table.reachable(Kind.CUBE) if table.known(name).color in goal.colors]


def color_line(goal: ColorLine, table: Table) -> list[Condition]:
    """Find the fullest line, and compare the extremes of consecutive colours in it."""
    cubes = _colored(goal, table)
    if len(cubes) < 2:
        fault = f'a line needs 2 cubes in reach, not {len(cubes)}.'
        return [Condition('a line of cubes', fault)]
    line = _fullest_line(goal, {n: table.point(n) for n in cubes if not table.fall(n)})
    conditions = []
    for name in cubes:
        fault = table.fall(name)
        if not fault and name not in line:
            off = cm(abs(table.point(name).real - _mean_x(line)))
            fault = f'{name} is {off} off the line of {listed([*line])}.'
        conditions.append(Condition(f'{name} in the line', fault))
    groups = {
        color: names
        for color in goal.colors
        if (names := [name for name in cubes if table.known(name).color == color])
    }
    texts = ('no hole in the line', 'the line in the centre', 'no other cube in the line')
    verb = 'stands' if len(line) == 1 else 'stand'
    few = f'only {len(line)} of {count_of(len(cubes), "cube")} {verb} in a line.'
    general = [few] * 3 if 2 * len(line) < len(cubes) else _line_faults(goal, table, line)
    return [*conditions, *_order(goal, groups, line), *map(Condition, texts, general)]


def _mean_x(line: Points) -> float:
    return sum(point.real for point in line.values()) / len(line)


def _fullest_line(goal: ColorLine, standing: Points) -> Points:
    """Return the largest set of standing cubes whose x are near enough to their mean."""
    ranked = sorted(standing.items(), key=lambda item: (item[1].real, item[1].imag))

    def straight(window: Points) -> bool:
        x = _mean_x(window)
        return all(at_most(abs(point.real - x), goal.straight_m) for point in window.values())

    def depth(window: Points) -> float:
        xs = [point.real for point in window.values()]
        return xs[-1] - xs[0]

    for length in range(len(ranked), 0, -1):
        windows = (dict(ranked[i : i + length]) for i in range(len(ranked) - length + 1))
        if found := [window for window in windows if straight(window)]:
            return min(found, key=depth)
    return {}


def _order(goal: ColorLine, groups: Mapping[str, Names], line: Points) -> Iterator[Condition]:
    """Yield whether each two consecutive colours are in order, and cubes of one colour apart."""

    def absent(names: Names) -> str:
        return next((f'{name} is not in the line.' for name in names if name not in line), '')

    least, _ = goal.gap_m
    for one, other in itertools.pairwise(groups):
        fault = absent((*groups[one], *groups[other]))
        if not fault:
            last = min(groups[one], key=lambda name: line[name].imag)
            first = max(groups[other], key=lambda name: line[name].imag)
            gap = line[last].imag - line[first].imag
            wrong = f'{last} is {cm(abs(gap))} {"left" if gap >= 0 else "right"} of {first}'
            fault = (
                '' if at_least(gap, least) else f'{wrong}, not at least {cm(least)} left of it.'
            )
        yield Condition(f'{one} left of {other}', fault)
    for color, names in groups.items():
        if len(names) > 1:
            fault = absent(names)
            if not fault:
                ranked = sorted(names, key=lambda name: line[name].imag)
                gaps = [(line[b].imag - line[a].imag, a, b) for a, b in itertools.pairwise(ranked)]
                gap, a, b = min(gaps, key=lambda each: each[0])
                near = f'{a} and {b} are only {cm(gap)} apart.'
                fault = '' if at_least(gap, least) else near
            yield Condition(f'the {color} cubes apart', fault)


def _line_faults(goal: ColorLine, table: Table, line: Points) -> Iterator[str]:
    """Yield what is wrong with gaps, place and surroundings of a line."""
    ranked = sorted(line.items(), key=lambda item: -item[1].imag)
    gaps = [(a.imag - b.imag, left, right) for (left, a), (right, b) in itertools.pairwise(ranked)]
    holes = (
        f'the line has a hole of {cm(gap)} between {left} and {right}; '
        f'{cm(goal.gap_m[1])} are allowed.'
        for gap, left, right in gaps
        if not at_most(gap, goal.gap_m[1])
    )
    yield next(holes, '')
    x, most, least = _mean_x(line), ranked[0][1].imag, ranked[-1][1].imag
    off = math.dist((x, (least + most) / 2), goal.centre)
    far = f'the middle of the line is {cm(off)} from the centre; {cm(goal.centre_m)} are allowed.'
    yield '' if at_most(off, goal.centre_m) else far
    intruders = (
        f'{name} is in the line, but does not belong there.'
        for name, point in table.cubes_but(line).items()
        if abs(point.real - x) < goal.straight_m and least < point.imag < most
    )
    yield next(intruders, '')


# --- three cubes of some colours as a triangle on one side --------------------------------------
#
# Three cubes of the colours within reach, with no other cube near them; further cubes of the
# colours may lie anywhere else, also on that side.

CORNERS = 3


def triangle(goal: Triangle, table: Table) -> list[Condition]:
    """Check the best three by the lengths of their sides and the law of cosines."""
    cubes = {name: table.point(name) for name in _colored(goal, table) if not table.fall(name)}
    sign = SIGNS[goal.side]
    standing = {n: at for n, at in cubes.items() if at_least(sign * at.imag, goal.margin_m)}
    verb = 'stands' if len(standing) == 1 else 'stand'
    few = (
        f'only {count_of(len(standing), "cube")} of the colours {verb} on the {goal.side}, '
        f'{cm(goal.margin_m)} or more from the middle line.'
    )
    trios = map(dict, itertools.combinations(standing.items(), CORNERS))
    general = min(
        (_triangle_faults(goal, table, trio) for trio in trios),
        key=lambda faults: sum(map(bool, faults)),
        default=(few, few, few),
    )
    places = [f'corner {k} of {CORNERS} on the {goal.side}' for k in range(1, CORNERS + 1)]
    texts = ('its sides long enough', 'its angles wide enough', 'no other cube near it')
    return [
        *(Condition(place, '' if k < len(standing) else few) for k, place in enumerate(places)),
        *map(Condition, texts, general),
    ]


def _triangle_faults(goal: Triangle, table: Table, trio: Points) -> tuple[str, str, str]:
    """Return what is wrong with the sides, the angles and the surroundings of three cubes."""
    sides = {(a, b): abs(trio[a] - trio[b]) for a, b in itertools.combinations(trio, 2)}
    least, most = (edges * goal.edge_m for edges in goal.side_edges)
    wrong = (
        f'{a} and {b} are {cm(way)} apart, not between {cm(least)} and {cm(most)}.'
        for (a, b), way in sides.items()
        if not between(way, (least, most))
    )
    a, b, c = sorted(sides.values())
    # The smallest angle is opposite the shortest side.
    cosine = (b * b + c * c - a * a) / (2 * b * c) if a else 1.0
    angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    narrow = f'the smallest angle is {angle:.0f} degrees, not {goal.angle_deg:.0f}.'
    apart = goal.apart_edges * goal.edge_m
    ways = {name: _way_to([*trio.values()], at) for name, at in table.cubes_but(trio).items()}
    near = (
        f'{name} is {cm(way)} from the triangle; {cm(apart)} are to stay free.'
        for name, way in ways.items()
        if way < apart
    )
    return next(wrong, ''), '' if at_least(angle, goal.angle_deg) else narrow, next(near, '')


def _way_to(corners: Sequence[complex], point: complex) -> float:
    """Return the distance of a point from a filled triangle; 0 inside [m]."""
    turns = [
        ((b - a).conjugate() * (point - a)).imag
        for a, b in zip(corners, (*corners[1:], corners[0]))
    ]
    if min(turns) > 0 or max(turns) < 0:
        return 0.0
    ways = []
    for a, b in itertools.combinations(corners, 2):
        along = ((b - a).conjugate() * (point - a)).real / (abs(b - a) ** 2 or 1.0)
        ways.append(abs(point - (a + max(0.0, min(1.0, along)) * (b - a))))
    return min(ways)
