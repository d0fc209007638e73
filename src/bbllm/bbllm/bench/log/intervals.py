"""
How sure a figure is: intervals for rates, means and paired differences.

Sources: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
JASA 22 (1927) 209-212, for rates; R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872 (why
Wilson's) and 2635-2650 (paired differences, method 10); Q. McNemar, Psychometrika 12 (1947)
153-157, in its exact binomial form; B. Efron and R. Tibshirani, An Introduction to the Bootstrap
(1993), chapter 13, for means. Written here and not taken from statsmodels, which would bring
scipy and pandas for four formulas.

Everything is a pure function of its arguments and does not depend on their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
RESAMPLES = 10_000
SEED = 19_270_101
"""Any number would do; that it never changes makes two summaries of the same results equal."""
_DRAWS_AT_ONCE = 1_000_000

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval."""

    value: float | None
    """None where there was nothing to measure."""
    low: float | None
    high: float | None
    """Both None where no interval can be given: fewer than two values, or all of them equal."""
    n: int
    """Over how many episodes or pairs."""


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """
    Return the score interval of a rate; of no trials at all, everything from 0 to 1.

    Raises:
        ValueError: More successes than trials, or fewer than none.
    """
    if not 0 <= successes <= n:
        raise ValueError(f'{successes} successes in {n} trials cannot be.')
    if n == 0:
        return (0.0, 1.0)
    z, rate = _z(confidence), successes / n
    shrink = 1 + z * z / n
    middle = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # At the ends the bound is the rate itself; rounding must not push it past that.
    low = 0.0 if successes == 0 else min(middle - half, rate)
    high = 1.0 if successes == n else max(middle + half, rate)
    return (low, high)


def rate_of(successes: int, n: int) -> Estimate:
    """Return a rate with Wilson's interval."""
    return Estimate(successes / n if n else None, *wilson(successes, n), n)


def mean_of(values: Iterable[float]) -> Estimate:
    """
    Return a mean with a percentile bootstrap interval.

    Of fewer than two values, or where all are equal, there is no spread to resample: the
    interval is None instead of a width of zero, which would claim to be sure.
    """
    ordered = np.sort(np.asarray(list(values), dtype=float))  # (n,)
    n = len(ordered)
    if n == 0:
        return Estimate(None, None, None, 0)
    least, most = float(ordered[0]), float(ordered[-1])
    if least == most:
        return Estimate(least, None, None, n)
    low, high = np.percentile(_resampled_means(ordered), _tails(CONFIDENCE)).tolist()
    # Rounding must not carry a mean out of the values.
    return Estimate(math.fsum(ordered.tolist()) / n, max(low, least), min(high, most), n)


def paired_rate_difference(both: int, only_a: int, only_b: int, neither: int) -> Estimate:
    """
    Return rate of A minus rate of B over pairs, with Newcombe's interval (method 10).

    Args:
        both: Pairs in which both succeeded.
        only_a: Pairs in which only A did.
        only_b: Pairs in which only B did.
        neither: Pairs in which none did.
    """
    n = both + only_a + only_b + neither
    if n == 0:
        return Estimate(None, None, None, 0)
    a, b = (both + only_a) / n, (both + only_b) / n
    (a_low, a_high), (b_low, b_high) = wilson(both + only_a, n), wilson(both + only_b, n)
    phi = _phi(both, only_a, only_b, neither)
    difference = (only_a - only_b) / n
    low = difference - _add_squares(a - a_low, b_high - b, phi)
    high = difference + _add_squares(a_high - a, b - b_low, phi)
    return Estimate(difference, max(low, -1.0), min(high, 1.0), n)


def mcnemar(only_a: int, only_b: int) -> float:
    """Return how probable a split at least this uneven is if neither is better, two-sided."""
    n = only_a + only_b
    tail = sum(math.comb(n, i) for i in range(min(only_a, only_b) + 1))
    # Whole numbers divide exactly; a float of 2**n would overflow above a thousand.
    return min(1.0, 2 * tail / (1 << n))


def _phi(both: int, only_a: int, only_b: int, neither: int) -> float:
    """Return the correlation of the two outcomes, a positive one corrected for continuity."""
    n = both + only_a + only_b + neither
    product = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if product == 0:
        return 0.0
    excess = float(both * neither - only_a * only_b)
    if excess > 0:
        excess = max(excess - n / 2, 0.0)
    return excess / math.sqrt(product)


def _add_squares(first: float, second: float, phi: float) -> float:
    # Rounding may leave a hair less than nothing where phi is 1.
    return math.sqrt(max(first**2 - 2 * phi * first * second + second**2, 0.0))


def _resampled_means(ordered: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Draw as many samples with replacement, each of shape (n,), and return their means."""
    rng = np.random.default_rng(SEED)
    n = len(ordered)
    rows = max(1, _DRAWS_AT_ONCE // n)
    means = [
        ordered[rng.integers(0, n, (min(rows, RESAMPLES - done), n))].mean(axis=1)
        for done in range(0, RESAMPLES, rows)
    ]
    return np.concatenate(means)  # (RESAMPLES,)


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _tails(confidence: float) -> Interval:
    return (50 * (1 - confidence), 50 * (1 + confidence))
