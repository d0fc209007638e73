"""A check, how it fails, and the themes in which checks are grouped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bbllm.core.errors import BbllmError

Evidence = Mapping[str, object]
"""What was seen, in values that JSON can carry: shown beside that of another run."""
Judge = Callable[[Any], Evidence]
"""Takes a Session; returns what was seen, or raises CheckFailedError."""


class Need(Enum):
    """What a check needs beside a driver that runs."""

    NOTHING = 'nothing'
    """It only looks."""
    MOTION = 'motion'
    """It sends goals to the arm, switches controllers or sets parameters of the robot."""
    HAND = 'hand'
    """It moves the fingers, which hold nothing."""
    STOP = 'stop'
    """Somebody has to make the robot stop while it moves."""


class CheckFailedError(BbllmError):
    """The driver does something else than the check says."""

    def __init__(self, expected: str, seen: object):
        super().__init__(f'Expected {expected}; seen: {_short(seen)}.')
        self.expected = expected
        self.seen = seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a client can rely on."""

    name: str
    """Kebab-case; never changes, so that runs can be compared."""
    says: str
    """The whole of it in one sentence."""
    source: str
    """Where it is written: `fr` is reference/franka.md, others are files of branch jazzy."""
    need: Need
    theme: str
    """What it is about."""
    hand: bool
    """Whether it makes sense only where a hand is mounted."""
    run: Judge


@dataclass(slots=True, kw_only=True)
class Theme:
    """A group of checks that look at the same thing."""

    title: str
    need: Need
    hand: bool = False
    subject: Callable[[Any], Any] = lambda session: session.driver
    """What of the Session the functions of this theme are given."""
    checks: list[Check] = field(default_factory=list)
    """In the order in which they are run."""

    def check(self, source: str) -> Callable[[Judge], Judge]:
        """Add a function: its name is that of the check, its docstring what the check says."""

        def add(function: Judge) -> Judge:
            self.checks.append(
                Check(
                    name=function.__name__.replace('_', '-'),
                    says=' '.join((function.__doc__ or '').split()),
                    source=source,
                    need=self.need,
                    theme=self.title,
                    hand=self.hand,
                    run=lambda session: function(self.subject(session)),
                )
            )
            return function

        return add


def expect(holds: object, expected: str, seen: object) -> None:
    """Raise CheckFailedError unless it holds."""
    if not holds:
        raise CheckFailedError(expected, seen)


def expect_equal(what: str, seen: object, wanted: object) -> None:
    """Raise CheckFailedError unless both are the same."""
    if seen != wanted:
        raise CheckFailedError(f'{what} {_short(wanted)}', seen)


def expect_close(what: str, seen: Any, wanted: Any, tolerance: float) -> None:
    """Raise CheckFailedError unless all numbers of two sequences agree within a tolerance."""
    seen, wanted = [float(value) for value in seen], [float(value) for value in wanted]
    same = len(seen) == len(wanted)
    # Not `>`: a value that is no number is close to nothing.
    if not same or not all(abs(a - b) <= tolerance for a, b in zip(seen, wanted, strict=True)):
        raise CheckFailedError(f'{what} within {tolerance:g} of {rounded(wanted)}', rounded(seen))


def rounded(values: Any) -> list[float]:
    """Return numbers as people read them, and as two runs can be compared."""
    return [round(float(value), 4) for value in values]


def _short(value: object) -> str:
    text = f'"{value.rstrip(".")}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 300 else f'{text[:297]}...'
