"""Patterns and towers: which thing goes where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.board import Board
from bbllm.llm.offline.choosing import Choice
from bbllm.llm.offline.goals import Shape
from bbllm.llm.offline.lessons import Lessons
from bbllm.llm.offline.phrases import RefusalError, Select
from bbllm.llm.offline.shapes import SIZES, Cell, named_patterns, offsets, pose_patterns
from bbllm.llm.offline.sight import Thing

Pairs = list[tuple[str, Cell]]

APART_M = 0.11
"""How far a pattern of poses is from things that do not belong to it [m]."""


def arrange(shape: Shape, board: Board, lessons: Lessons, choice: Choice) -> Pairs:
    """
    Give each place of a pattern a thing.

    Of all patterns that the table has room for, the one that most things are in already is
    taken, and the first of those.

    Raises:
        RefusalError: Too few things, or no room; says what ruled them out.
    """
    things = [name for item in shape.items for name in choice.choose(item)]
    things = list(dict.fromkeys(things))
    sizes = SIZES.get(shape.shape, (len(things),))
    for n in sizes:
        steps = offsets(shape.shape, n)
        named = named_patterns(steps, board.locations, shape.side)
        for found in (named, pose_patterns(steps, shape.side)):
            fits = [
                pairs
                for cells in found
                if n <= len(things) and _free(cells, things, board, lessons)
                for pairs in [_pairs(things, cells, board, choice, by_color=shape.by_color)]
                if found is named or _apart(pairs, board)
            ]
            if fits:
                return max(fits, key=lambda pairs: _in_place(pairs, board))
    names = [name for item in shape.items for name in item.names]
    names += [item.name for item in board.locations]
    raise RefusalError(
        f'{len(things)} things can be used and {" or ".join(map(str, sizes))} are needed, with as '
        f'many free places in the pattern that was asked for. {choice.reasons(names)}'
    )


def _in_place(pairs: Pairs, board: Board) -> int:
    return sum(cell.holds(board.things[name]) for name, cell in pairs)


def _free(cells: Sequence[Cell], things: Sequence[str], board: Board, lessons: Lessons) -> bool:
    """Tell whether all places can be used and hold nothing but what may be part of the pattern."""
    for cell in cells:
        found = board.standing_at(cell)
        if found is None and cell.key in lessons.bad_places:
            return False
        if found is not None and found.name not in things:
            return False
    return True


def _apart(pairs: Pairs, board: Board) -> bool:
    """Tell whether a pattern keeps its distance from all that is not part of it."""
    members = {name for name, _ in pairs}
    others = [item for item in board.things.values() if item.movable and item.name not in members]
    return not any(cell.near(item, APART_M) for _, cell in pairs for item in others)


def _pairs(
    things: Sequence[str], cells: Sequence[Cell], board: Board, choice: Choice, *, by_color: bool
) -> Pairs:
    if by_color:
        chosen = choice.sorted(things)[: len(cells)]
        chosen.sort(key=lambda name: w.HUES.get(board.things[name].color, 361))
        return list(zip(chosen, cells, strict=True))
    there = {cell.key: board.standing_at(cell) for cell in cells}
    settled = [item.name for item in there.values() if item is not None]
    chosen = choice.sorted(things, settled)[: len(cells)]
    return list(keeping(chosen, cells, there))


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
        chosen.sort(key=lambda name: w.HUES.get(board.things[name].color, 361))
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
