"""What goals about hidden properties share: an empty hand, and fixed things where they were."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.parts import Part, at_most, cm
from bbllm.bench.suites.situation import Finding


def shared_parts(table: Table, still_m: float) -> list[Part]:
    """Return that the hand has let go, and that what is fixed to the table is where it was."""
    holding = f'the hand still holds {table.held}.' if table.held else ''
    return [
        Part('the hand is empty', holding),
        *(Part(f'{name} where it was', _moved(table, name, still_m)) for name in fixed(table)),
    ]


def shared_look(table: Table, still_m: float) -> Finding:
    """Look at the same from where things were: what stands there now, and what is held."""
    if table.held:
        return Finding(False, f'{table.held} is in the hand.')
    for name in fixed(table):
        if name not in table.now:
            return Finding(False, f'{name} is gone.')
        was, now = table.start[name].pose.position_m, table.now[name].pose.position_m
        across = abs(complex(*was[:2]) - complex(*now[:2]))
        if not at_most(abs(complex(across, now[2] - was[2])), still_m):
            return Finding(False, f'{name} is not where it was, although it is fixed.')
    return Finding(True)


def fixed(table: Table) -> Sequence[str]:
    """Return the names of what is fixed to the table, in the order of the start."""
    return [name for name in table.movables if name in table.fixed]


def _moved(table: Table, name: str, still_m: float) -> str:
    if name not in table.now:
        return f'{name} is gone.'
    way = math.dist(table.now[name].pose.position_m, table.start[name].pose.position_m)
    if at_most(way, still_m):
        return ''
    return f'{name} has moved by {cm(way)} although it is fixed; {cm(still_m)} are allowed.'
