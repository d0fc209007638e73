"""
Three cubes of some colours as a triangle on one side.

Exactly three cubes of the colours within reach are on that side; further ones lie elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from bbllm.bench.scorers.sides import SIGNS
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Triangle
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import count_of, listed
from bbllm.core.types import Kind

CORNERS = 3


def cubes_there(goal: Triangle, table: Table) -> list[str]:
    """Return the cubes of the colours that are on the side, standing or not."""
    return [
        name
        for name in table.reachable(Kind.CUBE)
        if table.known(name).color in goal.colors
        and name in table.now
        and at_least(SIGNS[goal.side] * table.xy(name)[1], goal.margin_m)
    ]


def parts_of(goal: Triangle, table: Table) -> list[Part]:
    """Judge the best three by the lengths of their sides and the law of cosines."""
    there = cubes_there(goal, table)
    standing = [name for name in there if table.stands(name)]
    verb = 'stands' if len(standing) == 1 else 'stand'
    few = f'only {count_of(len(standing), "cube")} of the colours {verb} on the {goal.side}.'
    parts = [
        Part(f'corner {k} of {CORNERS} on the {goal.side}', few if len(standing) < k else '')
        for k in range(1, CORNERS + 1)
    ]
    many = f'{len(there)} cubes of the colours are on the {goal.side}: {listed(there)}.'
    general = min(
        (_general(goal, table, trio) for trio in itertools.combinations(standing, CORNERS)),
        key=lambda faults: sum(map(bool, faults)),
        default=(few, few, few),
    )
    texts = ('its sides long enough', 'its angles wide enough', 'no other cube near it')
    return [
        *parts,
        Part(f'no fourth cube on the {goal.side}', many if len(there) > CORNERS else ''),
        *(Part(text, fault) for text, fault in zip(texts, general)),
    ]


def _general(goal: Triangle, table: Table, trio: Sequence[str]) -> tuple[str, str, str]:
    """Say what is wrong with the sides, the angles and the surroundings of three cubes."""
    sides = {
        (a, b): math.dist(table.xy(a), table.xy(b)) for a, b in itertools.combinations(trio, 2)
    }
    least, most = (edges * goal.edge_m for edges in goal.side_edges)
    wrong = [
        f'{a} and {b} are {cm(way)} apart, not between {cm(least)} and {cm(most)}.'
        for (a, b), way in sides.items()
        if not (at_least(way, least) and at_most(way, most))
    ]
    angle = _smallest_angle(*sides.values())
    narrow = f'the smallest angle is {angle:.0f} degrees, not {goal.angle_deg:.0f}.'
    return (
        wrong[0] if wrong else '',
        '' if at_least(angle, goal.angle_deg) else narrow,
        _neighbour(goal, table, trio),
    )


def _smallest_angle(*sides: float) -> float:
    """Return the angle opposite the shortest side, by the law of cosines [deg]."""
    a, b, c = sorted(sides)
    if a == 0:
        return 0.0
    return math.degrees(math.acos(max(-1.0, min(1.0, (b * b + c * c - a * a) / (2 * b * c)))))


def _neighbour(goal: Triangle, table: Table, trio: Sequence[str]) -> str:
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


def second_look(goal: Triangle, table: Table) -> Finding:
    """Judge by area and circumscribed circle, and by zones around the triangle."""
    there = cubes_there(goal, table)
    if len(there) != CORNERS or not all(table.stands(name) for name in there):
        return Finding(
            False, f'on the {goal.side} are {listed(there) or "none"}, not three that stand.'
        )
    (ax, ay), (bx, by), (cx, cy) = (table.xy(name) for name in there)
    squares = [
        (bx - ax) ** 2 + (by - ay) ** 2,
        (cx - bx) ** 2 + (cy - by) ** 2,
        (ax - cx) ** 2 + (ay - cy) ** 2,
    ]
    least, most = (edges * goal.edge_m for edges in goal.side_edges)
    if not (at_least(min(squares), least**2) and at_most(max(squares), most**2)):
        return Finding(
            False,
            f'the sides go from {cm(math.sqrt(min(squares)))} to {cm(math.sqrt(max(squares)))}.',
        )
    area = abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2
    # A side is 2 R sin of the angle opposite, R = product of the sides / (4 area).
    sine = math.sqrt(min(squares)) * 2 * area / math.sqrt(math.prod(squares))
    if not at_least(sine, math.sin(math.radians(goal.angle_deg))):
        return Finding(False, f'{listed(there)} are too nearly in a line: sine {sine:.2f}.')
    return _zones(goal, table, there)


def _zones(goal: Triangle, table: Table, trio: Sequence[str]) -> Finding:
    """Look for other cubes in the triangle, in a disc at a corner, in a strip along a side."""
    apart = goal.apart_edges * goal.edge_m
    corners = [table.xy(name) for name in trio]
    for name in table.cubes_but(trio):
        x, y = table.xy(name)
        in_disc = any(math.hypot(x - cx, y - cy) < apart for cx, cy in corners)
        if in_disc or _in_triangle(corners, x, y) or _in_strip(corners, x, y, apart):
            return Finding(False, f'{name} is within {cm(apart)} of the triangle.')
    return Finding(True)


def _in_triangle(corners: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    """Tell whether three barycentric weights are all positive."""
    (ax, ay), (bx, by), (cx, cy) = corners
    whole = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy)
    first = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / whole
    second = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / whole
    return first > 0 and second > 0 and first + second < 1


def _in_strip(corners: Sequence[tuple[float, float]], x: float, y: float, width: float) -> bool:
    """Tell whether a point projects onto a side and is nearer to its line than a width."""
    for (ax, ay), (bx, by) in itertools.combinations(corners, 2):
        length = math.hypot(bx - ax, by - ay)
        ux, uy = (bx - ax) / length, (by - ay) / length
        along = (x - ax) * ux + (y - ay) * uy
        if 0 <= along <= length and abs((x - ax) * uy - (y - ay) * ux) < width:
            return True
    return False
