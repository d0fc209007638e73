"""Parts of a goal, each with the sentence that says why it does not hold; words for figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.bench.suites.situation import Condition, Finding

ROUNDING = 1e-9
"""What arithmetic may add to a length or angle; no tolerance of a goal."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a goal; it holds where and only where nothing can be said against it."""

    text: str
    """The same words before and after an episode: it names things, never where they are."""
    fault: str = ''
    """Why it does not hold, in a sentence with figures; empty where it holds."""

    @property
    def condition(self) -> Condition:
        return Condition(self.text, not self.fault)


def finding_of(parts: Sequence[Part]) -> Finding:
    """Return what parts say together: they pass where all hold, or the first fault is why not."""
    for part in parts:
        if part.fault:
            return Finding(False, part.fault)
    return Finding(True)


def at_most(value: float, limit: float) -> bool:
    """Tell whether a length or angle keeps below a limit, rounding forgiven."""
    return value <= limit + ROUNDING


def at_least(value: float, limit: float) -> bool:
    """Tell whether a length or angle reaches a limit, rounding forgiven."""
    return value >= limit - ROUNDING


def cm(length_m: float) -> str:
    """Say a length [m] in centimetres, to the millimetre."""
    return f'{length_m * 100:.1f} cm'
