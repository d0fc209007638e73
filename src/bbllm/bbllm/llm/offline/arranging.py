"""Patterns and towers: which thing goes where."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bbllm.llm.offline.board import Board
from bbllm.llm.offline.choosing import Choice
from bbllm.llm.offline.goals import Shape
from bbllm.llm.offline.lessons import Lessons
from bbllm.llm.offline.phrases import RefusalError, Select
from bbllm.llm.offline.rows import color_rows, spectral
from bbllm.llm.offline.shapes import (
    FREE_M,
    NEAR_M,
    POSE_PITCH_M,
    SIZES,
    TIGHT_PITCH_M,
    Box,
    Cell,
    named_patterns,
    offsets,
    patterns_through,
    pose_cell,
    pose_patterns,
)
from bbllm.llm.offline.sight import Thing

Pairs = list[tuple[str, Cell]]

KEEP_OUT_M = 0.085
"""How far a pattern is at least from things of the kind that it is made of [m]."""
MORE_THAN_PITCH_M = 0.015
"""How much further off than its own neighbours they are at least [m]."""
CLEARING = 2.0
"""What it costs to put something aside that is in the way [moves]."""
UNNAMED = 1.0
"""What it costs to use poses rather than locations with names [moves]."""
PULL, STRONG_PULL = 3.0, 100.0
"""What a metre off the middle costs, and off `CENTRE_M` if that is asked for [moves/m]."""
CENTRE_M = 0.05
"""How far from the middle is still in the middle [m]."""


@dataclass(frozen=True)
class Layout:
    """A pattern, worked out."""

    pairs: Pairs
    """Things and places, in the order in which they are filled."""
    box: Box
    """Around it."""
    strangers: tuple[str, ...]
    """What has to be put aside first."""
    cost: float
    """The lower, the better [moves]."""


def arrange(shape: Shape, board: Board, lessons: Lessons, choice: Choice) -> Layout:
    """
    Give each place of a pattern a thing.

    Of all patterns that the table has room for, the one that takes the fewest moves is taken;
    one with names counts for more than one without, and near the middle for more than far off.

    Raises:
        RefusalError: Too few things, or no room; says what ruled them out.
    """
    things = [name for item in shape.items for name in choice.choose(item)]
    things = list(dict.fromkeys(things))
    for n in SIZES.get(shape.shape, (len(things),)):
        best: Layout | None = None
        for cells, penalty in _places(shape, n, things, board) if 0 < n <= len(things) else ():
            floor = penalty + _way_off(shape, cells)
            # Most places are no better than the best so far even if all that is there may stay.
            if best is None or floor + n - _inside(cells, things, board) < best.cost:
                found = _layout(shape, things, cells, floor, board, lessons, choice)
                if found is not None and (best is None or found.cost < best.cost):
                    best = found
        if best is not None:
            return best
    sizes = SIZES.get(shape.shape, (max(len(things), 1),))
    names = [name for item in shape.items for name in item.names]
    names += [item.name for item in board.locations]
    raise RefusalError(
        f'{len(things)} things can be used and {" or ".join(map(str, sizes))} are needed, with as '
        f'many free places in the pattern that was asked for. {choice.reasons(names)}'
    )


def _inside(cells: Sequence[Cell], things: Sequence[str], board: Board) -> int:
    """Count the things that may be in their places already."""
    box = Box.around(cells)
    at = (board.things[name].at for name in things)
    return sum(place is not None and box.gap(place[0], place[1]) < NEAR_M for place in at)


def _way_off(shape: Shape, cells: Sequence[Cell]) -> float:
    """Return what it costs that a pattern is not in the middle [moves]."""
    off = Box.around(cells).off_middle
    return PULL * off + shape.centred * STRONG_PULL * max(0.0, off - CENTRE_M)


def _places(
    shape: Shape, n: int, things: Sequence[str], board: Board
) -> Iterator[tuple[Sequence[Cell], float]]:
    """Yield patterns of places, and what taking one costs as such."""
    begun = [name for name in things if name in board.lessons.moved]
    if shape.by_color:
        row = [board.things[name] for name in begun]
        for cells, named in color_rows(n, row, board.locations, shape.side):
            yield cells[::-1] if shape.reverse else cells, 0.0 if named else UNNAMED
        return
    steps = offsets(shape.shape, n)
    for cells in named_patterns(steps, board.locations, shape.side):
        yield cells, 0.0
    standing = [
        pose_cell(*item.at[:2]) for item in map(board.things.__getitem__, begun) if item.at
    ]
    for cells in patterns_through(standing, steps, shape.side):
        yield cells, UNNAMED
    for pitch, penalty in ((POSE_PITCH_M, UNNAMED), (TIGHT_PITCH_M, UNNAMED + 0.5)):
        for cells in pose_patterns(steps, shape.side, pitch):
            yield cells, penalty


def _layout(
    shape: Shape,
    things: Sequence[str],
    cells: Sequence[Cell],
    cost: float,
    board: Board,
    lessons: Lessons,
    choice: Choice,
) -> Layout | None:
    """Fill a pattern; None where that cannot be."""
    there = {cell.key: board.standing_at(cell) for cell in cells}
    if any(found is None and key in lessons.bad_places for key, found in there.items()):
        return None
    if shape.by_color:
        ordered = sorted(things, key=lambda name: spectral(board.things[name]))
        pairs = list(zip(ordered, cells, strict=True))
    else:
        settled = [item.name for item in there.values() if item is not None]
        chosen = choice.sorted(things, settled)[: len(cells)]
        pairs = list(keeping(chosen, cells, there))
    if not pairs:
        return None
    members = {name for name, _ in pairs}
    box = Box.around((cell for _, cell in pairs), _room(shape, cells))
    kinds = {board.things[name].kind for name in members}
    strangers = tuple(
        item.name
        for item in board.things.values()
        if item.movable
        and item.at
        and item.name not in members
        and box.gap(item.at[0], item.at[1]) < (box.room if item.kind in kinds else FREE_M)
    )
    if any(name in lessons.bad_things or name in board.fixed for name in strangers):
        return None
    cost += sum(not cell.holds(board.things[name]) for name, cell in pairs)
    cost += CLEARING * len(strangers)
    return Layout(pairs, box, strangers, cost)


def _room(shape: Shape, cells: Sequence[Cell]) -> float:
    """Return how far off others must be, so that they seem no part of a pattern [m]."""
    if shape.shape in ('row', 'column') or len(cells) < 2:
        return FREE_M
    pairs = itertools.combinations(cells, 2)
    pitch = min(max(abs(one.x - two.x), abs(one.y - two.y)) for one, two in pairs)
    return max(KEEP_OUT_M, pitch + MORE_THAN_PITCH_M)


def keeping(
    chosen: Sequence[str], cells: Sequence[Cell], there: Mapping[str, Thing | None]
) -> Iterator[tuple[str, Cell]]:
    """Pair things with places; what stands in one of them stays there."""
    stay = {item.name: key for key, item in there.items() if item and item.name in chosen}
    waiting = iter([name for name in chosen if name not in stay])
    by_key = {key: name for name, key in stay.items()}
    for cell in cells:
        name = by_key.get(cell.key) or next(waiting, None)
        if name is not None:
            yield name, cell


def tower(shape: Shape, board: Board, lessons: Lessons, choice: Choice) -> list[str]:
    """
    Choose the things of a tower, bottom first.

    Raises:
        RefusalError: Fewer than two things can be used; says what ruled them out.
    """
    chosen: list[str] = []
    for item in shape.items:
        # What stands at the bottom of a tower may be out of the hand's reach only from above.
        fit = tuple(name for name in item.names if name not in lessons.bad_places)
        chosen += choice.choose(Select(item.said, fit or item.names, item.count))
    chosen = list(dict.fromkeys(chosen))
    if shape.by_color:
        chosen.sort(key=lambda name: spectral(board.things[name]))
    elif any(item.count is None for item in shape.items):
        chosen = _standing_first(chosen, board)
    if len(chosen) < 2 and shape.base is None:
        names = [name for item in shape.items for name in item.names]
        raise RefusalError(f'a tower takes two things at least. {choice.reasons(names)}')
    return chosen


def _standing_first(chosen: list[str], board: Board) -> list[str]:
    """Begin with the tower that stands already."""
    towers = [list(_upwards(board, name)) for name in chosen if board.below(name) not in chosen]
    standing = [name for name in max(towers, key=len, default=[]) if name in chosen]
    return standing + [name for name in chosen if name not in standing]


def _upwards(board: Board, name: str | None) -> Iterator[str]:
    while name is not None:
        yield name
        name = board.on_top_of(name)
