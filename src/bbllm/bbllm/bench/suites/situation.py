"""What a checker sees, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bbllm.core.types import SceneObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A table that has come to rest."""

    objects: Mapping[str, SceneObject]
    """Everything with a name, furniture and locations included, as it rests now."""
    start: Mapping[str, SceneObject]
    """The same before the episode."""
    out_of_reach: frozenset[str] = frozenset()
    """Names of objects and locations that the hand could not come down on at the start."""
    mass_kg: Mapping[str, float] = field(default_factory=dict)
    """What each thing weighs, which no scene shows [kg]."""
    fixed: frozenset[str] = frozenset()
    """Names of the things that are fixed to the table, which no scene shows either."""
    held: str = ''
    """Name of what is in the hand, '' where it is empty."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a goal; GCR counts them."""

    text: str
    """The same words at the start and at the end of an episode, for example `red_cube right`."""
    holds: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """What one formulation of a goal says of a table."""

    passed: bool
    reason: str = ''
    """Why not, in one sentence with figures; empty where it passed."""


class Verdict(str, Enum):
    """What becomes of an episode."""

    PASSED = 'passed'
    FAILED = 'failed'
    DISPUTED = 'disputed'
    """Two formulations of the goal disagree; never counted as passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the formulations of a goal say together."""

    verdict: Verdict
    reason: str
    """Why not passed, or what is disputed; empty where passed."""
    conditions: tuple[Condition, ...]
    """All hold where and only where the first formulation passed."""
    findings: tuple[Finding, ...]
    """One for each formulation."""
