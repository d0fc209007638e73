"""Every thing of one kind on one side, all others where they were."""

from __future__ import annotations

import math

from bbllm.bench.scorers.sides import SIGNS, side_fault
from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.goals import OneSide
from bbllm.bench.suites.parts import Part, at_least, at_most, cm
from bbllm.bench.suites.situation import Finding
from bbllm.core.types import Kind, SceneObject
from bbllm.skills.shapes import Vector, rotation_of


def parts_of(goal: OneSide, table: Table) -> list[Part]:
    """Judge every thing by its own coordinates."""
    kind = Kind(goal.things)
    things = table.reachable(kind)
    if not things:
        return [Part(f'a {goal.things} on the {goal.side}', f'no {goal.things} is within reach.')]
    sides = [
        Part(f'{name} on the {goal.side}', side_fault(table, name, goal.side, goal.margin_m))
        for name in things
    ]
    others = [name for name in table.movables if table.known(name).kind is not kind]
    return sides + [Part(f'{name} where it was', _moved(goal, table, name)) for name in others]


def _moved(goal: OneSide, table: Table, name: str) -> str:
    if name not in table.now:
        return f'{name} is gone.'
    if name not in table.start:
        return f'{name} was not there before.'
    way = math.dist(table.now[name].pose.position_m, table.start[name].pose.position_m)
    if not at_most(way, goal.still_m):
        return f'{name} has moved by {cm(way)}; {cm(goal.still_m)} are allowed.'
    return _leant(goal, table, name)


def _leant(goal: OneSide, table: Table, name: str) -> str:
    """Measure the angle between a thing's axis and what it was; turned about it is well."""
    if table.known(name).kind is Kind.CUBE:  # which of its faces it stands on cannot be seen
        return table.tipped(name)
    was, now = _axis(table.start[name]), _axis(table.now[name])
    cosine = sum(a * b for a, b in zip(was, now))
    if table.known(name).kind is Kind.CYLINDER:  # nor which end is up
        cosine = abs(cosine)
    turn = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    if at_most(turn, goal.tilt_deg):
        return ''
    return f'{name} is where it was, but tipped over by {turn:.0f} degrees.'


def _axis(item: SceneObject) -> Vector:
    """Return a thing's own z axis in the world frame."""
    x, y, z = (row[2] for row in rotation_of(item.pose))
    return x, y, z


def second_look(goal: OneSide, table: Table) -> Finding:
    """Judge the whole: which one is nearest to the other side, and who stands on whose spot."""
    kind = Kind(goal.things)
    things = table.reachable(kind)
    if sum(table.stands(name) for name in things) < max(1, len(things)):
        return Finding(False, f'not every {goal.things} within reach stands on the table.')
    least = min(SIGNS[goal.side] * table.point(name).imag for name in things)
    if not at_least(least, goal.margin_m):
        y = cm(SIGNS[goal.side] * least)
        return Finding(False, f'a {goal.things} at y = {y} is not on the {goal.side}.')
    return _spots(goal, table, kind)


def _spots(goal: OneSide, table: Table, kind: Kind) -> Finding:
    """Find who is nearest to each spot of the start; it must be the one that was there."""
    for spot in (name for name in table.movables if table.known(name).kind is not kind):
        if spot not in table.start or spot not in table.now:
            return Finding(False, f'{spot} is not there both before and after.')
        was = table.start[spot].pose.position_m
        squares = {
            name: sum((a - b) ** 2 for a, b in zip(item.pose.position_m, was))
            for name, item in table.now.items()
            if name in table.movables
        }
        nearest = min(squares, key=squares.__getitem__)
        if nearest != spot or not at_most(math.sqrt(squares[spot]), goal.still_m):
            return Finding(
                False,
                f'nearest to the old place of {spot} is {nearest}, '
                f'{cm(math.sqrt(squares[nearest]))} off.',
            )
        if not _points_as_before(goal, table, spot):
            return Finding(False, f'{spot} does not stand as it stood.')
    return Finding(True)


def _points_as_before(goal: OneSide, table: Table, name: str) -> bool:
    """Compare where the tip of a thing's axis is and was, by the chord between the two."""
    if table.known(name).kind is Kind.CUBE:
        return not table.tipped(name)
    was, now = _axis(table.start[name]), _axis(table.now[name])
    chord = math.dist(was, now)
    if table.known(name).kind is Kind.CYLINDER:
        chord = min(chord, math.dist(was, [-share for share in now]))
    return at_most(chord, 2 * math.sin(math.radians(goal.tilt_deg) / 2))
