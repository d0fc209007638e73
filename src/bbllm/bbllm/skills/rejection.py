"""Why a call was not tried, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.types import Code


@dataclass(frozen=True, slots=True)
class Rejection:
    """A precondition that does not hold; nothing moved."""

    code: Code
    message: str
    """One plain sentence, for the Brain."""


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does: `a`, `a and b`, `a, b and c`."""
    if not names:
        return 'something'
    if len(names) == 1:
        return names[0]
    return f'{", ".join(names[:-1])} and {names[-1]}'
