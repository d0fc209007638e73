"""Rows by colour: from left to right in the order of the visible spectrum."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.phrases import Side
from bbllm.llm.offline.shapes import (
    GRID_M,
    MAX_PITCH_M,
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


def spectral(thing: Thing) -> float:
    """Return a colour's place in the visible spectrum; what has none comes last."""
    hue = w.HUES.get(thing.color, 999)
    return hue - 360 if w.SPECTRUM_END <= hue < 360 else hue


def color_rows(
    n: int, begun: Sequence[Thing], locations: Sequence[Thing], side: Side | None
) -> Iterator[tuple[tuple[Cell, ...], bool]]:
    """
    Yield rows of places without holes, from left to right, and whether they have names.

    Args:
        n: How many things are to stand there.
        begun: Those of them that the robot has placed; rows of poses may go on where they are.
        locations: The named places.
        side: Only there.
    """
    named = [Cell(item.name, item.at[0], item.at[1]) for item in locations if item.at]
    lines: list[tuple[list[Cell], bool]] = []
    for first in named:
        line = sorted((cell for cell in named if abs(cell.x - first.x) < GRID_M), key=_from_left)
        lines.append((line, True))
    starts = [(item.at[0], item.at[1]) for item in begun if item.at]
    starts += [(x, y) for x in POSES_X_M for y in (0.0, POSE_PITCH_M / 2)]
    for pitch, (x, y) in itertools.product((POSE_PITCH_M, TIGHT_PITCH_M), starts):
        slots = [pose_cell(x, y - i * pitch) for i in range(-9, 10)]
        lines.append(([cell for cell in slots if within_range(cell)], False))
    for line, has_names in lines:
        usable = [cell for cell in line if on_side(cell, side)]
        for start in range(len(usable) - n + 1):
            cells = tuple(usable[start : start + n])
            gaps = [left.y - right.y for left, right in itertools.pairwise(cells)]
            if all(MIN_PITCH_M <= gap <= MAX_PITCH_M for gap in gaps):
                yield cells, has_names


def _from_left(cell: Cell) -> float:
    return -cell.y
