"""One block in the hand, above the table: the one that the goal names by what it weighs."""

from __future__ import annotations

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Hold
from bbllm.bench.suites.parts import Part, at_least, cm
from bbllm.bench.suites.situation import Finding
from bbllm.skills.shapes import bottom_z, half_height, top_z

EMPTY = 'the hand is empty.'


def parts_of(goal: Hold, table: Table) -> list[Part]:
    """Ask what is in the hand, and measure that."""
    held = table.held if table.held in table.now else ''
    return [
        Part('a block in the hand', '' if held else EMPTY),
        Part('it is the heaviest', _lighter(table, held) if held else EMPTY),
        Part(f'it is {cm(goal.raised_m)} above the table', _low(goal, table, held)),
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


def _low(goal: Hold, table: Table, held: str) -> str:
    if not held:
        return EMPTY
    height = bottom_z(table.now[held]) - table_top(table)
    if at_least(height, goal.raised_m):
        return ''
    return f'{held} is {cm(height)} above the table, not {cm(goal.raised_m)}.'


def table_top(table: Table) -> float:
    """Return the height of the highest table [m]."""
    return max((top_z(item) for item in table.tables), default=0.0)


def second_look(goal: Hold, table: Table) -> Finding:
    """Look from the side, without asking the hand: what is above a plane and rests on nothing."""
    plane = table_top(table) + goal.raised_m
    afloat = [name for name in table.movables if name in table.now and not table.rests(name)]
    above = [
        name
        for name in afloat
        if at_least(table.now[name].pose.position_m[2], plane + half_height(table.now[name]))
    ]
    if len(above) != 1:
        return Finding(False, f'{len(above) or "no"} blocks are held up above the table.')
    masses = sorted((mass, name) for name, mass in table.mass_kg.items() if name in table.movables)
    (mass, heaviest) = masses[-1] if masses else (0.0, '')
    if above != [heaviest] or [other for other, _ in masses].count(mass) > 1:
        return Finding(False, f'{above[0]} is held up, and not the one that weighs most.')
    return Finding(True)
