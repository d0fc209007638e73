"""How a check fails, and what several checks expect."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

Record = Callable[[str, object], None]
"""pytest's `record_property`: what it keeps is shown beside that of another run."""


class CheckFailedError(AssertionError):
    """The driver deviates from what the check describes."""

    def __init__(self, expected: str, seen: object):
        super().__init__(f'Expected {expected}; seen: {seen!r}.')


def expect(holds: object, expected: str, seen: object) -> None:
    if not holds:
        raise CheckFailedError(expected, seen)


def close(values: Iterable[float], tolerance: float) -> Any:
    """Return what equals a sequence of numbers within a tolerance; NaN equals nothing."""
    return pytest.approx([float(value) for value in values], abs=tolerance, rel=0.0)


def rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 4) for value in values]
