"""
Figures of a run: repeated measurements beside a reference, their ratio and its interval.

A reference is measured in the same run. It is of one of two kinds. One is what the figure could
be at best (`bound`). The other is a fixed piece of work (`machine`) that takes longer on a slower
or busier machine, just as the figure does: only its ratio can be compared between two runs.

Intervals are percentile bootstraps (B. Efron and R. Tibshirani, An Introduction to the Bootstrap,
1993, chapter 13), of paired measurements by pairs. They have the spread within a run, not that
between machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np

from bbllm.arm.driver import Array
from bbllm_bench.log.intervals import CONFIDENCE, SEED, Estimate

RESAMPLES = 4000
WORSE = 1.1
"""A figure is marked that is worse than that of another run by more than this factor."""


class Of(StrEnum):
    """Which number of a figure a goal is about."""

    VALUE = 'value'
    P95 = 'p95'
    RATIO = 'ratio'


@dataclass(frozen=True, slots=True)
class Goal:
    """A number that shall not be exceeded, or with `at_least` shall be reached."""

    of: Of
    limit: float
    at_least: bool = False

    def met(self, number: float) -> bool:
        return number >= self.limit if self.at_least else number <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What repeated measurements gave."""

    values: tuple[float, ...]
    references: tuple[float, ...] = ()
    """Of the reference, in the same unit or in its own; empty where there is none."""
    paired: bool = False
    """Whether each value was measured together with the reference in the same place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the table: what is measured, beside what, and the goal."""

    key: str
    """How `--only` names it."""
    title: str
    unit: str
    beside: str = ''
    """What the reference is."""
    reference: Literal['bound', 'machine'] = 'bound'
    goals: tuple[Goal, ...] = ()
    centre: Literal['mean', 'median'] = 'median'
    """What stands for all measurements."""
    tail: bool = False
    """Whether the 95th percentile of the values is of interest, too."""
    more_is_better: bool = False
    same_cases: bool = False
    """Whether runs with the same seed measure the same cases in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure, measured or not."""

    key: str
    measured: Measured | None = None
    missing: str = ''
    """Why it was not measured."""

    def __post_init__(self) -> None:
        if (self.measured is None) != bool(self.missing):
            raise ValueError(f'{self.key} is either measured, or there is a reason why not.')


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeReport:
    """Everything that one run measured."""

    machine: dict[str, str]
    versions: dict[str, str]
    """Of the package that was measured, its commit among them."""
    load: tuple[float, float]
    """Load average of the last minute, before and after: who else was at work."""
    seed: int
    quick: bool
    wall_s: float
    rows: tuple[Row, ...]

    def row(self, key: str) -> Row:
        found = next((row for row in self.rows if row.key == key), None)
        return found or Row(key=key, missing='not asked for')


def value_of(figure: Figure, measured: Measured) -> Estimate:
    """Return the mean or median of the values, with its interval."""
    values = np.asarray(measured.values)
    return _estimate(_centre(figure, values), _resampled(figure, values), len(values))


def p95_of(measured: Measured) -> float:
    return float(np.percentile(measured.values, 95))


def reference_of(figure: Figure, measured: Measured) -> float | None:
    """Return the mean or median of the references; None without any."""
    return _centre(figure, np.asarray(measured.references)) if measured.references else None


def ratio_of(figure: Figure, measured: Measured) -> Estimate | None:
    """Return value over reference, with its interval; None without a reference."""
    if not measured.references:
        return None
    return _estimate(_ratio(figure, measured), _ratios(figure, measured), len(measured.values))


def quotient_of(
    figure: Figure, one: Measured, other: Measured, *, same_seed: bool = False
) -> Estimate:
    """
    Return how many times the other run's figure this one's is, with the interval.

    Where the reference measures the machine, ratios are compared instead of values, so that a
    busier machine does not count. Runs of the same cases are resampled case by case.
    """
    n, n_other = len(one.values), len(other.values)
    by_case = figure.same_cases and same_seed and n == n_other
    seeds = (SEED, SEED if by_case else SEED + 1)
    if figure.reference == 'machine' and one.references and other.references:
        centres = [_ratio(figure, measured) for measured in (one, other)]
        draws = [_ratios(figure, of, seed=seed) for of, seed in zip((one, other), seeds)]
    else:
        values = [np.asarray(measured.values) for measured in (one, other)]
        centres = [_centre(figure, of) for of in values]
        draws = [_resampled(figure, of, seed=seed) for of, seed in zip(values, seeds)]
    return _estimate(centres[0] / centres[1], draws[0] / draws[1], min(n, n_other))


def is_worse(figure: Figure, quotient: Estimate) -> bool:
    """Return whether a quotient is that of a figure that has become worse by over a tenth."""
    assert quotient.value is not None
    by = 1 / quotient.value if figure.more_is_better else quotient.value
    return by > WORSE


def goals_met(figure: Figure, measured: Measured) -> bool | None:
    """Return whether all goals of a figure are met; None where it has none."""
    numbers = {
        Of.VALUE: value_of(figure, measured).value,
        Of.P95: p95_of(measured),
        Of.RATIO: getattr(ratio_of(figure, measured), 'value', None),
    }
    if not figure.goals:
        return None
    return all((n := numbers[goal.of]) is not None and goal.met(n) for goal in figure.goals)


def _centre(figure: Figure, values: Array) -> float:
    return float(np.mean(values) if figure.centre == 'mean' else np.median(values))


def _resampled(figure: Figure, values: Array, *, seed: int = SEED) -> Array:
    """Return means or medians of resamples, shape (RESAMPLES,)."""
    rows = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    centre = np.mean if figure.centre == 'mean' else np.median
    return np.asarray(centre(values[rows], axis=1))


def _ratio(figure: Figure, measured: Measured) -> float:
    references = np.asarray(measured.references)
    return _centre(figure, np.asarray(measured.values)) / _centre(figure, references)


def _ratios(figure: Figure, measured: Measured, *, seed: int = SEED) -> Array:
    """Return ratios of resamples; of paired measurements both draw the same pairs."""
    values, references = np.asarray(measured.values), np.asarray(measured.references)
    other = seed if measured.paired else seed + 100
    return _resampled(figure, values, seed=seed) / _resampled(figure, references, seed=other)


def _estimate(value: float, resamples: Array, n: int) -> Estimate:
    # One measurement has no spread that could be resampled.
    if n < 2:
        return Estimate(value, None, None, n)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(resamples, [tail, 100 - tail])
    return Estimate(value, float(low), float(high), n)
