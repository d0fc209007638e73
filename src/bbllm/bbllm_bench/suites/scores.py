"""The table or house at the end of an episode, and its score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bbllm.core.types import SceneObject

ROUNDING = 1e-9
"""What arithmetic may add to a length or angle; no tolerance of a goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalState:
    """A table that has come to rest."""

    objects: Mapping[str, SceneObject]
    """Everything with a name, furniture and locations included, as it rests now."""
    start: Mapping[str, SceneObject]
    """The same before the episode."""
    out_of_reach: frozenset[str] = frozenset()
    """Names of objects and locations that the hand could not come down on at the start."""
    mass_kg: Mapping[str, float] = field(default_factory=dict)
    """Mass of each object, which no scene shows [kg]."""
    fixed: frozenset[str] = frozenset()
    """Names of the objects that are fixed to the table, which no scene shows either."""
    held: str = ''
    """Name of what is in the hand, '' where it is empty."""
    moves: tuple[tuple[str, str], ...] = ()
    """Each object that was picked, and the target of the call that put it down, '' while it is in
    the hand and where it was let go."""
    answer: str | None = None
    """What the person was told in place of a plan; None where the episode did not end so."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a goal; it is met if and only if there is no fault. GCR counts them."""

    text: str
    """The same words at the start and at the end: they name objects, never where they are."""
    fault: str = ''
    """Why it is not met, in a sentence with figures; empty if it is."""

    @property
    def holds(self) -> bool:
        return not self.fault


class Verdict(StrEnum):
    """Whether the goal of an episode was reached."""

    PASSED = 'passed'
    FAILED = 'failed'


@dataclass(frozen=True, slots=True)
class Score:
    """The conditions of a goal, checked; it is reached where all are met."""

    conditions: tuple[Condition, ...]

    @property
    def reason(self) -> str:
        """The first fault, in a sentence; empty where the goal was reached."""
        return next((one.fault for one in self.conditions if one.fault), '')

    @property
    def passed(self) -> bool:
        return not self.reason

    @property
    def verdict(self) -> Verdict:
        return Verdict.PASSED if self.passed else Verdict.FAILED


def at_most(value: float, limit: float) -> bool:
    """Whether a length or angle keeps below a limit, rounding forgiven."""
    return value <= limit + ROUNDING


def at_least(value: float, limit: float) -> bool:
    """Whether a length or angle reaches a limit, rounding forgiven."""
    return value >= limit - ROUNDING


def between(value: float, limits: tuple[float, float]) -> bool:
    """Whether a length or angle is within limits, rounding forgiven."""
    return at_least(value, limits[0]) and at_most(value, limits[1])


def cm(length_m: float) -> str:
    """Return a length [m] in centimetres, to the millimetre."""
    return f'{length_m * 100:.1f} cm'
