"""Named things on named things or locations."""

from __future__ import annotations

import math

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import Resting
from bbllm.bench.suites.parts import Part, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.types import Kind, SceneObject
from bbllm.skills.shapes import bottom_z, contains, is_solid, outline, top_z


def parts_of(goal: Resting, table: Table) -> list[Part]:
    """Measure from each thing to what it is to rest on: height, and distance of the middles."""
    if not goal.on:
        return [Part('something rests on something', 'the goal names nothing.')]
    return [
        Part(f'{thing} on {support}', _fault(goal, table, thing, support))
        for thing, support in goal.on.items()
    ]


def _fault(goal: Resting, table: Table, thing: str, support: str) -> str:
    for name in (thing, support):
        if name not in table.now:
            return f'there is no {name}.'
    above, below = table.now[thing], table.now[support]
    gap = bottom_z(above) - top_z(below)
    if not at_most(abs(gap), goal.level_m):
        side = 'above' if gap > 0 else 'below'
        return f'the underside of {thing} is {cm(abs(gap))} {side} the top of {support}.'
    if table.tipped(thing):
        return table.tipped(thing)
    if below.kind is Kind.FIXTURE:  # anywhere on furniture will do
        over = contains(outline(below), table.xy(thing))
        return '' if over else f'{thing} is not over {support}.'
    way = math.dist(table.xy(thing), table.xy(support))
    if at_most(way, goal.near_m):
        return ''
    return f'{thing} is {cm(way)} from the middle of {support}; {cm(goal.near_m)} are allowed.'


def second_look(goal: Resting, table: Table) -> Finding:
    """Look straight down from each thing's middle: what is met first must be what was asked."""
    for thing, support in goal.on.items():
        if thing not in table.now:
            return Finding(False, f'there is no {thing}.')
        if table.tipped(thing):
            return Finding(False, table.tipped(thing))
        met = _met_below(goal, table, table.now[thing], support)
        if met != support:
            return Finding(False, f'under {thing} is {met or "nothing"}, not {support}.')
    return Finding(bool(goal.on), '' if goal.on else 'the goal names nothing.')


def _met_below(goal: Resting, table: Table, thing: SceneObject, support: str) -> str:
    """Return the name of what carries a thing's middle, '' where nothing does."""
    x, y, _ = thing.pose.position_m
    low = bottom_z(thing)
    under = {
        name: top_z(item)
        for name, item in table.now.items()
        if name != thing.name
        and is_solid(item)
        and contains(outline(item), (x, y))
        and item.pose.position_m[2] < thing.pose.position_m[2]
    }
    solid = max(under, key=under.__getitem__, default='')
    if not solid or not at_most(abs(low - under[solid]), goal.level_m):
        return ''
    wanted = table.now.get(support)
    if wanted is None or wanted.kind is Kind.FIXTURE:
        return solid
    # A location is painted on what carries it; of a thing, the spot in its middle counts.
    mx, my, mz = wanted.pose.position_m
    off = (x - mx) ** 2 + (y - my) ** 2
    if not at_most(math.sqrt(off), goal.near_m):
        return f'the rim of {solid}'
    if wanted.kind is Kind.LOCATION and at_most(abs(mz - low), goal.level_m):
        return support
    return solid
