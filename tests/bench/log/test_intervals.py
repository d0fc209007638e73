"""Intervals against published values, and what must hold for any data."""

import math
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm_bench.log.intervals import mcnemar, mean_of, paired_rate_difference, rate_of, wilson

counts = st.integers(0, 60)
figures = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@pytest.mark.parametrize(
    ('successes', 'n', 'low', 'high'),
    [
        (8, 10, 0.4902, 0.9433),
        # Newcombe 1998 (Statistics in Medicine 17, 857-872), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_rates_have_the_intervals_that_wilson_s_formula_gave_in_print(
    successes: int, n: int, low: float, high: float
) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ('table', 'low', 'high'),
    [
        # Newcombe 1998 (Statistics in Medicine 17, 2635-2650), method 10.
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((18, 12, 2, 18), 0.0562, 0.3290),
        ((53, 0, 0, 1), -0.0729, 0.0729),
        # Fagerland, Lydersen, Laake 2014 (Statistics in Medicine 33, 2850-2875).
        ((1, 1, 7, 12), -0.5069, -0.0256),
    ],
)
def test_paired_differences_have_the_intervals_of_newcombe_s_method_10(
    table: tuple[int, int, int, int], low: float, high: float
) -> None:
    estimate = paired_rate_difference(*table)

    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5e-5)
    assert estimate.value == pytest.approx((table[1] - table[2]) / sum(table))


@given(successes=counts, failures=counts)
def test_a_rate_lies_in_its_interval_and_that_between_0_and_1(
    successes: int, failures: int
) -> None:
    low, high = wilson(successes, successes + failures)

    assert 0 <= low <= high <= 1
    if successes + failures:
        assert low <= successes / (successes + failures) <= high


def test_no_trials_leave_everything_open_and_more_successes_are_refused() -> None:
    assert rate_of(0, 0).value is None
    assert wilson(0, 0) == (0, 1)
    with pytest.raises(ValueError, match='3 successes in 2 trials'):
        wilson(3, 2)


@given(both=counts, only_a=counts, only_b=counts, neither=counts)
def test_to_swap_a_and_b_turns_the_difference_round(
    both: int, only_a: int, only_b: int, neither: int
) -> None:
    one = paired_rate_difference(both, only_a, only_b, neither)
    other = paired_rate_difference(both, only_b, only_a, neither)

    if not one.n:
        assert one.value is None
        return
    assert one.value is not None and other.value is not None
    assert one.low is not None and one.high is not None
    assert -1 <= one.low <= one.value <= one.high <= 1
    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low))


def test_mcnemar_counts_only_the_pairs_that_differ() -> None:
    assert mcnemar(0, 0) == 1
    assert mcnemar(4, 4) == 1
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(1, 7) == mcnemar(7, 1) == pytest.approx(2 * 9 / 256)
    # Beyond what a float can hold as a power of two.
    assert 0 < mcnemar(1000, 1200) < 1e-4


@given(data=st.data(), values=st.lists(figures, min_size=1, max_size=40))
def test_a_mean_s_interval_does_not_depend_on_the_order_and_stays_within_the_values(
    data: st.DataObject, values: list[float]
) -> None:
    estimate = mean_of(values)

    assert mean_of(data.draw(st.permutations(values))) == estimate
    assert estimate.value is not None
    assert min(values) <= estimate.value <= max(values)
    if estimate.low is None or estimate.high is None:
        assert len(set(values)) == 1
    else:
        assert min(values) <= estimate.low <= estimate.high <= max(values)


def test_a_mean_s_interval_is_about_that_of_the_normal_distribution_for_many_values() -> None:
    values = list(chain.from_iterable((0.0, 1.0) for _ in range(200)))
    estimate = mean_of(values)

    half = 1.96 * 0.5 / math.sqrt(400)
    assert estimate.low == pytest.approx(0.5 - half, abs=0.004)
    assert estimate.high == pytest.approx(0.5 + half, abs=0.004)
