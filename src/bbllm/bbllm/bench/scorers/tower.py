"""Blocks one on the other: so many, in any order, by weight, or on the one that is fixed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from bbllm.bench.scorers.table import Table
from bbllm.bench.scorers.unseen import shared_look, shared_parts
from bbllm.bench.suites.goals import Tower
from bbllm.bench.suites.parts import Part, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import count_of
from bbllm.skills.shapes import bottom_z, half_height, outline, polygon_gap, top_z

Names = tuple[str, ...]
"""Blocks of a tower, from the bottom up."""
ORDERS = {
    'lighter_up': 'each block lighter than the one under it',
    'on_fixed': 'the block at the bottom is fixed to the table',
}


def parts_of(goal: Tower, table: Table) -> list[Part]:
    """Measure from each block to each other: who is under whom, and how far the middles are."""
    found = [tower for tower in _towers(goal, table) if len(tower) == goal.height]
    parts = [Part(f'a tower of {goal.height} blocks', '' if found else _too_low(goal, table))]
    if goal.order != 'any':
        faults = [order_fault(goal, table, tower) for tower in found]
        none = f'there is no tower of {goal.height} blocks.'
        # Where several are as high, one in order is enough.
        parts.append(Part(ORDERS[goal.order], min(faults, key=bool, default=none)))
    return parts + shared_parts(table, goal.still_m)


def _towers(goal: Tower, table: Table) -> list[Names]:
    """Return all towers; a block alone on the table is one."""
    there = [name for name in table.movables if name in table.now]
    under = {
        above: below
        for above, below in itertools.permutations(there, 2)
        if _is_on(goal, table, above, below)
    }
    towers = []
    for top in (name for name in there if name not in under.values()):
        tower = [top]
        while (below := under.get(tower[-1], '')) and below not in tower:
            tower.append(below)
        if table.stands(tower[-1]):
            towers.append(tuple(reversed(tower)))
    return towers


def _is_on(goal: Tower, table: Table, above: str, below: str) -> bool:
    gap = bottom_z(table.now[above]) - top_z(table.now[below])
    way = math.dist(table.xy(above), table.xy(below))
    return (
        at_most(abs(gap), goal.level_m) and at_most(way, goal.near_m) and not table.tipped(above)
    )


def _too_low(goal: Tower, table: Table) -> str:
    """Say how high the highest tower is, and what was put beside the middle of another."""
    towers = _towers(goal, table)
    if not towers:
        return 'no block stands on the table.'
    most = max(towers, key=len)
    told = f'the highest tower has {count_of(len(most), "block")}, not {goal.height}'
    for above, below in itertools.permutations([n for n in table.movables if n in table.now], 2):
        one, other = table.now[above], table.now[below]
        touching = polygon_gap(outline(one), outline(other)) < 0
        way = math.dist(table.xy(above), table.xy(below))
        if touching and at_most(abs(bottom_z(one) - top_z(other)), goal.level_m):
            if not at_most(way, goal.near_m):
                told += f'; {above} is {cm(way)} from the middle of {below}'
                return f'{told}, where {cm(goal.near_m)} are allowed.'
            if table.tipped(above):
                return f'{told}; {table.tipped(above)}'
    return f'{told}.'


def order_fault(goal: Tower, table: Table, tower: Names) -> str:
    """Say why a tower is not in the order that the goal wants, '' where it is."""
    if goal.order == 'on_fixed':
        bottom = tower[0]
        return '' if bottom in table.fixed else f'{bottom}, at the bottom, is not the fixed one.'
    for below, above in itertools.pairwise(tower):
        low, high = table.mass_kg.get(below), table.mass_kg.get(above)
        if low is None or high is None:
            return f'nothing tells what {below} and {above} weigh.'
        if not high < low:
            return (
                f'{above}, which weighs {1000 * high:.0f} g, is on {below}, which weighs '
                f'{1000 * low:.0f} g.'
            )
    return ''


def second_look(goal: Tower, table: Table) -> Finding:
    """Look from above for columns of blocks, and at each from the side: whether heights add up."""
    shared = shared_look(table, goal.still_m)
    if not shared.passed:
        return shared
    columns = [column for column in _columns(goal, table) if len(column) == goal.height]
    if not columns:
        return Finding(False, f'no column of the table has {goal.height} blocks.')
    faults = [_column_fault(goal, table, column) for column in columns]
    fault = min(faults, key=bool)
    return Finding(not fault, fault)


def _columns(goal: Tower, table: Table) -> list[Names]:
    """Return groups of blocks that have another one of them near above or below."""
    groups: list[set[str]] = []
    for name in (name for name in table.movables if name in table.now):
        near = [
            group
            for group in groups
            if any(at_most(abs(table.point(name) - table.point(o)), goal.near_m) for o in group)
        ]
        groups = [group for group in groups if group not in near] + [{name}.union(*near)]
    return [tuple(sorted(group, key=lambda name: _z(table, name))) for group in groups]


def _column_fault(goal: Tower, table: Table, column: Names) -> str:
    if not table.stands(column[0]):
        return table.fall(column[0])
    for below, above in itertools.pairwise(column):
        wanted = half_height(table.now[below]) + half_height(table.now[above])
        if not at_most(abs(_z(table, above) - _z(table, below) - wanted), goal.level_m):
            return f'the height of {above} does not add up with that of {below}.'
        if not at_most(abs(table.point(above) - table.point(below)), goal.near_m):
            return f'the column of {column[0]} leans too far.'
        if table.tipped(above):
            return table.tipped(above)
    return _order_of_column(goal, table, column)


def _order_of_column(goal: Tower, table: Table, column: Sequence[str]) -> str:
    if goal.order == 'on_fixed':
        lowest = set(column[:1])
        return '' if lowest <= table.fixed else f'the column of {column[0]} is on nothing fixed.'
    if goal.order == 'lighter_up':
        weights = [table.mass_kg.get(name, math.nan) for name in column]
        in_order = sorted(set(weights), reverse=True)
        # A mass that is missing or there twice leaves the two lists different.
        return '' if in_order == weights else f'the column of {column[0]} is in another order.'
    return ''


def _z(table: Table, name: str) -> float:
    return table.now[name].pose.position_m[2]
