"""Left and right each one cube and one cylinder, each on a location of its own."""

from __future__ import annotations

import math
from collections import Counter

from bbllm.bench.scorers.sides import SIGNS
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import PairsASide
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.phrases import count_of
from bbllm.core.types import Kind
from bbllm.skills.shapes import bottom_z

KINDS = (Kind.CUBE, Kind.CYLINDER)


def parts_of(goal: PairsASide, table: Table) -> list[Part]:
    """Count each side by coordinates, and look from every thing for its nearest location."""
    counts = [
        Part(f'one {kind.value} on the {side}', _miscount(goal, table, kind, side))
        for side in SIGNS
        for kind in KINDS
    ]
    things = [name for kind in KINDS for name in table.reachable(kind)]
    homes = {name: _home(goal, table, name) for name in things}
    return counts + [
        Part(f'{name} on a location of its own', _homeless(table, name, homes)) for name in things
    ]


def _miscount(goal: PairsASide, table: Table, kind: Kind, side: str) -> str:
    there = [
        name
        for name in table.reachable(kind)
        if at_least(SIGNS[side] * table.xy(name)[1], goal.margin_m)
    ]
    return '' if len(there) == 1 else f'on the {side} is {_number(there, kind.value)}.'


def _number(names: list[str], noun: str) -> str:
    return f'{count_of(len(names), noun)} ({", ".join(names)})' if names else f'no {noun}'


def _home(goal: PairsASide, table: Table, name: str) -> str:
    """Return the nearest location that a thing stands on, '' where it stands on none."""
    if name not in table.now:
        return ''
    low = bottom_z(table.now[name])
    ways = {
        place: math.dist(table.xy(name), table.xy(place))
        for place in table.every(Kind.LOCATION)
        if at_most(abs(low - table.known(place).pose.position_m[2]), goal.level_m)
    }
    near = min(ways, key=ways.__getitem__, default='')
    return near if near and at_most(ways[near], goal.location_m) else ''


def _homeless(table: Table, name: str, homes: dict[str, str]) -> str:
    if table.fall(name):
        return table.fall(name)
    if not homes[name]:
        return f'{name} stands on no location.'
    others = [other for other, home in homes.items() if home == homes[name] and other != name]
    return f'{name} shares {homes[name]} with {others[0]}.' if others else ''


def second_look(goal: PairsASide, table: Table) -> Finding:
    """Compare the tally of signs with the wanted one, and match things with locations."""
    things = [name for kind in KINDS for name in table.reachable(kind)]
    fallen = [name for name in things if not table.stands(name)]
    if fallen:
        return Finding(False, f'{fallen[0]} does not stand on the table.')
    tally = Counter(
        (math.copysign(1.0, table.point(name).imag), table.known(name).kind)
        for name in things
        if not abs(table.point(name).imag) < goal.margin_m - 1e-9
    )
    if tally != Counter({(sign, kind): 1 for sign in (1.0, -1.0) for kind in KINDS}):
        told = ', '.join(
            f'{tally[sign, kind]} {kind.value} {side}'
            for side, sign in SIGNS.items()
            for kind in KINDS
        )
        return Finding(False, f'the tally is {told}.')
    lonely = _unmatched(goal, table, things)
    if lonely:
        return Finding(
            False, f'no location within {cm(goal.location_m)} can be given to {lonely} alone.'
        )
    return Finding(True)


def _unmatched(goal: PairsASide, table: Table, things: list[str]) -> str:
    """Return a thing that a largest matching of things with locations leaves out, or ''."""
    near = {
        name: [
            place
            for place in table.every(Kind.LOCATION)
            if at_most(abs(table.point(name) - table.point(place)), goal.location_m)
            and at_most(
                abs(bottom_z(table.now[name]) - table.known(place).pose.position_m[2]),
                goal.level_m,
            )
        ]
        for name in things
    }
    owner: dict[str, str] = {}

    def settle(name: str, asked: set[str]) -> bool:
        for place in near[name]:
            if place in asked:
                continue
            asked.add(place)
            if place not in owner or settle(owner[place], asked):
                owner[place] = name
                return True
        return False

    return next((name for name in things if not settle(name, set())), '')
