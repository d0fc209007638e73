"""Paired differences: which direction is better of each measure, and which pairs each is over."""

from __future__ import annotations

from typing import Any

import pytest
from made_results import make_result

from bbllm.bench.log.intervals import Estimate
from bbllm.bench.metrics.pairs import MEASURES, TIMES, Comparison, Difference, compare, pair_up

BETTER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    'gcr': ({'gcr': 0.9}, {'gcr': 0.4}),
    'exec': ({'executable': 8, 'attempted': 10}, {'executable': 8, 'attempted': 16}),
    'loops': ({'loops': 0}, {'loops': 2}),
    'model_calls': ({'model_calls': 3}, {'model_calls': 9}),
    'tokens': ({'completion_tokens': 10}, {'completion_tokens': 90}),
    'cost': ({'cost': 0.1}, {'cost': 0.4}),
    'robot_s': ({'robot_s': 20.0}, {'robot_s': 70.0}),
    'model_s': ({'model_s': 1.0}, {'model_s': 5.0}),
    'wall_s': ({'wall_s': 1.0}, {'wall_s': 5.0}),
    'false_success': ({'false_success': False}, {'false_success': True}),
    'informed': ({'informed': True}, {'informed': False}),
    'faithful': ({'broken_rules': {}}, {'broken_rules': {'already_open': 1}}),
}
"""By measure: what is better of it, and what is worse."""


def compared(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> Comparison:
    first, second = ([make_result(trial=i, **one) for i, one in enumerate(run)] for run in (a, b))
    return compare(pair_up(first, second, k_a=3, k_b=3))


def of(comparison: Comparison, measure: str) -> Difference:
    return next(item for item in comparison.differences if item.measure == measure)


def test_every_measure_is_tried_here() -> None:
    assert {*MEASURES, *TIMES} < set(BETTER)


@pytest.mark.parametrize('measure', BETTER)
def test_of_each_measure_the_better_value_wins_on_either_side(measure: str) -> None:
    better, worse = BETTER[measure]

    for a, b, winner in ((better, worse, 'A'), (worse, better, 'B')):
        found = of(compared([a] * 9, [b] * 9), measure)
        assert found.winner == winner


@pytest.mark.parametrize('measure', ['informed', 'faithful'])
def test_what_was_judged_in_one_episode_of_a_pair_only_is_no_pair(measure: str) -> None:
    better, worse = BETTER[measure]
    unknown: dict[str, Any] = {}

    found = of(compared([better, better, unknown], [worse, unknown, worse]), measure)

    assert (found.difference.n, found.a, found.b) == (1, 1, 0)
    assert measure not in {
        item.measure for item in compared([better, unknown], [unknown, worse]).differences
    }


@pytest.mark.parametrize(
    ('low', 'high', 'p', 'certain'),
    [
        (0.1, 0.9, 0.05, True),
        (0.1, 0.9, 0.06, False),
        (0.0, 0.9, 0.01, False),
        (-0.1, 0.9, 0.01, False),
        (0.1, 0.9, None, True),
        (None, None, 0.01, False),
    ],
)
def test_a_winner_is_certain_by_an_interval_off_zero_and_by_the_test_where_there_is_one(
    low: float | None, high: float | None, p: float | None, certain: bool
) -> None:
    estimate = Estimate(0.5, low, high, 9)

    found = Difference(measure='sr', a=1, b=0.5, difference=estimate, better='higher', p=p)

    assert found.certain is certain
    assert Difference(
        measure='sr', a=1, b=0.5, difference=estimate, better='higher', p=p, lost=1
    ).winner == ''  # fmt: skip
