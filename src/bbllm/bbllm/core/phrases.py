"""Parts of sentences: names in a row, and counted nouns."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], none: str = '') -> str:
    """Join names as in a sentence: `a`, `a and b`, `a, b and c`; `none` where there are none."""
    if len(names) < 2:
        return names[0] if names else none
    return f'{", ".join(names[:-1])} and {names[-1]}'


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: `1 cube`, `3 cubes`."""
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'
