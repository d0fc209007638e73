"""Goals of puzzles: what rests on what and where, and by which moves that came about."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from bbllm.core.skill_calls import is_pose_like, parse_pose
from bbllm.core.text import count_of
from bbllm.core.types import Kind
from bbllm.skills.shapes import bottom_z, top_z
from bbllm_bench.scorers.blocks import not_resting
from bbllm_bench.scorers.table import Table
from bbllm_bench.suites.goals import Layout
from bbllm_bench.suites.scores import Condition

Points = dict[str, tuple[float, float] | None]
ANYWHERE = ''
"""What an object was put on that is neither on a location nor on another object."""


def layout(goal: Layout, table: Table) -> Iterator[Condition]:
    """Measure each place, then go through the moves; a part of the goal is a condition each."""
    for above, below in goal.on.items():
        yield Condition(f'{above} on {below}', not_resting(goal, table, above, below))
    for name in goal.still:
        yield Condition(f'{name} where it was', table.moved(name, goal.still_m))
    yield from _by_rules(goal, table)


# --- rules of moves -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Move:
    """One object that was picked and put down."""

    name: str
    below: str
    """The location or object that it was put on; `ANYWHERE` if neither."""
    level: int
    """Which object from the bottom it was there, counted from 1."""


def _by_rules(goal: Layout, table: Table) -> Iterator[Condition]:
    moves = [*moves_of(table, goal.near_m)]
    if goal.moves is not None:
        made = f'{count_of(len(moves), "move")} were made; {goal.moves} are allowed.'
        fault = '' if len(moves) <= goal.moves else made
        yield Condition(f'at most {count_of(goal.moves, "move")}', fault)
    for name in goal.untouched:
        moved = any(move.name == name for move in moves)
        fault = f'{name} was moved, which is not allowed.' if moved else ''
        yield Condition(f'{name} never moved', fault)
    if goal.on_places:
        faults = (
            f'move {i} put {move.name} neither on a location nor on its like.'
            for i, move in enumerate(moves, 1)
            if move.name != table.held
            and _kind(table, move.below) not in (_kind(table, move.name), Kind.LOCATION.value)
        )
        yield Condition('everything put on a location or on its like', next(faults, ''))
    if goal.tallest is not None:
        faults = (
            f'move {i} made a tower of {move.level} objects; {goal.tallest} are allowed.'
            for i, move in enumerate(moves, 1)
            if move.level > goal.tallest
        )
        yield Condition(f'never more than {goal.tallest} on each other', next(faults, ''))


def _kind(table: Table, name: str) -> str:
    return table.known(name).kind.value if name in table.names else ''


def moves_of(table: Table, near_m: float) -> Iterator[Move]:
    """
    Yield the moves of an episode, as the targets of its calls say.

    A pose above the table is on the top of the pile that it is near to, seen from above, and any
    other on the location there.
    """
    under = {name: _first_under(table, name, near_m) for name in table.movables}
    at: Points = {name: item.pose.position_m[:2] for name, item in table.start.items()}
    for name, target in table.moves:
        under[name], at[name] = ANYWHERE, None
        if is_pose_like(target):
            x, y, z = parse_pose(target).position_m
            at[name] = (x, y)
            under[name] = _at_pose(table, under, at, name, (x, y, z), near_m)
        elif target in at and table.known(target).kind is not Kind.FIXTURE:
            at[name], under[name] = at[target], target
        yield Move(name, under[name], _level(under, name))


def _first_under(table: Table, name: str, near_m: float) -> str:
    """Return what an object was on at the start."""
    if name not in table.start:
        return ANYWHERE
    item = table.start[name]
    for other, below in table.start.items():
        level = abs(bottom_z(item) - top_z(below)) <= table.level_m
        near = math.dist(item.pose.position_m[:2], below.pose.position_m[:2]) <= near_m
        if other != name and below.kind is not Kind.FIXTURE and level and near:
            return other
    return ANYWHERE


def _at_pose(table: Table, under: dict[str, str], at: Points,
             name: str, point: tuple[float, float, float], near_m: float) -> str:  # fmt: skip
    x, y, z = point
    near = [
        other
        for other, where in at.items()
        if other != name
        and where is not None
        and table.known(other).kind is not Kind.FIXTURE
        and math.dist(where, (x, y)) <= near_m
    ]
    piles = [other for other in near if other in under and other not in under.values()]
    if piles and z - table.known(name).size_m[2] / 2 > table.level_m:
        return piles[0]
    return next((other for other in near if table.known(other).kind is Kind.LOCATION), ANYWHERE)


def _level(under: dict[str, str], name: str) -> int:
    """Return which object from the bottom an object is, counted from 1."""
    level, seen = 1, {name}
    while (name := under[name]) in under and name not in seen:
        seen.add(name)
        level += 1
    return level
