"""State success and informed success in the report of a run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from made_informed import MIXED, summary_of
from made_results import make_result, make_settings, write_run

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.report.plots import both_kinds, by_task, over_k
from bbllm.bench.report.write import write_report


def report_of(tmp_path: Path, results: tuple[EpisodeResult, ...], **changes: Any) -> str:
    names = sorted({result.key.task for result in results})
    labels = {'pick_heavier': 'T3'}
    tasks = [{'name': name, 'label': labels.get(name, ''), 'least_loops': 1} for name in names]
    changes = {'suite': 'partial', 'trials': 4, 'tasks': tasks, **changes}
    folder = write_run(tmp_path / 'run', results, make_settings(**changes))
    return write_report(folder).read_text()


def test_the_report_has_columns_and_cards_for_it(tmp_path: Path) -> None:
    page = report_of(tmp_path, MIXED)

    assert '<th scope="col">State</th><th scope="col">Informed</th>' in page
    assert 'False<br>success' in page
    assert 'Not informed: Not weighed: blue_cube. The planner ended as if it was done.' in page
    assert 'Informed: every block was weighed.' in page
    assert page.count('T3 pick heavier') > 3  # table, figure, maps and gallery
    assert 'title="trial 1, K = 3: passed, not informed, GCR 1.00.">' in page


def test_the_report_begins_with_both_kinds_of_success(tmp_path: Path) -> None:
    page = report_of(tmp_path, MIXED)
    top = page[page.index('id="figures"') : page.index('id="tasks"')]

    assert '<p class="big" id="sr"><data value="0.666667">0.67</data></p>' in top
    assert '<p class="big" id="informed"><data value="0.25">0.25</data></p>' in top
    assert 'of the 4 episodes in which something had to be found out' in top
    assert 'State of the same: 0.50 [0.15, 0.85]' in top


def test_a_chart_has_both_kinds_side_by_side_by_task(tmp_path: Path) -> None:
    chart = both_kinds(summary_of(MIXED))
    assert chart is not None

    assert chart.alternative == (
        'pick heavier: state 0.50, informed 0.25. stack: 1.00, nothing to find out. '
        'all that is to find out: state 0.50, informed 0.25.'
    )
    # Two of the task that needs something, one of the other, two of the sum, two in the legend.
    assert chart.svg.count('var(--informed)') >= 3
    assert 'all that is to find out</text>' in chart.svg
    assert 'T3 pick heavier: state 0.50' in report_of(tmp_path, MIXED)
    assert both_kinds(summary_of(MIXED[:2])) is None


def test_charts_over_k_have_informed_success_beside_the_state(tmp_path: Path) -> None:
    first = [dataclasses.replace(r, key=dataclasses.replace(r.key, k=0)) for r in MIXED]
    summary = summary_of((*first, *MIXED), ks=[0, 3])
    chart, small = over_k(summary), by_task(summary)
    assert chart is not None and small is not None

    assert chart.alternative.startswith('State, Informed, GCR and EXEC over the number')
    assert 'Informed: 0.25 [0.05, 0.70] at K = 0; 0.25 [0.05, 0.70] at K = 3.' in chart.alternative
    assert 'pick heavier, informed: 0.25' in small.alternative
    assert 'stack, informed' not in small.alternative
    page = report_of(tmp_path, (*first, *MIXED), ks=[0, 3])
    assert 'State, Informed, GCR and EXEC over the number of feedback loops' in page


def test_reports_of_other_suites_say_sr_and_no_word_of_it(tmp_path: Path) -> None:
    page = report_of(tmp_path, MIXED[:2])

    assert '<th scope="col">SR</th>' in page
    assert 'id="informed"' not in page and 'False<br>success' not in page
    boasting = make_result('stack', 2, 3, 'failed', false_success=True)
    assert 'False<br>success' in report_of(tmp_path / 'other', (*MIXED[:2], boasting))
