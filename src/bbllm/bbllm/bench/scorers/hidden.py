"""Goals about hidden properties: blocks at corners, the heaviest in the hand, and what stays."""

from __future__ import annotations

import math
from collections import Counter

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Corners, Hold
from bbllm.bench.suites.scores import Condition, at_least, at_most, cm
from bbllm.core.text import listed
from bbllm.core.types import SceneObject
from bbllm.skills.shapes import Point, bottom_z, half_height, outline, rotation_of, top_z

# --- an empty hand, and fixed objects where they were -------------------------------------------


def untouched(table: Table, still_m: float) -> list[Condition]:
    """Check that the hand has let go, and that what is fixed to the table is where it was."""
    holding = f'the hand still holds {table.held}.' if table.held else ''
    though = ' although it is fixed'
    return [
        Condition('the hand is empty', holding),
        *(
            Condition(f'{name} where it was', table.moved(name, still_m, though))
            for name in table.movables
            if name in table.fixed
        ),
    ]


def untouched_fault(table: Table, still_m: float) -> str:
    """Check the same, by the distances across the table and up."""
    if table.held:
        return f'{table.held} is in the hand.'
    for name in (name for name in table.movables if name in table.fixed):
        if name not in table.now:
            return f'{name} is gone.'
        was, now = table.start[name].pose.position_m, table.now[name].pose.position_m
        across = abs(complex(*was[:2]) - complex(*now[:2]))
        if not at_most(abs(complex(across, now[2] - was[2])), still_m):
            return f'{name} is not where it was, although it is fixed.'
    return ''


# --- blocks on the table, each at a corner of its own -------------------------------------------


def corners(goal: Corners, table: Table) -> list[Condition]:
    """Measure from each block to the corner that is nearest to it."""
    names = _wanted(goal, table)
    if not names:
        return [Condition('a block at a corner', 'no block within reach can be moved.')]
    faults = {name: _off_corner(goal, table, name) for name in names}
    nearest = {name: _nearest(table, name)[1] for name, fault in faults.items() if not fault}
    shared = ''
    for corner in nearest.values():
        together = [name for name, other in nearest.items() if other == corner]
        if len(together) > 1 and not shared:
            shared = f'{listed(together)} are at the same corner.'
    return [
        *(Condition(f'{name} at a corner', fault) for name, fault in faults.items()),
        Condition('no corner twice', shared),
        *untouched(table, goal.still_m),
    ]


def _wanted(goal: Corners, table: Table) -> list[str]:
    """Return the names of the blocks that belong to a corner, in the order of the start."""
    near = [name for name in table.movables if name not in table.out_of_reach]
    return [name for name in near if goal.which == 'all' or name not in table.fixed]


def _nearest(table: Table, name: str) -> tuple[float, Point]:
    """Return the corner that is nearest to a block, and how far it is [m]."""
    points = [corner for top in table.tables for corner in outline(top)]
    return min((math.dist(table.xy(name), corner), corner) for corner in points)


def _off_corner(goal: Corners, table: Table, name: str) -> str:
    if not table.tables:
        return 'there is no table that would have corners.'
    if table.fall(name):
        return table.fall(name)
    way, _ = _nearest(table, name)
    if at_most(way, goal.corner_m):
        return ''
    return f'{name} is {cm(way)} from the nearest corner; {cm(goal.corner_m)} are allowed.'


def corners_fault(goal: Corners, table: Table) -> str:
    """Fold each table into one quarter, so that there is one corner; the quarters must differ."""
    names = _wanted(goal, table)
    fault = untouched_fault(table, goal.still_m)
    if not names or fault:
        return fault or 'there is nothing to move.'
    quarters: Counter[tuple[str, bool, bool]] = Counter()
    for name in names:
        if not table.stands(name):
            return f'{name} does not stand on the table.'
        found = _quarter(goal, table, name)
        if found is None:
            return f'{name} is at no corner.'
        quarters[found] += 1
    if len(quarters) < len(names):
        return f'{len(names)} blocks are at {len(quarters)} corners.'
    return ''


def _quarter(goal: Corners, table: Table, name: str) -> tuple[str, bool, bool] | None:
    """Return table and quarter of it at whose corner a block stands, None if at none."""
    for top in table.tables:
        x, y = _on_top(top, table.xy(name))
        u, v = top.size_m[0] / 2 - abs(x), top.size_m[1] / 2 - abs(y)
        if at_most(math.sqrt(u * u + v * v), goal.corner_m):
            return top.name, x > 0, y > 0
    return None


def _on_top(top: SceneObject, xy: Point) -> Point:
    """Return a point along the table's own axes from its middle [m]."""
    rows = rotation_of(top.pose)
    dx, dy = (xy[i] - top.pose.position_m[i] for i in range(2))
    return rows[0][0] * dx + rows[1][0] * dy, rows[0][1] * dx + rows[1][1] * dy


# --- the heaviest block in the hand, above the table --------------------------------------------

EMPTY = 'the hand is empty.'


def hold(goal: Hold, table: Table) -> list[Condition]:
    """Take what is in the hand, and measure that."""
    held = table.held if table.held in table.now else ''
    raised = bottom_z(table.now[held]) - _table_top(table) if held else 0.0
    low = f'{held} is {cm(raised)} above the table, not {cm(goal.raised_m)}.'
    low = '' if at_least(raised, goal.raised_m) else low
    return [
        Condition('a block in the hand', '' if held else EMPTY),
        Condition('it is the heaviest', _lighter(table, held) if held else EMPTY),
        Condition(f'it is {cm(goal.raised_m)} above the table', low if held else EMPTY),
    ]


def _lighter(table: Table, held: str) -> str:
    if held not in table.mass_kg:
        return f'nothing tells what {held} weighs.'
    for name in table.movables:
        if name != held and not table.mass_kg.get(name, 0.0) < table.mass_kg[held]:
            return (
                f'{held}, in the hand, weighs {1000 * table.mass_kg[held]:.0f} g, but {name} '
                f'weighs {1000 * table.mass_kg[name]:.0f} g.'
            )
    return ''


def _table_top(table: Table) -> float:
    """Return the height of the highest table [m]."""
    return max((top_z(item) for item in table.tables), default=0.0)


def hold_fault(goal: Hold, table: Table) -> str:
    """Check from the side, without the hand: what is above a plane and rests on nothing."""
    plane = _table_top(table) + goal.raised_m
    above = [
        name
        for name in table.movables
        if name in table.now
        and not table.rests(name)
        and at_least(table.now[name].pose.position_m[2], plane + half_height(table.now[name]))
    ]
    if len(above) != 1:
        return f'{len(above) or "no"} blocks are held up above the table.'
    masses = {name: mass for name, mass in table.mass_kg.items() if name in table.movables}
    most = max(masses.values(), default=0.0)
    if [name for name, mass in masses.items() if mass == most] != above:
        return f'{above[0]} is held up, and not the one that weighs most.'
    return ''
