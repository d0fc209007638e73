"""Which things go to the left and which to the right."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from bbllm.llm.offline.arranging import CLEARING, Pairs
from bbllm.llm.offline.board import TIGHT_M, Board
from bbllm.llm.offline.choosing import Choice
from bbllm.llm.offline.goals import Move, PerSide, Separate
from bbllm.llm.offline.phrases import RefusalError, Select, Side, Target
from bbllm.llm.offline.shapes import FREE_M, POSES_X_M, Cell, on_side, pose_cell
from bbllm.llm.offline.sight import Thing

SIDES: tuple[Side, Side] = ('left', 'right')


def moves_apart(goal: Separate, board: Board) -> list[Move]:
    """Return what goes where so that two groups part, with as few moves as can be."""
    ways = [way for way in (SIDES, SIDES[::-1]) if goal.first in (None, way[0])]
    plans = [
        [_strays(group.names, side, board) for group, side in zip(goal.items, way, strict=True)]
        for way in ways
    ]
    best = min(range(len(ways)), key=lambda i: sum(map(len, plans[i])))
    return [
        Move((Select(group.said, names, None),), Target('side', f'{side} side', side=side))
        for group, names, side in zip(goal.items, plans[best], ways[best], strict=True)
        if names
    ]


def _strays(group: Sequence[str], side: Side, board: Board) -> tuple[str, ...]:
    """Return the things of a group that are not on a side, and that can be moved there."""
    return tuple(
        name
        for name in group
        if name == board.held
        or (board.side_of(name) != side and name not in board.lessons.bad_things)
    )


def share(goal: PerSide, board: Board, choice: Choice) -> tuple[Pairs, list[str]]:
    """
    Give both sides their things, each on a location of its own.

    Returns:
        Things and places, in the scene's order; and the things of these kinds that are too many.

    Raises:
        RefusalError: Too few things or locations; says what ruled them out.
    """
    members: list[tuple[str, ...]] = []
    others: list[str] = []
    for item in goal.items:
        needed = 2 * (item.count or 1)
        chosen = choice.choose(Select(f'{item.said}s', item.names, needed))
        members.append(tuple(chosen))
        bad = board.lessons.bad_things
        others += [name for name in item.names if name not in chosen and name not in bad]
    cells = [board.cell(item.name) for item in board.locations if item.at is not None]
    staying = {name for names in members for name in names}
    cells = [cell for cell in cells if _usable(cell, staying, board)]
    best: tuple[float, Pairs] | None = None
    for lefts in itertools.product(
        *(itertools.combinations(names, len(names) // 2) for names in members)
    ):
        left = {name for names in lefts for name in names}
        found = _assigned(left, staying - left, cells, board)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    if best is None:
        many = sum(item.count or 1 for item in goal.items)
        counts = [sum(on_side(cell, side) for cell in cells) for side in SIDES]
        raise RefusalError(
            f'{many} locations are needed on each side; {counts[0]} on the left and {counts[1]} '
            f'on the right can be used. {choice.reasons([item.name for item in board.locations])}'
        )
    order = list(board.things)
    pairs = sorted(best[1], key=lambda pair: order.index(pair[0]))
    far = _presumed_reach([cell for _, cell in pairs], staying, board)
    return pairs, [name for name in others if _distance(board.things[name]) < far]


def _presumed_reach(cells: Sequence[Cell], members: Iterable[str], board: Board) -> float:
    """
    Return from which distance on what is too many is not worth a try [m].

    It lies halfway between what the plan uses and the nearest thing that feedback called out of
    reach; before there is such feedback, everything is worth a try.
    """
    out = [
        _distance(board.things[name])
        for name, said in board.lessons.bad_things.items()
        if name in board.things and re.search(r'workspace|reach', said)
    ]
    used = [math.hypot(cell.x, cell.y) for cell in cells]
    used += [_distance(board.things[name]) for name in members]
    return (min(out) + max(used)) / 2 if out else math.inf


def _distance(thing: Thing) -> float:
    return math.hypot(*thing.at[:2]) if thing.at else 0.0


def _usable(cell: Cell, members: set[str], board: Board) -> bool:
    """Tell whether a location can be reached and has room, perhaps once members have left it."""
    if cell.key in board.lessons.bad_places:
        held_there = board.standing_at(cell)
        return held_there is not None and held_there.name in members
    blocker = board.in_the_way(cell, members)
    return blocker is None or not (blocker in board.lessons.bad_things or blocker in board.fixed)


def _assigned(
    left: set[str], right: set[str], cells: Sequence[Cell], board: Board
) -> tuple[float, Pairs] | None:
    """Give the things of both sides locations, and tell what that costs [moves]."""
    pairs: Pairs = []
    for names, side in ((left, SIDES[0]), (right, SIDES[1])):
        free = [cell for cell in cells if on_side(cell, side)]
        waiting: list[str] = []
        for name in sorted(names):
            home = next((cell for cell in free if cell.holds(board.things[name])), None)
            if home is None:
                waiting.append(name)
            else:
                free.remove(home)
                pairs.append((name, home))
        free.sort(key=lambda cell: _price(cell, board))  # else they stay in the scene's order
        if len(free) < len(waiting):
            return None
        pairs += zip(waiting, free, strict=False)
    moved = [cell for name, cell in pairs if not cell.holds(board.things[name])]
    return sum(1 + _price(cell, board) for cell in moved), pairs


def _price(cell: Cell, board: Board) -> float:
    """Return how unwelcome a location is: something may stand there [moves]."""
    return CLEARING * (board.in_the_way(cell, ()) is not None)


def to_the_middle(names: Sequence[str], board: Board) -> Iterator[tuple[str, Cell]]:
    """Give what belongs to neither side places on the line between the sides, one by one."""
    for name in names:
        at = board.things[name].at
        if at is not None and abs(at[1]) < TIGHT_M / 5:
            continue
        free = [cell for cell in (pose_cell(x, 0.0) for x in POSES_X_M) if board.free(cell)]
        roomy = [
            cell
            for within in (FREE_M, TIGHT_M)
            for cell in free
            if board.has_room(cell, locations=False, within=within)
        ]
        if not roomy:
            raise RefusalError(f'there is no free place for {name} between the two sides.')
        yield name, roomy[0]
