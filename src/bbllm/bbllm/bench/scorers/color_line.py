"""
All cubes within reach in one line across the table, ordered from left to right by colour.

Only cubes whose colour the goal names can be ordered: they are the line. Another cube between
its ends spoils it, and so does a hole. Cubes of one colour may stand in any order among
themselves.
"""

from __future__ import annotations

import itertools
import math

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import ColorLine
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import count_of, listed
from bbllm.core.types import Kind


def line_cubes(goal: ColorLine, table: Table) -> list[str]:
    """Return the cubes that the line is to consist of."""
    return [name for name in table.reachable(Kind.CUBE) if table.known(name).color in goal.colors]


def parts_of(goal: ColorLine, table: Table) -> list[Part]:
    """Find the fullest line, and compare the extremes of consecutive colours in it."""
    cubes = line_cubes(goal, table)
    if len(cubes) < 2:
        return [
            Part('a line of cubes', f'a line needs 2 cubes in reach, not {len(cubes)}.'),
        ]
    line = _fullest_line(goal, table, cubes)
    parts = [Part(f'{name} in the line', _off(table, name, line)) for name in cubes]
    parts += _order(goal, table, cubes, line)
    lined = 2 * len(line) >= len(cubes)
    verb = 'stands' if len(line) == 1 else 'stand'
    missing = f'only {len(line)} of {count_of(len(cubes), "cube")} {verb} in a line.'
    return [
        *parts,
        Part('no hole in the line', _hole(goal, table, line) if lined else missing),
        Part('the line in the centre', _off_centre(goal, table, line) if lined else missing),
        Part('no other cube in the line', _intruder(goal, table, line) if lined else missing),
    ]


def _mean_x(table: Table, line: list[str]) -> float:
    return sum(table.xy(name)[0] for name in line) / len(line)


def _fullest_line(goal: ColorLine, table: Table, cubes: list[str]) -> list[str]:
    """Return the largest set of standing cubes whose x are near enough to their mean."""
    ranked = sorted((name for name in cubes if table.stands(name)), key=table.xy)
    for length in range(len(ranked), 0, -1):
        windows = [ranked[i : i + length] for i in range(len(ranked) - length + 1)]
        straight = [
            window
            for window in windows
            if all(
                at_most(abs(table.xy(name)[0] - _mean_x(table, window)), goal.straight_m)
                for name in window
            )
        ]
        if straight:
            return min(straight, key=lambda w: table.xy(w[-1])[0] - table.xy(w[0])[0])
    return []


def _off(table: Table, name: str, line: list[str]) -> str:
    if table.fall(name) or name in line:
        return table.fall(name)
    off = abs(table.xy(name)[0] - _mean_x(table, line))
    return f'{name} is {cm(off)} off the line of {listed(line)}.'


def _order(goal: ColorLine, table: Table, cubes: list[str], line: list[str]) -> list[Part]:
    groups = {
        color: [name for name in cubes if table.known(name).color == color]
        for color in goal.colors
    }
    colors = [color for color in groups if groups[color]]
    parts = [
        Part(f'{left} left of {right}', _disorder(goal, table, groups[left], groups[right], line))
        for left, right in itertools.pairwise(colors)
    ]
    for color in colors:
        if len(groups[color]) > 1:
            parts.append(
                Part(f'the {color} cubes apart', _crowd(goal, table, groups[color], line))
            )
    return parts


def _disorder(
    goal: ColorLine, table: Table, left: list[str], right: list[str], line: list[str]
) -> str:
    missing = [name for name in (*left, *right) if name not in line]
    if missing:
        return f'{missing[0]} is not in the line.'
    last = min(left, key=lambda name: table.xy(name)[1])
    first = max(right, key=lambda name: table.xy(name)[1])
    gap = table.xy(last)[1] - table.xy(first)[1]
    least, _ = goal.gap_m
    if at_least(gap, least):
        return ''
    side = 'left' if gap >= 0 else 'right'
    return f'{last} is {cm(abs(gap))} {side} of {first}, not at least {cm(least)} left of it.'


def _crowd(goal: ColorLine, table: Table, group: list[str], line: list[str]) -> str:
    missing = [name for name in group if name not in line]
    if missing:
        return f'{missing[0]} is not in the line.'
    ranked = sorted(group, key=lambda name: table.xy(name)[1])
    gaps = {(a, b): table.xy(b)[1] - table.xy(a)[1] for a, b in itertools.pairwise(ranked)}
    (a, b), gap = min(gaps.items(), key=lambda entry: entry[1])
    return '' if at_least(gap, goal.gap_m[0]) else f'{a} and {b} are only {cm(gap)} apart.'


def _hole(goal: ColorLine, table: Table, line: list[str]) -> str:
    """Compare neighbours from left to right, whatever their colours."""
    _, most = goal.gap_m
    ranked = sorted(line, key=lambda name: -table.xy(name)[1])
    for left, right in itertools.pairwise(ranked):
        gap = table.xy(left)[1] - table.xy(right)[1]
        if not at_most(gap, most):
            return (
                f'the line has a hole of {cm(gap)} between {left} and {right}; '
                f'{cm(most)} are allowed.'
            )
    return ''


def _off_centre(goal: ColorLine, table: Table, line: list[str]) -> str:
    ys = [table.xy(name)[1] for name in line]
    middle = (_mean_x(table, line), (min(ys) + max(ys)) / 2)
    off = math.dist(middle, goal.centre)
    if at_most(off, goal.centre_m):
        return ''
    return f'the middle of the line is {cm(off)} from the centre; {cm(goal.centre_m)} are allowed.'


def _intruder(goal: ColorLine, table: Table, line: list[str]) -> str:
    x, ys = _mean_x(table, line), [table.xy(name)[1] for name in line]
    for name in table.cubes_but(line):
        dx, y = abs(table.xy(name)[0] - x), table.xy(name)[1]
        if dx < goal.straight_m and min(ys) < y < max(ys):
            return f'{name} is in the line, but does not belong there.'
    return ''


def second_look(goal: ColorLine, table: Table) -> Finding:
    """Compare every cube with every other one; no mean and no sorting."""
    cubes = line_cubes(goal, table)
    fallen = [name for name in cubes if not table.stands(name)]
    if len(cubes) < 2 or fallen:
        return Finding(False, f'not 2 or more cubes, all standing: {listed(fallen) or "too few"}.')
    ranks = {name: goal.colors.index(table.known(name).color) for name in cubes}
    for one in cubes:
        drift = sum(table.xy(one)[0] - table.xy(two)[0] for two in cubes) / len(cubes)
        if not at_most(abs(drift), goal.straight_m):
            return Finding(False, f'{one} is {cm(abs(drift))} before or behind the others.')
    for one, two in itertools.combinations(cubes, 2):
        lead = table.xy(one)[1] - table.xy(two)[1]
        if ranks[one] == ranks[two]:
            lead = abs(lead)
        elif ranks[one] > ranks[two]:
            lead = -lead
        if not at_least(lead, goal.gap_m[0]):
            return Finding(False, f'{one} and {two} are out of order, or nearer than allowed.')
    # Whoever has no neighbour to the right is the line's end, of which there is one.
    ends = [one for one in cubes if not any(_follows(goal, table, one, two) for two in cubes)]
    if len(ends) != 1:
        return Finding(False, f'the line falls apart: it ends at each of {listed(ends)}.')
    return _placed(goal, table, cubes)


def _follows(goal: ColorLine, table: Table, one: str, two: str) -> bool:
    """Tell whether one cube is so near to the right of another that no hole is between them."""
    lead = table.point(one).imag - table.point(two).imag
    return lead > 0 and at_most(lead, goal.gap_m[1])


def _placed(goal: ColorLine, table: Table, cubes: list[str]) -> Finding:
    """Judge the line's place from its two ends alone, and what lies between them."""
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
        return Finding(False, f'by its ends the line is {cm(off)} off the centre.')
    for name in table.cubes_but(cubes):
        spot = table.point(name)
        inside = (spot.imag - left.imag) * (spot.imag - right.imag) < 0
        if inside and abs(spot.real - x) < goal.straight_m:
            return Finding(False, f'{name} is between the ends of the line.')
    return Finding(True)
