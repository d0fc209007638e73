"""Cubes within reach on one side, cylinders within reach on the other."""

from __future__ import annotations

from bbllm.bench.scorers.sides import side_fault
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Segregated
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.types import Kind

OTHER_SIDE = {'left': 'right', 'right': 'left'}


def parts_of(goal: Segregated, table: Table) -> list[Part]:
    """Judge every thing against the side that suits the most of them."""
    return max((_parts(goal, table, cubes) for cubes in OTHER_SIDE), key=_how_many_hold)


def _how_many_hold(parts: list[Part]) -> int:
    return sum(not part.fault for part in parts)


def _parts(goal: Segregated, table: Table, cubes_side: str) -> list[Part]:
    """Judge every thing as if cubes belonged on one given side."""
    sides = {Kind.CUBE: cubes_side, Kind.CYLINDER: OTHER_SIDE[cubes_side]}
    parts = [
        Part(f'{name} on the side of the {kind.value}s', _fault(goal, table, name, kind, side))
        for kind, side in sides.items()
        for name in table.reachable(kind)
    ]
    empty = [kind.value for kind in sides if not table.reachable(kind)]
    both = f'no {empty[0]} is within reach, so one side stays empty.' if empty else ''
    return [*parts, Part('both sides used', both)]


def _fault(goal: Segregated, table: Table, name: str, kind: Kind, side: str) -> str:
    fault = side_fault(table, name, side, goal.margin_m)
    if not fault or table.fall(name):
        return fault
    return f'{fault[:-1]}, but the {kind.value}s belong on the {side}.'


def second_look(goal: Segregated, table: Table) -> Finding:
    """Walk over the table from right to left: the kind changes once, across the middle."""
    row = sorted(
        (table.xy(name)[1], kind.value, name)
        for kind in (Kind.CUBE, Kind.CYLINDER)
        for name in table.reachable(kind)
    )
    fallen = [name for _, _, name in row if not table.stands(name)]
    if fallen:
        return Finding(False, f'{fallen[0]} does not stand on the table.')
    changes = [index for index in range(1, len(row)) if row[index - 1][1] != row[index][1]]
    if len(changes) != 1:
        return Finding(
            False, f'from right to left the shapes change {len(changes)} times, not once.'
        )
    last, first = row[changes[0] - 1], row[changes[0]]
    if at_most(last[0], -goal.margin_m) and at_least(first[0], goal.margin_m):
        return Finding(True)
    return Finding(
        False,
        f'the shapes meet between {last[2]} at y = {cm(last[0])} and {first[2]} at '
        f'y = {cm(first[0])}; that gap must hold {cm(goal.margin_m)} either side of the middle.',
    )
