"""Goals about hidden properties: blocks at corners, the heaviest in the hand, and what stays."""

import math

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Corners, Hold
from bbllm.bench.suites.scores import Condition, at_least, at_most, cm
from bbllm.core.text import listed
from bbllm.skills.shapes import Point, bottom_z, outline, top_z


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
