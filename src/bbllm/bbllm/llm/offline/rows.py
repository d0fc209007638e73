"""Rows by colour: from left to right in the order of the visible spectrum, gaps allowed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.board import Board
from bbllm.llm.offline.phrases import Side
from bbllm.llm.offline.shapes import (
    GRID_M,
    MIN_PITCH_M,
    POSE_PITCH_M,
    POSES_X_M,
    TIGHT_PITCH_M,
    Cell,
    on_side,
    pose_cell,
    within_range,
)
from bbllm.llm.offline.sight import Thing

MOST_GAPS = 4
"""How many places of a row may stay empty: what is out of reach leaves one."""


def spectral(thing: Thing) -> float:
    """Return a colour's place in the visible spectrum; what has none comes last."""
    hue = w.HUES.get(thing.color, 999)
    return hue - 360 if w.SPECTRUM_END <= hue < 360 else hue


def color_rows(
    n: int, begun: Sequence[Thing], locations: Sequence[Thing], side: Side | None
) -> Iterator[tuple[tuple[Cell, ...], bool]]:
    """
    Yield rows of places from left to right, and whether they have names.

    Args:
        n: How many things are to stand there.
        begun: Those of them that the robot has placed. Only rows that one of them is part of
            have more places than that.
        locations: The named places.
        side: Only there.
    """
    named = [Cell(item.name, item.at[0], item.at[1]) for item in locations if item.at]
    lines: list[tuple[list[Cell], bool]] = []
    for first in named:
        line = sorted((cell for cell in named if abs(cell.x - first.x) < GRID_M), key=_from_left)
        if all(a.y - b.y >= MIN_PITCH_M for a, b in itertools.pairwise(line)):
            lines.append((line, True))
    starts = [(item.at[0], item.at[1]) for item in begun if item.at]
    starts += [(x, y) for x in POSES_X_M for y in (0.0, POSE_PITCH_M / 2)]
    for pitch, (x, y) in itertools.product((POSE_PITCH_M, TIGHT_PITCH_M), starts):
        slots = [pose_cell(x, y - i * pitch) for i in range(-9, 10)]
        lines.append(([cell for cell in slots if within_range(cell)], False))
    for line, has_names in lines:
        usable = [cell for cell in line if on_side(cell, side)]
        goes_on = any(cell.holds(thing) for cell in usable for thing in begun)
        for length in range(n, min(n + goes_on * MOST_GAPS, len(usable)) + 1):
            for start in range(len(usable) - length + 1):
                yield tuple(usable[start : start + length]), has_names


def _from_left(cell: Cell) -> float:
    return -cell.y


def by_color(things: Sequence[str], cells: Sequence[Cell], board: Board) -> list[tuple[str, Cell]]:
    """
    Give things in the order of their colours places in the order of a row, with the fewest moves.

    Args:
        things: Names.
        cells: Places, that of the first colour first; the first and the last are to be taken.
        board: Where things are.

    Returns:
        Things and places; none where there are too few places.
    """
    ordered = sorted(things, key=lambda name: spectral(board.things[name]))
    n, spare = len(ordered), len(cells) - len(ordered)
    if n == 0 or spare < 0:
        return []

    # moves[k]: the fewest moves for the things so far, the last of which left k places free.
    moves: list[float] = [0.0] * (spare + 1)
    taken: list[list[int]] = []
    for i, name in enumerate(ordered):
        costs, froms = [], []
        for k in range(spare + 1):
            before = [0] if i == 0 else range(k + 1)
            j = min(before, key=lambda j: moves[j])
            forced = (i == 0 and k > 0) or (i == n - 1 and n > 1 and k < spare)
            here = 1.0 - cells[i + k].holds(board.things[name])
            costs.append(float('inf') if forced else moves[j] + here)
            froms.append(j)
        moves, taken = costs, [*taken, froms]
    k = min(range(spare + 1), key=lambda k: moves[k])
    if moves[k] == float('inf'):
        return []
    pairs: list[tuple[str, Cell]] = []
    for i in range(n - 1, -1, -1):
        pairs.append((ordered[i], cells[i + k]))
        k = taken[i][k]
    return pairs[::-1]
