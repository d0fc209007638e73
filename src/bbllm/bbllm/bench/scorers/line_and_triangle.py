"""Goals of cubes by their colours: all in one line by colour, and three as a triangle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from bbllm.bench.scorers.sides import SIGNS
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import ColorLine, Triangle
from bbllm.bench.suites.scores import Condition, at_least, at_most, between, cm
from bbllm.core.text import count_of, listed
from bbllm.core.types import Kind

# --- all cubes within reach in one line across the table, from left to right by colour ----------
#
# Only cubes whose colour the goal names can be ordered: they are the line. Another cube between
# its ends spoils it, and so does a hole. Cubes of one colour may stand in any order among
# themselves.

Names = Sequence[str]


def color_line(goal: ColorLine, table: Table) -> list[Condition]:
    """Find the fullest line, and compare the extremes of consecutive colours in it."""
    cubes = _line_cubes(goal, table)
    if len(cubes) < 2:
        fault = f'a line needs 2 cubes in reach, not {len(cubes)}.'
        return [Condition('a line of cubes', fault)]
    line = _fullest_line(goal, table, cubes)
    missing = ''
    if 2 * len(line) < len(cubes):
        verb = 'stands' if len(line) == 1 else 'stand'
        missing = f'only {len(line)} of {count_of(len(cubes), "cube")} {verb} in a line.'
    return [
        *(Condition(f'{name} in the line', _off(table, name, line)) for name in cubes),
        *_order(goal, table, cubes, line),
        Condition('no hole in the line', missing or _hole(goal, table, line)),
        Condition('the line in the centre', missing or _off_centre(goal, table, line)),
        Condition('no other cube in the line', missing or _intruder(goal, table, line)),
    ]


def _line_cubes(goal: ColorLine, table: Table) -> list[str]:
    """Return the cubes that the line is to consist of."""
    return [name for name in table.reachable(Kind.CUBE) if table.known(name).color in goal.colors]


def _mean_x(table: Table, line: Names) -> float:
    return sum(table.xy(name)[0] for name in line) / len(line)


def _fullest_line(goal: ColorLine, table: Table, cubes: Names) -> Names:
    """Return the largest set of standing cubes whose x are near enough to their mean."""
    ranked = sorted((name for name in cubes if table.stands(name)), key=table.xy)

    def straight(window: Names) -> bool:
        x = _mean_x(table, window)
        return all(at_most(abs(table.xy(name)[0] - x), goal.straight_m) for name in window)

    for length in range(len(ranked), 0, -1):
        windows = (ranked[i : i + length] for i in range(len(ranked) - length + 1))
        if found := [window for window in windows if straight(window)]:
            return min(found, key=lambda w: table.xy(w[-1])[0] - table.xy(w[0])[0])
    return []


def _off(table: Table, name: str, line: Names) -> str:
    if table.fall(name) or name in line:
        return table.fall(name)
    off = abs(table.xy(name)[0] - _mean_x(table, line))
    return f'{name} is {cm(off)} off the line of {listed(line)}.'


def _order(goal: ColorLine, table: Table, cubes: Names, line: Names) -> list[Condition]:
    by_color = {
        color: [name for name in cubes if table.known(name).color == color]
        for color in goal.colors
    }
    groups = {color: names for color, names in by_color.items() if names}
    return [
        *(
            Condition(
                f'{left} left of {right}',
                _disorder(goal, table, groups[left], groups[right], line),
            )
            for left, right in itertools.pairwise(groups)
        ),
        *(
            Condition(f'the {color} cubes apart', _crowd(goal, table, names, line))
            for color, names in groups.items()
            if len(names) > 1
        ),
    ]


def _not_in_line(names: Names, line: Names) -> str:
    return next((f'{name} is not in the line.' for name in names if name not in line), '')


def _disorder(goal: ColorLine, table: Table, left: Names, right: Names, line: Names) -> str:
    if missing := _not_in_line((*left, *right), line):
        return missing
    last = min(left, key=lambda name: table.xy(name)[1])
    first = max(right, key=lambda name: table.xy(name)[1])
    gap = table.xy(last)[1] - table.xy(first)[1]
    least, _ = goal.gap_m
    if at_least(gap, least):
        return ''
    side = 'left' if gap >= 0 else 'right'
    return f'{last} is {cm(abs(gap))} {side} of {first}, not at least {cm(least)} left of it.'


def _crowd(goal: ColorLine, table: Table, group: Names, line: Names) -> str:
    if missing := _not_in_line(group, line):
        return missing
    ranked = sorted(group, key=lambda name: table.xy(name)[1])
    gaps = {(a, b): table.xy(b)[1] - table.xy(a)[1] for a, b in itertools.pairwise(ranked)}
    (a, b), gap = min(gaps.items(), key=lambda entry: entry[1])
    return '' if at_least(gap, goal.gap_m[0]) else f'{a} and {b} are only {cm(gap)} apart.'


def _hole(goal: ColorLine, table: Table, line: Names) -> str:
    """Compare neighbours from left to right, whatever their colours."""
    _, most = goal.gap_m
    for left, right in itertools.pairwise(sorted(line, key=lambda name: -table.xy(name)[1])):
        gap = table.xy(left)[1] - table.xy(right)[1]
        if not at_most(gap, most):
            hole = f'the line has a hole of {cm(gap)} between {left} and {right}'
            return f'{hole}; {cm(most)} are allowed.'
    return ''


def _off_centre(goal: ColorLine, table: Table, line: Names) -> str:
    ys = [table.xy(name)[1] for name in line]
    off = math.dist((_mean_x(table, line), (min(ys) + max(ys)) / 2), goal.centre)
    if at_most(off, goal.centre_m):
        return ''
    return f'the middle of the line is {cm(off)} from the centre; {cm(goal.centre_m)} are allowed.'


def _intruder(goal: ColorLine, table: Table, line: Names) -> str:
    x, ys = _mean_x(table, line), [table.xy(name)[1] for name in line]
    for name in table.cubes_but(line):
        dx, y = abs(table.xy(name)[0] - x), table.xy(name)[1]
        if dx < goal.straight_m and min(ys) < y < max(ys):
            return f'{name} is in the line, but does not belong there.'
    return ''


def color_line_fault(goal: ColorLine, table: Table) -> str:
    """Compare every cube with every other one; no mean and no sorting."""
    cubes = _line_cubes(goal, table)
    fallen = [name for name in cubes if not table.stands(name)]
    if len(cubes) < 2 or fallen:
        return f'not 2 or more cubes, all standing: {listed(fallen) or "too few"}.'
    ranks = {name: goal.colors.index(table.known(name).color) for name in cubes}
    for one in cubes:
        drift = sum(table.xy(one)[0] - table.xy(two)[0] for two in cubes) / len(cubes)
        if not at_most(abs(drift), goal.straight_m):
            return f'{one} is {cm(abs(drift))} before or behind the others.'
    for one, two in itertools.combinations(cubes, 2):
        lead = table.xy(one)[1] - table.xy(two)[1]
        if ranks[one] == ranks[two]:
            lead = abs(lead)
        elif ranks[one] > ranks[two]:
            lead = -lead
        if not at_least(lead, goal.gap_m[0]):
            return f'{one} and {two} are out of order, or nearer than allowed.'
    # A cube that has no neighbour to the right is the line's end, of which there is one.
    ends = [one for one in cubes if not any(_follows(goal, table, one, two) for two in cubes)]
    if len(ends) != 1:
        return f'the line falls apart: it ends at each of {listed(ends)}.'
    return _misplaced_line(goal, table, cubes)


def _follows(goal: ColorLine, table: Table, one: str, two: str) -> bool:
    """Whether one cube is so near to the right of another that no hole is between them."""
    lead = table.point(one).imag - table.point(two).imag
    return lead > 0 and at_most(lead, goal.gap_m[1])


def _misplaced_line(goal: ColorLine, table: Table, cubes: Names) -> str:
    """Check the line's place by its two ends alone, and what lies between them."""
    order = [(goal.colors.index(table.known(name).color), -table.xy(name)[1]) for name in cubes]
    left = table.point(cubes[order.index(min(order))])
    right = table.point(cubes[order.index(max(order))])
    # Both ends are moved onto the line's x; what is asked of it is asked of their midpoint.
    x = left.real - sum(left.real - table.xy(name)[0] for name in cubes) / len(cubes)
    centre = complex(*goal.centre)
    ends = [complex(x, end.imag) for end in (left, right)]
    to_left, to_right, whole = abs(ends[0] - centre), abs(ends[1] - centre), abs(ends[0] - ends[1])
    # Apollonius: the median of a triangle from its three sides.
    off = math.sqrt(max(0.0, 2 * to_left**2 + 2 * to_right**2 - whole**2)) / 2
    if not at_most(off, goal.centre_m):
        return f'by its ends the line is {cm(off)} off the centre.'
    for name in table.cubes_but(cubes):
        spot = table.point(name)
        inside = (spot.imag - left.imag) * (spot.imag - right.imag) < 0
        if inside and abs(spot.real - x) < goal.straight_m:
            return f'{name} is between the ends of the line.'
    return ''


# --- three cubes of some colours as a triangle on one side --------------------------------------
#
# Exactly three cubes of the colours within reach are on that side; further ones lie elsewhere.

CORNERS = 3


def triangle(goal: Triangle, table: Table) -> list[Condition]:
    """Check the best three by the lengths of their sides and the law of cosines."""
    there = _on_its_side(goal, table)
    standing = [name for name in there if table.stands(name)]
    verb = 'stands' if len(standing) == 1 else 'stand'
    few = f'only {count_of(len(standing), "cube")} of the colours {verb} on the {goal.side}.'
    many = f'{len(there)} cubes of the colours are on the {goal.side}: {listed(there)}.'
    general = min(
        (_general(goal, table, trio) for trio in itertools.combinations(standing, CORNERS)),
        key=lambda faults: sum(map(bool, faults)),
        default=(few, few, few),
    )
    texts = ('its sides long enough', 'its angles wide enough', 'no other cube near it')
    return [
        *(
            Condition(
                f'corner {k} of {CORNERS} on the {goal.side}', few if len(standing) < k else ''
            )
            for k in range(1, CORNERS + 1)
        ),
        Condition(f'no fourth cube on the {goal.side}', many if len(there) > CORNERS else ''),
        *map(Condition, texts, general),
    ]


def _on_its_side(goal: Triangle, table: Table) -> list[str]:
    """Return the cubes of the colours that are on the side, standing or not."""
    return [
        name
        for name in table.reachable(Kind.CUBE)
        if table.known(name).color in goal.colors
        and name in table.now
        and at_least(SIGNS[goal.side] * table.xy(name)[1], goal.margin_m)
    ]


def _side_limits(goal: Triangle) -> tuple[float, float]:
    """Return least and greatest length of a side [m]."""
    return goal.side_edges[0] * goal.edge_m, goal.side_edges[1] * goal.edge_m


def _general(goal: Triangle, table: Table, trio: Names) -> tuple[str, str, str]:
    """Return what is wrong with the sides, the angles and the surroundings of three cubes."""
    sides = {
        (a, b): math.dist(table.xy(a), table.xy(b)) for a, b in itertools.combinations(trio, 2)
    }
    least, most = _side_limits(goal)
    wrong = (
        f'{a} and {b} are {cm(way)} apart, not between {cm(least)} and {cm(most)}.'
        for (a, b), way in sides.items()
        if not between(way, (least, most))
    )
    angle = _smallest_angle(*sides.values())
    narrow = f'the smallest angle is {angle:.0f} degrees, not {goal.angle_deg:.0f}.'
    return (
        next(wrong, ''),
        '' if at_least(angle, goal.angle_deg) else narrow,
        _neighbour(goal, table, trio),
    )


def _smallest_angle(*sides: float) -> float:
    """Return the angle opposite the shortest side, by the law of cosines [deg]."""
    a, b, c = sorted(sides)
    if a == 0:
        return 0.0
    return math.degrees(math.acos(max(-1.0, min(1.0, (b * b + c * c - a * a) / (2 * b * c)))))


def _neighbour(goal: Triangle, table: Table, trio: Names) -> str:
    corners = [table.point(name) for name in trio]
    apart = goal.apart_edges * goal.edge_m
    for name in table.cubes_but(trio):
        way = _way_to(corners, table.point(name))
        if way < apart:
            return f'{name} is {cm(way)} from the triangle; {cm(apart)} are to stay free.'
    return ''


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


def triangle_fault(goal: Triangle, table: Table) -> str:
    """Check by area and circumscribed circle, and by zones around the triangle."""
    there = _on_its_side(goal, table)
    if len(there) != CORNERS or not all(table.stands(name) for name in there):
        return f'on the {goal.side} are {listed(there) or "none"}, not three that stand.'
    (ax, ay), (bx, by), (cx, cy) = (table.xy(name) for name in there)
    squares = [
        (bx - ax) ** 2 + (by - ay) ** 2,
        (cx - bx) ** 2 + (cy - by) ** 2,
        (ax - cx) ** 2 + (ay - cy) ** 2,
    ]
    least, most = _side_limits(goal)
    if not (at_least(min(squares), least**2) and at_most(max(squares), most**2)):
        return f'the sides go from {cm(math.sqrt(min(squares)))} to {cm(math.sqrt(max(squares)))}.'
    area = abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2
    # A side is 2 R sin of the angle opposite, R = product of the sides / (4 area).
    sine = math.sqrt(min(squares)) * 2 * area / math.sqrt(math.prod(squares))
    if not at_least(sine, math.sin(math.radians(goal.angle_deg))):
        return f'{listed(there)} are too nearly in a line: sine {sine:.2f}.'
    apart = goal.apart_edges * goal.edge_m
    corners = [table.xy(name) for name in there]
    for name in table.cubes_but(there):
        x, y = table.xy(name)
        in_disc = any(math.hypot(x - cx, y - cy) < apart for cx, cy in corners)
        if in_disc or _in_triangle(corners, x, y) or _in_strip(corners, x, y, apart):
            return f'{name} is within {cm(apart)} of the triangle.'
    return ''


def _in_triangle(corners: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    """Whether three barycentric weights are all positive."""
    (ax, ay), (bx, by), (cx, cy) = corners
    whole = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy)
    first = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / whole
    second = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / whole
    return first > 0 and second > 0 and first + second < 1


def _in_strip(corners: Sequence[tuple[float, float]], x: float, y: float, width: float) -> bool:
    """Whether a point projects onto a side and is nearer to its line than a width."""
    for (ax, ay), (bx, by) in itertools.combinations(corners, 2):
        length = math.hypot(bx - ax, by - ay)
        ux, uy = (bx - ax) / length, (by - ay) / length
        along = (x - ax) * ux + (y - ay) * uy
        if 0 <= along <= length and abs((x - ax) * uy - (y - ay) * ux) < width:
            return True
    return False
