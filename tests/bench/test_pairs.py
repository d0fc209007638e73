"""Pairs: the same case twice, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import make_result

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.metrics.pairs import Comparison, Difference, compare, ks_of, pair_up

verdicts = st.lists(st.sampled_from(('passed', 'failed', 'disputed', 'lost')), max_size=20)


def run_of(*verdicts: str, k: int = 3) -> list[EpisodeResult]:
    return [make_result(trial=i, k=k, verdict=verdict) for i, verdict in enumerate(verdicts)]


def compared(a: list[EpisodeResult], b: list[EpisodeResult]) -> Comparison:
    return compare(pair_up(a, b, k_a=3, k_b=3))


def of(comparison: Comparison, measure: str) -> Difference:
    return next(item for item in comparison.differences if item.measure == measure)


def test_episodes_pair_by_task_and_trial_whatever_their_order() -> None:
    a = [make_result('x', 0), make_result('y', 0), make_result('y', 1)]
    b = [make_result('y', 1), make_result('x', 0), make_result('z', 0)]

    pairing = pair_up(a, b, k_a=3, k_b=3)

    assert [pair.case for pair in pairing.pairs] == [('x', 0), ('y', 1)]
    assert (pairing.only_a, pairing.only_b) == ((('y', 0),), (('z', 0),))
    assert pairing.unpaired == 2


def test_another_table_under_the_same_name_does_not_pair() -> None:
    a = run_of('passed', 'passed', 'passed')
    b = [a[0], make_result(trial=1, case_hash='another'), make_result(trial=2, case_hash='')]

    pairing = pair_up(a, b, k_a=3, k_b=3)

    assert [pair.case for pair in pairing.pairs] == [('plus_sign', 0)]
    assert pairing.other_case == (('plus_sign', 1), ('plus_sign', 2))
    assert pairing.unpaired == 4


def test_nothing_pairs_where_no_side_knows_its_case() -> None:
    run = [make_result(case_hash='')]

    assert pair_up(run, run, k_a=3, k_b=3).pairs == ()


def test_two_k_of_one_run_pair() -> None:
    run = [*run_of('failed', 'failed', k=0), *run_of('passed', 'failed', k=3)]

    comparison = compare(pair_up(run, run, k_a=3, k_b=0))

    assert of(comparison, 'sr').difference.value == 0.5
    assert comparison.only_a_passed == (('plus_sign', 0),)
    assert ks_of(run) == (0, 3)


def test_an_episode_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match='K = 3 is there twice'):
        pair_up([make_result(), make_result()], [make_result()], k_a=3, k_b=3)


def test_the_difference_is_a_minus_b_and_higher_sr_wins() -> None:
    comparison = compared(run_of(*['passed'] * 8), run_of(*['failed'] * 8))
    success = of(comparison, 'sr')

    assert (success.a, success.b, success.difference.value) == (1, 0, 1)
    assert success.certain and success.winner == 'A'
    assert comparison.mcnemar_p == pytest.approx(2 / 2**8)


def test_fewer_tokens_win() -> None:
    a = [make_result(trial=i, prompt_tokens=1000 + i) for i in range(5)]
    b = [make_result(trial=i, prompt_tokens=500) for i in range(5)]

    tokens = of(compared(a, b), 'tokens')

    assert tokens.difference.value == 502
    assert tokens.certain and tokens.winner == 'B'


def test_a_split_may_be_luck() -> None:
    comparison = compared(
        run_of('passed', 'failed', 'passed'), run_of('failed', 'passed', 'failed')
    )

    assert not of(comparison, 'sr').certain
    assert comparison.only_a_passed == (('plus_sign', 0), ('plus_sign', 2))
    assert comparison.only_b_passed == (('plus_sign', 1),)


@pytest.mark.parametrize(
    ('a', 'b', 'verdict'),
    [
        (['passed'] * 8, ['failed'] * 8, 'A'),
        (['failed'] * 8, ['passed'] * 8, 'B'),
        (['passed'] * 8, ['lost'] * 8, 'none'),
        (['passed'] * 8 + ['failed'], ['lost'] * 8 + ['failed'], 'equal'),
        (['passed', 'failed'], ['failed', 'failed'], 'luck'),
        # Newcombe's interval excludes 0, but five of five are no less than 0.0625 by chance.
        (['passed'] * 5, ['failed'] * 5, 'unclear'),
    ],
)
def test_the_verdict_is_by_pairs_in_which_neither_was_lost(
    a: list[str], b: list[str], verdict: str
) -> None:
    comparison = compared(run_of(*a), run_of(*b))

    assert comparison.verdict == verdict
    assert comparison.judged.certain is (verdict in ('A', 'B'))
    assert not (comparison.lost_pairs and of(comparison, 'sr').winner)


def test_what_only_one_passed_is_counted_where_neither_was_lost() -> None:
    comparison = compared(run_of('passed', 'passed', 'lost'), run_of('lost', 'failed', 'lost'))

    assert comparison.only_a_passed == (('plus_sign', 1),)
    assert (comparison.lost_a, comparison.lost_b, comparison.lost_pairs) == (1, 2, 2)


def test_lost_episodes_count_as_not_passed_and_are_left_out_of_the_rest() -> None:
    comparison = compared(run_of('passed', 'passed'), run_of('passed', 'lost'))

    assert comparison.lost_pairs == 1
    assert of(comparison, 'sr').difference.value == 0.5
    assert of(comparison, 'sr').difference.n == 2
    assert of(comparison, 'sr_judged').difference.value == 0
    assert of(comparison, 'gcr').difference.n == 1


def test_a_pair_counts_only_for_figures_that_both_have() -> None:
    a = [make_result(trial=0, cost=2.0, attempted=0, executable=0), make_result(trial=1, cost=3.0)]
    b = [make_result(trial=0, cost=1.0), make_result(trial=1, cost=None)]

    comparison = compared(a, b)

    assert (of(comparison, 'cost').difference.value, of(comparison, 'cost').difference.n) == (1, 1)
    assert of(comparison, 'exec').difference.n == 1


def test_differences_that_are_all_alike_have_no_interval() -> None:
    a, b = [[make_result(trial=i, loops=n) for i in range(4)] for n in (2, 1)]
    loops = of(compared(a, b), 'loops')

    assert (loops.difference.value, loops.difference.low) == (1, None)
    assert loops.winner == 'B' and not loops.certain


def test_wall_times_can_be_left_out() -> None:
    pairing = pair_up(run_of('passed'), run_of('passed'), k_a=3, k_b=3)

    assert {'model_s', 'wall_s'} <= {item.measure for item in compare(pairing).differences}
    assert not {'model_s', 'wall_s'} & {
        item.measure for item in compare(pairing, times=False).differences
    }


@given(first=verdicts, second=verdicts)
def test_to_swap_a_and_b_turns_every_sign(first: list[str], second: list[str]) -> None:
    a, b = run_of(*first), run_of(*second)
    one, other = compared(a, b), compared(b, a)

    assert one.mcnemar_p == other.mcnemar_p
    assert one.only_a_passed == other.only_b_passed
    for mine, theirs in zip(one.differences, other.differences, strict=True):
        assert mine.difference.n == theirs.difference.n
        if mine.difference.value is None:
            assert theirs.difference.value is None
        else:
            assert theirs.difference.value == pytest.approx(-mine.difference.value)
            assert {mine.winner, theirs.winner} in ({''}, {'A', 'B'})


@given(first=verdicts)
def test_a_run_does_not_differ_from_itself(first: list[str]) -> None:
    comparison = compared(run_of(*first), run_of(*first))

    assert comparison.mcnemar_p == 1
    assert not any(item.difference.value for item in comparison.differences)
    assert not any(item.certain or item.winner for item in comparison.differences)
