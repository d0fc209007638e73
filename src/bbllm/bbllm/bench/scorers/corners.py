"""Blocks at the corners of the table, each at one of its own."""

from __future__ import annotations

import math
from collections import Counter

from bbllm.bench.scorers.table import Table
from bbllm.bench.scorers.unseen import shared_look, shared_parts
from bbllm.bench.suites.goals import Corners
from bbllm.bench.suites.parts import Part, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import listed
from bbllm.core.types import SceneObject
from bbllm.skills.shapes import Point, outline, rotation_of


def parts_of(goal: Corners, table: Table) -> list[Part]:
    """Measure from each block to the corner that is nearest to it."""
    names = wanted(goal, table)
    if not names:
        return [Part('a block at a corner', 'no block within reach can be moved.')]
    return [
        *(Part(f'{name} at a corner', _fault(goal, table, name)) for name in names),
        Part('no corner twice', _shared_corner(goal, table, names)),
        *shared_parts(table, goal.still_m),
    ]


def wanted(goal: Corners, table: Table) -> list[str]:
    """Return the names of the blocks that belong to a corner, in the order of the start."""
    near = [name for name in table.movables if name not in table.out_of_reach]
    return [name for name in near if goal.which == 'all' or name not in table.fixed]


def _nearest(table: Table, name: str) -> tuple[float, Point]:
    """Return the corner that is nearest to a block, and how far it is [m]."""
    corners = [corner for top in table.tables for corner in outline(top)]
    return min((math.dist(table.xy(name), corner), corner) for corner in corners)


def _fault(goal: Corners, table: Table, name: str) -> str:
    if not table.tables:
        return 'there is no table that would have corners.'
    if table.fall(name):
        return table.fall(name)
    way, _ = _nearest(table, name)
    if at_most(way, goal.corner_m):
        return ''
    return f'{name} is {cm(way)} from the nearest corner; {cm(goal.corner_m)} are allowed.'


def _shared_corner(goal: Corners, table: Table, names: list[str]) -> str:
    there = [name for name in names if not _fault(goal, table, name)]
    corners = {name: _nearest(table, name)[1] for name in there}
    for corner in corners.values():
        together = [name for name in there if corners[name] == corner]
        if len(together) > 1:
            return f'{listed(together)} are at the same corner.'
    return ''


def second_look(goal: Corners, table: Table) -> Finding:
    """Fold each table into one quarter, so that there is one corner; the quarters must differ."""
    names = wanted(goal, table)
    shared = shared_look(table, goal.still_m)
    if not names or not shared.passed:
        return Finding(False, shared.reason or 'there is nothing to move.')
    quarters: Counter[tuple[str, bool, bool]] = Counter()
    for name in names:
        if not table.stands(name):
            return Finding(False, f'{name} does not stand on the table.')
        found = _quarter(goal, table, name)
        if found is None:
            return Finding(False, f'{name} is at no corner.')
        quarters[found] += 1
    if len(quarters) < len(names):
        return Finding(False, f'{len(names)} blocks are at {len(quarters)} corners.')
    return Finding(True)


def _quarter(goal: Corners, table: Table, name: str) -> tuple[str, bool, bool] | None:
    """Return table and quarter of it at whose corner a block stands, None where at none."""
    for top in table.tables:
        x, y = _on_top(top, table.xy(name))
        u, v = top.size_m[0] / 2 - abs(x), top.size_m[1] / 2 - abs(y)
        if at_most(math.sqrt(u * u + v * v), goal.corner_m):
            return top.name, x > 0, y > 0
    return None


def _on_top(top: SceneObject, xy: Point) -> Point:
    """Return where a point is, along the table's own axes from its middle [m]."""
    rows = rotation_of(top.pose)
    dx, dy = (xy[i] - top.pose.position_m[i] for i in range(2))
    return rows[0][0] * dx + rows[1][0] * dy, rows[0][1] * dx + rows[1][1] * dy
