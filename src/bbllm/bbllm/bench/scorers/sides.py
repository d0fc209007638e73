"""Left and right, in numbers and in words."""

from __future__ import annotations

from bbllm.bench.scorers.table import Table
from bbllm.bench.suites.parts import at_least, cm

SIGNS = {'left': 1.0, 'right': -1.0}


def side_fault(table: Table, name: str, side: str, margin_m: float) -> str:
    """Say why a thing does not stand on a side, at least a margin from the middle line."""
    inside = SIGNS[side] * table.xy(name)[1]
    if table.fall(name):
        return table.fall(name)
    if at_least(inside, margin_m):
        return ''
    if inside >= 0:
        return f'{name} is only {cm(inside)} {side} of the middle line, not {cm(margin_m)}.'
    other = 'right' if side == 'left' else 'left'
    return f'{name} is {cm(-inside)} {other} of the middle line.'
