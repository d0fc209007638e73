"""Every thing of one kind on one side, all others where they were."""

from __future__ import annotations

import math

from bbllm.bench.checkers.parts import Part, at_least, at_most, cm
from bbllm.bench.checkers.sides import SIGNS, side_fault
from bbllm.bench.checkers.situation import Finding
from bbllm.bench.checkers.table import Table
from bbllm.bench.goals import OneSide
from bbllm.core.types import Kind


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
    if at_most(way, goal.still_m):
        return ''
    return f'{name} has moved by {cm(way)}; {cm(goal.still_m)} are allowed.'


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
    return Finding(True)
