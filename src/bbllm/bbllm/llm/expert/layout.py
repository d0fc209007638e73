"""The goals: towers, corners, and a block in the hand, as moves on the table in the mind."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import permutations

from bbllm.llm.expert.brief import ExpertBrief
from bbllm.llm.expert.table import Point, Table

INSET_M = 0.04
"""How far from both edges of the table the centre of a block in a corner is [m]."""
AT_CORNER_M = 0.02
"""How far a block may be from there and stay [m]: from the corner itself that is at most 0.077 m,
and the suite `partial` allows 0.08."""


def lay_out(
    table: Table,
    brief: ExpertBrief,
    heaviest_first: Sequence[str],
    movable: Collection[str] | None,
) -> str:
    """
    Add the moves that make the goal so, and say what it is.

    Args:
        table: The table in the mind; without moves after this, the goal is so already.
        brief: What is wanted.
        heaviest_first: All blocks, in the order believed.
        movable: The blocks believed to be movable; None where that is not known.
    """
    free = list(heaviest_first) if movable is None else [n for n in heaviest_first if n in movable]
    if brief.goal == 'hold':
        table.pick(free[0])
        return f'{free[0]} shall be in the hand.'
    if brief.goal == 'corners':
        names = free if brief.which == 'movable' else heaviest_first
        return _to_corners(table, sorted(names))
    if brief.order == 'any':
        pile = _any_order(table, heaviest_first)
    elif brief.order == 'on_fixed':
        pile = [name for name in heaviest_first if name not in free][:1] + free
    else:
        pile = list(heaviest_first)
    return _build(table, pile[: brief.height])


def _any_order(table: Table, names: Sequence[str]) -> list[str]:
    """Go on with the highest pile that stands, else with the block that is nearest to all."""
    piles = [_pile_from(table, name, names) for name in names if table.low(name)]
    if not piles:
        return list(names)

    def liking(pile: list[str]) -> tuple[int, float]:
        way_m = math.fsum(math.dist(table.at(pile[0]), table.at(name)) for name in names)
        return -len(pile), way_m

    best = min(piles, key=liking)
    return best + [name for name in names if name not in best]


def _pile_from(table: Table, base: str, names: Sequence[str]) -> list[str]:
    pile = [base]
    while above := [n for n in names if n not in pile and table.on(n, pile[-1])]:
        pile.append(above[0])
    return pile


def _build(table: Table, pile: Sequence[str]) -> str:
    """Make a pile, from the bottom up; what of it stands well is left alone."""
    wanted = ' on '.join(reversed(pile))
    stands = 1
    if not table.low(pile[0]):
        table.put_home(pile[0])
    while stands < len(pile) and table.on(pile[stands], pile[stands - 1]):
        stands += 1
    for name in table.standing_on(pile[stands - 1]):
        if stands < len(pile):
            table.put_home(name)
    for below, name in zip(pile[stands - 1 :], pile[stands:], strict=False):
        table.put_on(name, below)
    return f'{wanted}: that shall be the pile.'


def _to_corners(table: Table, names: Sequence[str]) -> str:
    """Send each block to a corner of its own, by the shortest ways in all."""
    spots = _spots(table.corners)
    open_ones = [spot for spot in spots if not table.failed(spot)]
    spots = open_ones if len(open_ones) >= len(names) else spots
    free = [spot for spot in spots if table.clear(spot, names)]
    ways = list(permutations(free if len(free) >= len(names) else spots, len(names)))
    if not ways:
        return 'There are not as many corners as blocks.'

    def length_m(way: Iterable[Point]) -> float:
        return math.fsum(
            math.dist(table.at(name), spot) for name, spot in zip(names, way, strict=True)
        )

    for name, spot in zip(names, min(ways, key=length_m), strict=True):
        if not table.low(name) or math.dist(table.at(name), spot) > AT_CORNER_M:
            table.put(name, spot, 0.0)
    return f'{" and ".join(names)}: each in a corner of its own.'


def _spots(corners: Sequence[Point]) -> list[Point]:
    """Return where blocks go: a little inside of each corner."""
    if not corners:
        return []
    mid = [sum(corner[axis] for corner in corners) / len(corners) for axis in (0, 1)]
    return [
        (x - math.copysign(INSET_M, x - mid[0]), y - math.copysign(INSET_M, y - mid[1]))
        for x, y in corners
    ]
