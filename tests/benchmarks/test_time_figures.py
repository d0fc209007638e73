"""The arithmetic of `bbllm bench time`: ratios, intervals, goals, and two runs side by side."""

import dataclasses

import numpy as np
import pytest

from bbllm_bench.benchmarks.time.figures import (
    Figure,
    Goal,
    Measured,
    Of,
    goals_met,
    is_worse,
    p95_of,
    quotient_of,
    ratio_of,
    value_of,
)

FIGURE = Figure(
    key='x', title='a figure', unit='s', beside='a bound', reference='bound', goals=(),
    centre='mean',
)  # fmt: skip
SPEED = dataclasses.replace(FIGURE, reference='machine', more_is_better=True)


def test_ratio_is_that_of_the_means_and_lies_in_its_interval() -> None:
    measured = Measured(values=(3.0, 4.0, 5.0), references=(2.0, 2.0, 4.0))

    ratio = ratio_of(FIGURE, measured)

    assert ratio is not None
    assert ratio.value == pytest.approx(4.0 / (8.0 / 3))
    assert ratio.low < ratio.value < ratio.high  # type: ignore[operator]


def test_pairs_are_resampled_together() -> None:
    references = tuple(np.linspace(1.0, 9.0, 20).tolist())
    values = tuple(1.5 * reference for reference in references)

    paired = ratio_of(FIGURE, Measured(values=values, references=references, paired=True))
    apart = ratio_of(FIGURE, Measured(values=values, references=references))

    # Each value is one and a half times its own reference, so that only pairs show no spread.
    assert paired is not None
    assert apart is not None
    assert (paired.low, paired.high) == pytest.approx((1.5, 1.5))
    assert apart.high - apart.low > 0.3  # type: ignore[operator]


def test_the_interval_covers_the_mean_as_often_as_it_claims() -> None:
    dice = np.random.default_rng(3)
    covered = 0
    for _ in range(100):
        drawn = dice.normal(10.0, 2.0, 40)
        estimate = value_of(FIGURE, Measured(values=tuple(drawn.tolist())))
        covered += estimate.low <= 10.0 <= estimate.high  # type: ignore[operator]

    assert 88 <= covered <= 99


def test_one_measurement_has_no_interval() -> None:
    estimate = value_of(FIGURE, Measured(values=(2.0,)))

    assert (estimate.value, estimate.low, estimate.high) == (2.0, None, None)


def test_a_goal_is_met_where_all_its_numbers_are() -> None:
    measured = Measured(values=(1.0, 1.0, 1.0, 3.0), references=(1.0,))
    median = dataclasses.replace(FIGURE, centre='median', goals=(Goal(Of.VALUE, 1.0),))
    tail = dataclasses.replace(median, goals=(*median.goals, Goal(Of.P95, 2.0)))
    fast = dataclasses.replace(FIGURE, goals=(Goal(Of.RATIO, 1.5, at_least=True),))

    assert goals_met(median, measured) is True
    assert p95_of(measured) == pytest.approx(2.7)
    assert goals_met(tail, measured) is False
    assert goals_met(fast, measured) is True
    assert goals_met(fast, Measured(values=(9.0,))) is False  # without a reference, no ratio
    assert goals_met(FIGURE, measured) is None


def test_runs_are_compared_by_ratios_where_the_reference_measures_the_machine() -> None:
    idle = Measured(values=(10.0, 10.0), references=(5.0, 5.0))
    busy = Measured(values=(30.0, 30.0), references=(15.0, 15.0))

    assert quotient_of(SPEED, busy, idle).value == pytest.approx(1.0)
    assert quotient_of(FIGURE, busy, idle).value == pytest.approx(3.0)


def test_runs_of_the_same_cases_are_compared_case_by_case() -> None:
    figure = dataclasses.replace(FIGURE, same_cases=True)
    base = Measured(values=tuple(np.linspace(1.0, 9.0, 20).tolist()))
    less = Measured(values=tuple(0.9 * value for value in base.values))

    by_case = quotient_of(figure, less, base, same_seed=True)
    apart = quotient_of(figure, less, base)

    assert (by_case.low, by_case.high) == pytest.approx((0.9, 0.9))
    assert by_case.value == apart.value
    assert apart.high - apart.low > 0.2  # type: ignore[operator]


def test_worse_is_more_time_or_less_speed_by_over_a_tenth() -> None:
    base, more = Measured(values=(10.0, 10.0)), Measured(values=(11.5, 11.5))

    assert is_worse(FIGURE, quotient_of(FIGURE, more, base))
    assert not is_worse(FIGURE, quotient_of(FIGURE, base, more))
    assert is_worse(SPEED, quotient_of(SPEED, base, more))
    assert not is_worse(SPEED, quotient_of(SPEED, more, base))
    assert not is_worse(FIGURE, quotient_of(FIGURE, base, base))
