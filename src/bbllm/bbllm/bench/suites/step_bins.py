"""Tasks by the least number of steps they take, in the bins that FLTRNN reports."""

from __future__ import annotations

EDGES = (10, 15, 20, 25, 30, 35, 40)
"""Greatest least number of steps of each bin but the last; FLTRNN, figure on complexity."""
BINS = (f'<= {EDGES[0]}', *(f'{a + 1}-{b}' for a, b in zip(EDGES, EDGES[1:], strict=False)),
        f'> {EDGES[-1]}')  # fmt: skip
"""Names of the bins, in order."""


def bin_of(least_steps: int) -> str:
    """Return the name of the bin of a task."""
    return BINS[sum(least_steps > edge for edge in EDGES)]
