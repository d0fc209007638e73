"""SR, GCR and EXEC count what the papers count, and nothing leaves a denominator silently."""

import pytest
from household_cases import played
from hypothesis import given
from hypothesis import strategies as st
from made_results import make_result

from bbllm.bench.metrics.metrics import Figures, executability, goal_recall

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


def test_a_part_of_the_cost_is_never_given_for_the_whole() -> None:
    known = make_result(trial=0, cost=0.25)

    assert Figures.of([known, make_result(trial=1, cost=0.5)]).cost == 0.75
    assert Figures.of([known, make_result(trial=1, cost=None)]).cost is None
    assert Figures.of([]).cost is None


def test_unsafe_commands_say_in_how_many_episodes_they_were_counted() -> None:
    figures = Figures.of([make_result(trial=i, unsafe=n) for i, n in enumerate((2, None, 1))])

    assert (figures.unsafe, figures.unsafe_measured) == (3, 2)
    assert Figures.of([make_result(unsafe=None)]).unsafe is None


def test_codes_are_added_and_the_most_frequent_comes_first() -> None:
    codes = ({'COVERED': 1, 'NO_CALL': 2}, {'OCCUPIED': 1, 'NO_CALL': 1})
    figures = Figures.of([make_result(trial=i, codes=each) for i, each in enumerate(codes)])

    assert list(figures.codes.items()) == [('NO_CALL', 3), ('COVERED', 1), ('OCCUPIED', 1)]


BOTH = make_result(trial=0, discarded=3, malformed=2, refused=1)


def test_the_kinds_of_what_is_left_out_are_counted_apart() -> None:
    reply = 'Low-level Action Plan:\n1. fly(mug1)\n2. look around\n3. move(fridge1)'

    result, _ = played(reply, 'done', planner='llm_state:states=no')

    assert (result.discarded, result.malformed, result.refused) == (2, 1, 1)
    figures = Figures.of([result, BOTH])
    assert (figures.discarded, figures.malformed, figures.refused) == (5, 3, 2)


def test_lost_episodes_have_no_table_and_no_part_in_gcr_exec_and_loops() -> None:
    judged = [make_result(trial=0), make_result(trial=1, verdict='failed', loops=3)]
    figures = Figures.of([*judged, make_result(trial=2, verdict='lost', loops=9)])

    assert (figures.rate('gcr').value, figures.rate('gcr').n) == (0.75, 2)
    assert (figures.rate('exec').value, figures.rate('exec').n) == (0.8, 2)
    assert figures.rate('loops').value == 2
