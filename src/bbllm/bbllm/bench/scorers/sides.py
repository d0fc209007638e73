"""Goals of sides: one kind on one side, two kinds apart, and a pair on each side."""

import itertools
import math

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import OneSide, PairsASide, Segregated
from bbllm.bench.suites.scores import Condition, at_least, at_most, cm
from bbllm.core.text import count_of
from bbllm.core.types import Kind
from bbllm.skills.shapes import bottom_z, rotation_of

SIGNS = {'left': 1.0, 'right': -1.0}
OTHER_SIDE = {'left': 'right', 'right': 'left'}
KINDS = (Kind.CUBE, Kind.CYLINDER)


def _side_fault(table: Table, name: str, side: str, margin_m: float) -> str:
    """Return why an object does not stand on a side, at least a margin from the middle line."""
    inside = SIGNS[side] * table.point(name).imag
    if table.fall(name) or at_least(inside, margin_m):
        return table.fall(name)
    if inside >= 0:
        return f'{name} is only {cm(inside)} {side} of the middle line, not {cm(margin_m)}.'
    return f'{name} is {cm(-inside)} {OTHER_SIDE[side]} of the middle line.'


# --- one kind on one side, all others where they were -------------------------------------------


def one_side(goal: OneSide, table: Table) -> list[Condition]:
    """Check every object by its own coordinates."""
    members = table.reachable(Kind(goal.things))
    if not members:
        fault = f'no {goal.things} is within reach.'
        return [Condition(f'a {goal.things} on the {goal.side}', fault)]
    on_side = [
        Condition(f'{name} on the {goal.side}', _side_fault(table, name, goal.side, goal.margin_m))
        for name in members
    ]
    return on_side + [
        Condition(f'{name} where it was', table.moved(name, goal.still_m) or _leant(table, name))
        for name in _others(goal, table)
    ]


def _others(goal: OneSide, table: Table) -> list[str]:
    return [name for name in table.movables if table.known(name).kind.value != goal.things]


def _leant(table: Table, name: str) -> str:
    """Measure the angle between an object's axis and what it was; a turn about it is allowed."""
    kind = table.known(name).kind
    if kind is Kind.CUBE:  # which of its faces it stands on cannot be seen
        return table.tipped(name)
    cosine = sum(a * b for a, b in zip(*_axes(table, name)))
    if kind is Kind.CYLINDER:  # nor which end is up
        cosine = abs(cosine)
    turn = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    if at_most(turn, table.tilt_deg):
        return ''
    return f'{name} is where it was, but tipped over by {turn:.0f} degrees.'


def _axes(table: Table, name: str) -> list[list[float]]:
    """Return an object's own z axis in the world frame, as it was and as it is."""
    return [
        [row[2] for row in rotation_of(item.pose)] for item in (table.start[name], table.now[name])
    ]


# --- cubes on one side, cylinders on the other --------------------------------------------------


def segregated(goal: Segregated, table: Table) -> list[Condition]:
    """Check every object against the side that suits the most of them."""
    both = [_segregated(goal, table, cubes_side) for cubes_side in SIGNS]
    return max(both, key=lambda conditions: sum(one.holds for one in conditions))


def _segregated(goal: Segregated, table: Table, cubes_side: str) -> list[Condition]:
    conditions = []
    for kind, side in zip(KINDS, (cubes_side, OTHER_SIDE[cubes_side])):
        for name in table.reachable(kind):
            fault = _side_fault(table, name, side, goal.margin_m)
            if fault and not table.fall(name):
                fault = f'{fault[:-1]}, but the {kind.value}s belong on the {side}.'
            conditions.append(Condition(f'{name} on the side of the {kind.value}s', fault))
    empty = [kind.value for kind in KINDS if not table.reachable(kind)]
    unused = f'no {empty[0]} is within reach, so one side stays empty.' if empty else ''
    return [*conditions, Condition('both sides used', unused)]


# --- left and right each one cube and one cylinder, each on a location of its own ---------------


def pairs_a_side(goal: PairsASide, table: Table) -> list[Condition]:
    """Count each side by coordinates, and find the nearest location of every object."""
    conditions = []
    for side, kind in itertools.product(SIGNS, KINDS):
        names = table.reachable(kind)
        inside = {name: SIGNS[side] * table.point(name).imag for name in names}
        there = [name for name in names if at_least(inside[name], goal.margin_m)]
        found = f'{count_of(len(there), kind.value)} ({", ".join(there)})'
        fault = f'on the {side} is {found if there else f"no {kind.value}"}.'
        conditions.append(
            Condition(f'one {kind.value} on the {side}', '' if len(there) == 1 else fault)
        )
    members = table.reachable(*KINDS)
    homes = {name: _home(goal, table, name) for name in members}
    for name in members:
        others = [other for other in members if homes[other] == homes[name] and other != name]
        fault = f'{name} shares {homes[name]} with {others[0]}.' if others else ''
        alone = fault if homes[name] else f'{name} stands on no location.'
        text = f'{name} on a location of its own'
        conditions.append(Condition(text, table.fall(name) or alone))
    return conditions


def _home(goal: PairsASide, table: Table, name: str) -> str:
    """Return the nearest location that an object stands on, '' if it stands on none."""
    ways = {place: table.apart(name, place) for place in _level_locations(goal, table, name)}
    near = min(ways, key=ways.__getitem__, default='')
    return near if near and at_most(ways[near], goal.location_m) else ''


def _level_locations(goal: PairsASide, table: Table, name: str) -> list[str]:
    """Return the locations that are as high as the lowest point of an object."""
    low = bottom_z(table.now[name]) if name in table.now else math.inf
    places = table.every(Kind.LOCATION)
    return [place for place in places if at_most(abs(low - table.z(place)), goal.level_m)]
