"""SR, GCR and EXEC count what the papers count, and nothing leaves a denominator silently."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.metrics.metrics import Figures, executability, goal_recall
from bbllm_bench.metrics.pairs import Comparison, PairedDifference, compare, ks_of
from tests.bench.made_results import make_result

conditions = st.dictionaries(st.sampled_from('abcdef'), st.booleans())


@pytest.mark.parametrize(
    ('start', 'end', 'recall'),
    [
        # What was spoilt is missing.
        ({'a': True, 'b': True, 'c': False}, {'a': True, 'b': False, 'c': True}, 0.5),
        # What was reached before is recalled in full.
        ({'a': True}, {'a': True}, 1),
        ({}, {}, 1),
        # A condition that the final table brought did not hold before.
        ({'x next to y': False}, {'x next to z': True}, 1),
        ({'x next to y': True}, {'x next to z': False}, 0),
    ],
)
def test_gcr_counts_what_had_to_be_made_true_and_what_was_spoilt(
    start: dict[str, bool], end: dict[str, bool], recall: float
) -> None:
    assert goal_recall(start, end) == recall


@given(start=conditions, end=conditions)
def test_gcr_is_1_exactly_where_all_conditions_hold_at_the_end(
    start: dict[str, bool], end: dict[str, bool]
) -> None:
    recall = goal_recall(start, end)

    assert 0 <= recall <= 1
    assert (recall == 1) == all(end.values())


def test_exec_of_no_step_at_all_is_not_known() -> None:
    assert executability(0, 0) is None
    assert executability(3, 4) == 0.75


def test_lost_episodes_stay_in_the_denominator_of_sr_and_on_the_bill() -> None:
    verdicts = ('passed', 'failed', 'failed', 'lost')
    figures = Figures.of([make_result(trial=i, verdict=v) for i, v in enumerate(verdicts)])

    assert figures.n == 4
    assert figures.rate('sr').value == 0.25
    assert figures.infrastructure_failures == 1
    assert figures.lost_errors == {'ModelUnavailableError': 1}
    assert figures.model_calls == 48
    assert (figures.prompt_tokens, figures.completion_tokens) == (4000, 400)


BOTH = make_result(trial=0, discarded=3, malformed=2, refused=1)


def test_lost_episodes_have_no_table_and_no_part_in_gcr_exec_and_loops() -> None:
    judged = [make_result(trial=0), make_result(trial=1, verdict='failed', loops=3)]
    figures = Figures.of([*judged, make_result(trial=2, verdict='lost', loops=9)])

    assert (figures.rate('gcr').value, figures.rate('gcr').n) == (0.75, 2)
    assert (figures.rate('exec').value, figures.rate('exec').n) == (0.8, 2)
    assert figures.rate('loops').value == 2


# --- Pairs: the same case twice, and nothing else

verdicts = st.lists(st.sampled_from(('passed', 'failed', 'lost')), max_size=20)


def run_of(*verdicts: str, k: int = 3) -> list[EpisodeResult]:
    return [make_result(trial=i, k=k, verdict=verdict) for i, verdict in enumerate(verdicts)]


def compared(a: list[EpisodeResult], b: list[EpisodeResult]) -> Comparison:
    return compare(a, b, k_a=3, k_b=3)


def test_episodes_pair_by_task_and_trial_whatever_their_order() -> None:
    a = [make_result('x', 0), make_result('y', 0), make_result('y', 1)]
    b = [make_result('y', 1), make_result('x', 0), make_result('z', 0)]

    found = compared(a, b)

    assert found.pairs == 2
    assert (found.only_a, found.only_b) == ((('y', 0),), (('z', 0),))


def test_another_table_under_the_same_name_does_not_pair() -> None:
    a = run_of('passed', 'passed', 'passed')
    b = [a[0], make_result(trial=1, case_hash='another'), make_result(trial=2, case_hash='')]

    found = compared(a, b)

    assert found.pairs == 1
    assert found.other_case == (('plus_sign', 1), ('plus_sign', 2))
    unknown = [make_result(case_hash='')]
    assert compared(unknown, unknown).pairs == 0


def test_two_k_of_one_run_pair() -> None:
    run = [*run_of('failed', 'failed', k=0), *run_of('passed', 'failed', k=3)]

    comparison = compare(run, run, k_a=3, k_b=0)

    assert comparison.differences['sr'].difference.value == 0.5
    assert comparison.only_a_passed == (('plus_sign', 0),)
    assert ks_of(run) == (0, 3)


def test_an_episode_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match='K = 3 is there twice'):
        compared([make_result(), make_result()], [make_result()])


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
    assert not (comparison.lost_pairs and comparison.differences['sr'].winner)


def test_a_pair_counts_only_for_figures_that_both_have() -> None:
    a = [make_result(trial=0, attempted=0, executable=0), make_result(trial=1)]
    b = [make_result(trial=0), make_result(trial=1)]

    comparison = compared(a, b)

    assert comparison.differences['exec'].difference.n == 1


@given(first=verdicts, second=verdicts)
def test_to_swap_a_and_b_turns_every_sign(first: list[str], second: list[str]) -> None:
    a, b = run_of(*first), run_of(*second)
    one, other = compared(a, b), compared(b, a)

    assert one.mcnemar_p == other.mcnemar_p
    assert one.only_a_passed == other.only_b_passed
    assert one.differences.keys() == other.differences.keys()
    for key, mine in one.differences.items():
        theirs = other.differences[key]
        assert mine.difference.n == theirs.difference.n
        if mine.difference.value is None:
            assert theirs.difference.value is None
        else:
            assert theirs.difference.value == pytest.approx(-mine.difference.value)
            assert {mine.winner, theirs.winner} in ({''}, {'A', 'B'})


BETTER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    'gcr': ({'gcr': 0.9}, {'gcr': 0.4}),
    'exec': ({'executable': 8, 'attempted': 10}, {'executable': 8, 'attempted': 16}),
    'loops': ({'loops': 0}, {'loops': 2}),
    'model_calls': ({'model_calls': 3}, {'model_calls': 9}),
    'tokens': ({'completion_tokens': 10}, {'completion_tokens': 90}),
    'robot_s': ({'robot_s': 20.0}, {'robot_s': 70.0}),
    'model_s': ({'model_s': 1.0}, {'model_s': 5.0}),
    'wall_s': ({'wall_s': 1.0}, {'wall_s': 5.0}),
    'repaired': ({'verdict': 'passed'}, {'verdict': 'failed'}),
    'false_success': ({'false_success': False}, {'false_success': True}),
    'informed': ({'informed': True}, {'informed': False}),
}
"""By measure: what is better of it, and what is worse."""


def of_values(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> dict[str, PairedDifference]:
    first, second = ([make_result(trial=i, **one) for i, one in enumerate(run)] for run in (a, b))
    return compare(first, second, k_a=3, k_b=3).differences


@pytest.mark.parametrize('measure', BETTER)
def test_of_each_measure_the_better_value_wins_on_either_side(measure: str) -> None:
    better, worse = BETTER[measure]

    for a, b, winner in ((better, worse, 'A'), (worse, better, 'B')):
        found = of_values([a] * 9, [b] * 9)[measure]
        assert found.winner == winner


def test_what_was_judged_in_one_episode_of_a_pair_only_is_no_pair() -> None:
    measure = 'informed'
    better, worse = BETTER[measure]
    unknown: dict[str, Any] = {}

    found = of_values([better, better, unknown], [worse, unknown, worse])[measure]

    assert (found.difference.n, found.a, found.b) == (1, 1, 0)
    assert measure not in of_values([better, unknown], [unknown, worse])
