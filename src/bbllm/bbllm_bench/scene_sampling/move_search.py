"""
Fewest moves from piles to other piles: A* over who stands on whom.

A state has a pile for each place, named from the bottom up. A move takes the top of a pile to
another; places have no room for anything else.
"""

import heapq
import itertools
from collections.abc import Callable

Piles = tuple[tuple[str, ...], ...]
PlaceMoves = tuple[tuple[str, int], ...]
"""Which object goes to which place, by its index."""
MOST_STATES = 60_000
"""So many states are looked at before a search gives up."""


class TooLargeError(Exception):
    """The search gave up."""


def fewest_moves(
    start: Piles, goal: Piles, allowed: Callable[[str, tuple[str, ...]], bool]
) -> PlaceMoves:
    """
    Return a shortest sequence of moves.

    Args:
        start: The piles at first.
        goal: The same objects in the piles that are wanted.
        allowed: Whether an object may be put on a pile, which may be empty.

    Raises:
        TooLargeError: None was found among `MOST_STATES` states.
    """
    where = _where(goal)
    best = {start: 0}
    came: dict[Piles, tuple[Piles, tuple[str, int]]] = {}
    order = itertools.count()
    queue = [(_at_least(start, where), 0, next(order), start)]
    while queue:
        _, depth, _, piles = heapq.heappop(queue)
        if piles == goal:
            return _way(came, piles)
        depth = -depth
        if depth > best[piles]:
            continue
        if len(best) > MOST_STATES:
            break
        for i, j in itertools.permutations(range(len(piles)), 2):
            if piles[i] and allowed(piles[i][-1], piles[j]):
                name = piles[i][-1]
                changed = [*piles]
                changed[i], changed[j] = piles[i][:-1], (*piles[j], name)
                after = tuple(changed)
                if depth + 1 < best.get(after, 10**9):
                    best[after] = depth + 1
                    came[after] = piles, (name, j)
                    cost = depth + 1 + _at_least(after, where)
                    # Of equal costs, the deepest first: it is nearest to the goal.
                    heapq.heappush(queue, (cost, -(depth + 1), next(order), after))
    raise TooLargeError


def lower_bound(start: Piles, goal: Piles) -> int:
    """Return a number of moves that no sequence can do without."""
    return _at_least(start, _where(goal))


def _where(goal: Piles) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return in which pile each object belongs, and on what."""
    return {name: (i, pile[:j]) for i, pile in enumerate(goal) for j, name in enumerate(pile)}


def _way(came: dict[Piles, tuple[Piles, tuple[str, int]]], piles: Piles) -> PlaceMoves:
    moves = []
    while piles in came:
        piles, move = came[piles]
        moves.append(move)
    return tuple(reversed(moves))


def _at_least(piles: Piles, where: dict[str, tuple[int, tuple[str, ...]]]) -> int:
    """
    Return how many moves are needed at least: a lower bound, so that A* finds the fewest.

    What is not where it belongs, on what belongs below it, has to move. It has to move twice where
    something below it has to move too and belongs below it again: it leaves before that, and
    comes back after.
    """
    moves = 0
    for i, pile in enumerate(piles):
        for j, name in enumerate(pile):
            if where[name] != (i, pile[:j]):
                below = where[name][1]
                settled = 0
                while settled < j and where[pile[settled]] == (i, pile[:settled]):
                    settled += 1
                moves += 2 if any(other in below for other in pile[settled:j]) else 1
    return moves
