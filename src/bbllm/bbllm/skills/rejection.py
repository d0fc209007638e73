"""Why a call was not tried, as data."""

from __future__ import annotations

from dataclasses import dataclass

from bbllm.core.types import Code


@dataclass(frozen=True, slots=True)
class Rejection:
    """A precondition that does not hold; nothing moved."""

    code: Code
    message: str
    """One plain sentence, for the Brain."""
