"""What runs of several planners come to, side by side and against the first."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bbllm_bench.compare.figures import PlannerComparison, PlannerResults, comparison_of, holm
from bbllm_bench.compare.text import closing_line, grids_of, markdown
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.store import SavedRun
from tests.bench.made_results import make_result, make_settings

N = 30
PARTS = ({'name': 'EASY', 'difficulty': 'easy'}, {'name': 'HARD', 'difficulty': 'hard'})


def entry(planner: str, results: Sequence[EpisodeResult], **changes: Any) -> PlannerResults:
    limits = {'step_limit': 50, 'model_call_limit': 0}
    settings = make_settings(**{'planner': planner, 'trials': N, **limits, **changes})
    return PlannerResults(planner, SavedRun(Path('out') / planner, settings, tuple(results)))


def played(*verdicts: str, k: int = 0, **changes: Any) -> list[EpisodeResult]:
    """Return results of one task, one a trial."""
    return [
        make_result('plus_sign', i, k, verdict, **changes) for i, verdict in enumerate(verdicts)
    ]


def compared(*entries: PlannerResults, against: str = '') -> PlannerComparison:
    return comparison_of(entries, against=against or entries[0].planner)


@pytest.mark.parametrize(
    ('given', 'expected'),
    [
        ((), ()),
        ((0.04,), (0.04,)),
        # Holm's own procedure: 3 x the least, 2 x the next, and never less than what was before.
        ((0.01, 0.04, 0.03), (0.03, 0.06, 0.06)),
        ((0.6, 0.5), (1.0, 1.0)),
        ((0.9, 0.8, 0.7), (1.0, 1.0, 1.0)),
    ],
)
def test_p_values_are_corrected_for_their_number(
    given: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    assert holm(given) == pytest.approx(expected)


def test_each_planner_is_held_against_the_first_case_by_case() -> None:
    first = entry('base_llm', played(*['failed'] * N))
    better = entry('fltrnn', played(*['passed'] * N, k=3, model_calls=20))

    data = compared(first, better)

    assert [row.value('sr') for row in data.planners] == [0.0, 1.0]
    assert [row.k for row in data.planners] == [0, 3]
    (pair,) = data.paired
    found = pair.comparison
    assert (pair.planner, found.verdict, found.pairs) == ('fltrnn', 'A', N)
    assert found.differences['sr'].difference.value == 1.0
    assert found.differences['model_calls'].difference.value == 8
    assert found.holm_p == found.mcnemar_p < 0.001
    # Wall times would compare machines.
    assert {'wall_s', 'model_s'}.isdisjoint(found.differences)


def test_nobody_takes_the_place_of_the_first_while_that_has_no_result() -> None:
    entries = [entry(name, played(*['passed'] * N)) for name in 'bc']

    data = compared(*entries, against='a')

    assert (data.against, data.paired) == ('a', ())
    assert [row.planner for row in data.planners] == ['b', 'c']
    assert 'minus' not in markdown(data)


def test_a_pair_without_a_test_costs_the_others_nothing() -> None:
    first = entry('a', played(*['failed'] * N))
    lost = entry('b', played(*['lost'] * N))
    better = entry('c', played(*['passed'] * N))

    nothing, beyond_luck = (p.comparison for p in compared(first, lost, better).paired)

    assert (nothing.verdict, nothing.holm_p) == ('none', None)
    assert beyond_luck.holm_p == beyond_luck.mcnemar_p


def test_tables_have_a_row_for_each_planner_and_mark_estimated_tokens() -> None:
    silent: Mapping[str, Any] = {'prompt_tokens': 0, 'sent_tokens': 512, 'completion_tokens': 0}
    data = compared(
        entry('base_llm', played('passed', 'failed', **silent)),
        entry('fltrnn', played('passed', 'passed')),
    ).model_copy(update={'notices': ('`offline` is a stand-in.',)})

    outcomes, costs, *differences = grids_of(data)
    page = markdown(data)

    assert [row[0] for row in outcomes.rows] == ['base_llm', 'fltrnn']
    assert [row[2] for row in outcomes.rows] == [f'2 of {2 * N}'] * 2
    assert [row[2] for row in costs.rows] == ['~512', '1,100']
    assert '~: the server counted no tokens' in costs.caption
    assert all(grid.title.startswith('Each planner minus base_llm') for grid in differences[:2])
    assert '| base_llm | 0 |' in page
    assert 'the same budget: 50 steps.' in page
    assert '> `offline` is a stand-in.' in page
    assert closing_line(data) == 'tabletop brain=offline SR base_llm=0.50 fltrnn=1.00'


def test_a_planner_counts_at_its_largest_k_and_by_those_episodes_alone() -> None:
    results = [
        make_result('EASY', k=0, verdict='failed', model_calls=2),
        make_result('EASY', k=3, verdict='passed', model_calls=9),
    ]

    (row,) = compared(entry('brain_body', results)).planners

    assert (row.k, row.n, row.value('sr'), row.model_calls) == (3, 1, 1.0, 9)
