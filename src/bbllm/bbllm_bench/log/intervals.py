"""
How sure a figure is: intervals for rates, means and paired differences.

Sources: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
JASA 22 (1927) 209-212, for rates; R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872 (why
Wilson's) and 2635-2650 (paired differences, method 10); Q. McNemar, Psychometrika 12 (1947)
153-157, in its exact binomial form; B. Efron and R. Tibshirani, An Introduction to the Bootstrap
(1993), chapter 13, for means. All but Newcombe's are SciPy's, which is imported when the first
interval is computed: that takes half a second.

Everything is a pure function of its arguments and does not depend on their order.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import PlainSerializer

CONFIDENCE = 0.95
DIGITS = 6
"""Digits after the point in files: what lies behind is rounding noise."""
RESAMPLES = 10_000
SEED = 19_270_101
"""Any number would do; that it never changes makes two summaries of the same results equal."""
_DRAWS_AT_ONCE = 1_000_000
Interval = tuple[float, float]


def rounded(value: float) -> float:
    """Return a figure without its rounding noise."""
    return round(value, DIGITS) + 0.0  # the same zero of both zeros


Figure = Annotated[float, PlainSerializer(rounded)]
"""A number that files have without its rounding noise."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval."""

    value: Figure | None
    """None where there was nothing to measure."""
    low: Figure | None
    high: Figure | None
    """Both None where no interval can be given: fewer than two values, or all of them equal."""
    n: int
    """Over how many episodes or pairs."""


def wilson(successes: int, n: int) -> Interval:
    """
    Return the score interval of a rate; of no trials at all, everything from 0 to 1.

    Raises:
        ValueError: More successes than trials, or fewer than none.
    """
    if not 0 <= successes <= n:
        raise ValueError(f'{successes} successes in {n} trials cannot be.')
    if n == 0:
        return (0.0, 1.0)
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(CONFIDENCE, method='wilson')
    return (float(interval.low), float(interval.high))


def rate_of(successes: int, n: int) -> Estimate:
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
    from scipy.stats import bootstrap

    interval = bootstrap(
        (ordered,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, _DRAWS_AT_ONCE // n),
        confidence_level=CONFIDENCE,
        method='percentile',
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    # Rounding must not carry a mean out of the values.
    low, high = max(float(interval.low), least), min(float(interval.high), most)
    return Estimate(math.fsum(ordered.tolist()) / n, low, high, n)


def paired_rate_difference(both: int, only_a: int, only_b: int, neither: int) -> Estimate:
    """Return rate of A minus rate of B over so many pairs, by Newcombe's method 10."""
    n = both + only_a + only_b + neither
    if n == 0:
        return Estimate(None, None, None, 0)
    a, b = (both + only_a) / n, (both + only_b) / n
    (a_low, a_high), (b_low, b_high) = wilson(both + only_a, n), wilson(both + only_b, n)
    # The correlation of the two outcomes, a positive one corrected for continuity.
    product = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    excess = float(both * neither - only_a * only_b)
    excess = max(excess - n / 2, 0.0) if excess > 0 else excess
    phi = excess / math.sqrt(product) if product else 0.0

    def spread(first: float, second: float) -> float:
        # Rounding may leave a hair less than nothing where phi is 1.
        return math.sqrt(max(first**2 - 2 * phi * first * second + second**2, 0.0))

    difference = (only_a - only_b) / n
    low = difference - spread(a - a_low, b_high - b)
    high = difference + spread(a_high - a, b - b_low)
    return Estimate(difference, max(low, -1.0), min(high, 1.0), n)


def mcnemar(only_a: int, only_b: int) -> float:
    """Return how probable a split at least this uneven is if neither is better, two-sided."""
    from scipy.stats import binomtest

    n = only_a + only_b
    return float(binomtest(only_a, n).pvalue) if n else 1.0
