"""Goals about hidden properties: blocks at corners, the heaviest in the hand, and what stays."""

import math

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Corners, Hold
from bbllm.bench.suites.scores import Condition, at_least, at_most, cm, first_fault
from bbllm.core.text import listed
from bbllm.skills.shapes import Point, bottom_z, half_height, outline, rotation_of, top_z


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


# --- blocks on the table, each at a corner of its own -------------------------------------------


def corners(goal: Corners, table: Table) -> list[Condition]:
    """Measure from each block to the corner that is nearest to it."""
    names = _wanted(goal, table)
    if not names:
        return [Condition('a block at a corner', 'no block within reach can be moved.')]
    points = [corner for top in table.tables for corner in outline(top)]
    conditions: list[Condition] = []
    at: dict[Point, list[str]] = {}
    for name in names:
        ways = ((math.dist(table.xy(name), point), point) for point in points)
        way, corner = min(ways, default=(math.inf, (0.0, 0.0)))
        fault = table.fall(name) if points else 'there is no table that would have corners.'
        if not fault and not at_most(way, goal.corner_m):
            allowed = f'{cm(goal.corner_m)} are allowed.'
            fault = f'{name} is {cm(way)} from the nearest corner; {allowed}'
        if not fault:
            at.setdefault(corner, []).append(name)
        conditions.append(Condition(f'{name} at a corner', fault))
    together = next((names for names in at.values() if len(names) > 1), [])
    shared = f'{listed(together)} are at the same corner.' if together else ''
    return [*conditions, Condition('no corner twice', shared), *untouched(table, goal.still_m)]


def _wanted(goal: Corners, table: Table) -> list[str]:
    """Return the names of the blocks that belong to a corner, in the order of the start."""
    near = [name for name in table.movables if name not in table.out_of_reach]
    return [name for name in near if goal.which == 'all' or name not in table.fixed]


def corners_fault(goal: Corners, table: Table) -> str:
    """Fold each table into one quarter, so that there is one corner; the quarters must differ."""
    names = _wanted(goal, table)
    if fault := first_fault(untouched(table, goal.still_m)) or table.fallen(names):
        return fault
    quarters = set()
    for name in names:
        found = _quarter(goal, table, name)
        if found is None:
            return f'{name} is at no corner.'
        quarters.add(found)
    if len(quarters) < len(names):
        return f'{len(names)} blocks are at {len(quarters)} corners.'
    return '' if names else 'there is nothing to move.'


def _quarter(goal: Corners, table: Table, name: str) -> tuple[str, bool, bool] | None:
    """Return table and quarter of it at whose corner a block stands, None if at none."""
    for top in table.tables:
        rows = rotation_of(top.pose)
        dx, dy = (table.xy(name)[i] - top.pose.position_m[i] for i in range(2))
        # Along the table's own axes from its middle.
        x, y = (rows[0][axis] * dx + rows[1][axis] * dy for axis in range(2))
        u, v = top.size_m[0] / 2 - abs(x), top.size_m[1] / 2 - abs(y)
        if at_most(math.hypot(u, v), goal.corner_m):
            return top.name, x > 0, y > 0
    return None


# --- the heaviest block in the hand, above the table --------------------------------------------


def hold(goal: Hold, table: Table) -> list[Condition]:
    """Take what is in the hand, and measure that."""
    held = table.held if table.held in table.now else ''
    lighter = low = 'the hand is empty.'
    if held:
        lighter, low = _lighter(table, held), ''
        raised = bottom_z(table.now[held]) - _table_top(table)
        if not at_least(raised, goal.raised_m):
            low = f'{held} is {cm(raised)} above the table, not {cm(goal.raised_m)}.'
    return [
        Condition('a block in the hand', '' if held else lighter),
        Condition('it is the heaviest', lighter),
        Condition(f'it is {cm(goal.raised_m)} above the table', low),
    ]


def _lighter(table: Table, held: str) -> str:
    if held not in table.mass_kg:
        return f'nothing tells what {held} weighs.'
    own = table.mass_kg[held]
    for name in table.movables:
        if name != held and not (mass := table.mass_kg.get(name, 0.0)) < own:
            told = f'{held}, in the hand, weighs {1000 * own:.0f} g'
            return f'{told}, but {name} weighs {1000 * mass:.0f} g.'
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
        and at_least(table.z(name), plane + half_height(table.now[name]))
    ]
    if len(above) != 1:
        return f'{len(above) or "no"} blocks are held up above the table.'
    masses = {name: mass for name, mass in table.mass_kg.items() if name in table.movables}
    most = max(masses.values(), default=0.0)
    if [name for name, mass in masses.items() if mass == most] != above:
        return f'{above[0]} is held up, and not the one that weighs most.'
    return ''
