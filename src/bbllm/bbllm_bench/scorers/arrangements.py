"""Goals of sides, and of cubes by colour: on a side, apart, in pairs, a line, a triangle."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from bbllm.core.text import count_of, listed
from bbllm.core.types import Kind
from bbllm.skills.shapes import bottom_z, rotation_of
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.goals import ColorLine, OneSide, PairsASide, Segregated, Triangle
from bbllm_bench.suites.scores import Condition, at_least, at_most, between, cm

SIGNS = {'left': 1.0, 'right': -1.0}
OTHER_SIDE = {'left': 'right', 'right': 'left'}
KINDS = (Kind.CUBE, Kind.CYLINDER)
Names = Sequence[str]
Points = Mapping[str, complex]


def _side_fault(table: Table, name: str, side: str, margin_m: float) -> str:
    """
    Return why an object does not rest on a side, at least a margin from the middle line.

    What rests on another object, or lies on its side, counts by where its own centre is.
    """
    inside = SIGNS[side] * table.point(name).imag
    if table.loose(name) or at_least(inside, margin_m):
        return table.loose(name)
    if inside >= 0:
        return f'{name} is only {cm(inside)} {side} of the middle line, not {cm(margin_m)}.'
    return f'{name} is {cm(-inside)} {OTHER_SIDE[side]} of the middle line.'


# --- one kind on one side, all others where they were -------------------------------------------


def one_side(goal: OneSide, table: Table) -> list[Condition]:
    """Check every object by its own coordinates."""
    members = table.reachable(Kind(goal.things))
    if not members:
        fault = f'no {goal.things} is within reach.'
        return [Condition(f'a {goal.things} on the {goal.side}', fault)]
    on_side = [
        Condition(
            f'{name} on the {goal.side}',
            _side_fault(table, name, goal.side, goal.margin_m) or _on_another_kind(table, name),
        )
        for name in members
    ]
    return on_side + [
        Condition(f'{name} where it was', table.moved(name, goal.still_m) or _leant(table, name))
        for name in table.movables
        if table.known(name).kind.value != goal.things
    ]


def _on_another_kind(table: Table, name: str) -> str:
    """Return that an object rests neither on the table nor on another of its kind, or ''."""
    kind = table.known(name).kind
    wrong = f'{name} rests neither on the table nor on another {kind.value}.'
    return '' if table.rests(name, kind) else wrong


def _leant(table: Table, name: str) -> str:
    """Measure the angle between an object's axis and what it was; a turn about it is allowed."""
    kind = table.known(name).kind
    if kind is Kind.CUBE:  # which of its faces it stands on cannot be seen
        return table.tipped(name)
    was, now = (rotation_of(items[name].pose) for items in (table.start, table.now))
    cosine = sum(a[2] * b[2] for a, b in zip(was, now))
    if kind is Kind.CYLINDER:  # nor which end is up
        cosine = abs(cosine)
    turn = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    tipped = f'{name} is where it was, but tipped over by {turn:.0f} degrees.'
    return '' if at_most(turn, table.tilt_deg) else tipped


# --- cubes on one side, cylinders on the other --------------------------------------------------


def segregated(goal: Segregated, table: Table) -> list[Condition]:
    """Check every object against the side that suits the most of them."""
    both = [_segregated(goal, table, cubes_side) for cubes_side in SIGNS]
    return max(both, key=lambda conditions: sum(one.holds for one in conditions))


def _segregated(goal: Segregated, table: Table, cubes_side: str) -> list[Condition]:
    conditions = []
    for kind, side in zip(KINDS, (cubes_side, OTHER_SIDE[cubes_side])):
        for name in table.reachable(kind):
            fault = _side_fault(table, name, side, goal.margin_m)
            if fault and not table.loose(name):
                fault = f'{fault[:-1]}, but the {kind.value}s belong on the {side}.'
            conditions.append(Condition(f'{name} on the side of the {kind.value}s', fault))
    empty = [kind.value for kind in KINDS if not table.reachable(kind)]
    unused = f'no {empty[0]} is within reach, so one side stays empty.' if empty else ''
    return [*conditions, Condition('both sides used', unused)]


# --- left and right each one cube and one cylinder, each on a location of its own ---------------


def pairs_a_side(goal: PairsASide, table: Table) -> list[Condition]:
    """Count each side by coordinates, and find the nearest location of every object."""
    conditions = []
    for side, kind in itertools.product(SIGNS, KINDS):
        inside = {name: SIGNS[side] * table.point(name).imag for name in table.reachable(kind)}
        there = [name for name, way in inside.items() if at_least(way, goal.margin_m)]
        found = f'{count_of(len(there), kind.value)} ({", ".join(there)})'
        fault = f'on the {side} is {found if there else f"no {kind.value}"}.'
        text = f'one {kind.value} on the {side}'
        conditions.append(Condition(text, '' if len(there) == 1 else fault))
    homes = {name: _home(goal, table, name) for name in table.reachable(*KINDS)}
    for name, home in homes.items():
        others = [other for other in homes if homes[other] == home and other != name]
        shared = f'{name} shares {home} with {others[0]}.' if others else ''
        fault = table.fall(name) or (shared if home else f'{name} stands on no location.')
        conditions.append(Condition(f'{name} on a location of its own', fault))
    return conditions


def _home(goal: PairsASide, table: Table, name: str) -> str:
    """Return the nearest location that an object stands on, '' if it stands on none."""
    low = bottom_z(table.now[name]) if name in table.now else math.inf
    ways = {
        place: table.apart(name, place)
        for place in table.every(Kind.LOCATION)
        if at_most(abs(low - table.known(place).pose.position_m[2]), goal.level_m)
    }
    near = min(ways, key=ways.__getitem__, default='')
    return near if near and at_most(ways[near], goal.location_m) else ''


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
