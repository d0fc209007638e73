"""State success and informed success in the report of a run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from made_informed import MIXED, summary_of
from made_results import make_result, make_settings, write_run

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.report.knowing import LEFT, RIGHT, both_sides
from bbllm.bench.report.plots import ablation, by_task
from bbllm.bench.report.write import write_report


def report_of(tmp_path: Path, results: tuple[EpisodeResult, ...], **changes: Any) -> str:
    summary = summary_of(results, **changes)
    for row in (*summary['tasks'], *(row for k in summary['by_k'] for row in k['tasks'])):
        row['label'] = 'T3' if row['name'] == 'pick_heavier' else ''
    settings = make_settings(**{'suite': 'partial', 'trials': 4, **changes})
    folder = write_run(tmp_path / 'run', results, {**settings, 'tasks': summary['tasks']})
    (folder / 'summary.json').write_text(json.dumps(summary))
    (folder / 'sessions.jsonl').write_text('')
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


def test_a_figure_sets_both_kinds_side_by_side_by_task(tmp_path: Path) -> None:
    summary = summary_of(MIXED)
    sides = both_sides(summary)
    assert sides is not None

    told = [(line.name, line.text) for line in sides.lines]
    assert told == [
        ('pick heavier', 'state 0.50, informed 0.25'),
        ('stack', '1.00, nothing to find out'),
        ('all that is to find out', 'state 0.50, informed 0.25'),
    ]
    state, informed = sides.lines[0].places
    assert (state.key, informed.key) == ('sr', 'informed')
    assert state.low < informed.x < state.x < state.high
    assert state.x == (LEFT + RIGHT) / 2
    assert [place.key for place in sides.lines[1].places] == ['sr']
    assert sides.alternative in report_of(tmp_path, MIXED)
    assert both_sides(summary_of(MIXED[:2])) is None


def test_plots_over_k_have_informed_success_beside_the_state(tmp_path: Path) -> None:
    first = [dataclasses.replace(r, key=dataclasses.replace(r.key, k=0)) for r in MIXED]
    summary = summary_of((*first, *MIXED), ks=[0, 3])
    plot = ablation(summary)
    assert plot is not None

    assert [series.name for series in plot.series] == ['State', 'Informed', 'GCR', 'EXEC']
    assert '0.25 [0.05, 0.70] at K = 3' in plot.series[1].marks[1].text
    small = {one.name: [len(series.marks) for series in one.series] for one in by_task(summary)}
    assert small == {'pick heavier': [2, 2], 'stack': [2]}
    page = report_of(tmp_path, (*first, *MIXED), ks=[0, 3])
    assert 'State, Informed, GCR and EXEC over the number of feedback loops' in page


def test_reports_of_other_suites_say_sr_and_no_word_of_it(tmp_path: Path) -> None:
    page = report_of(tmp_path, MIXED[:2])

    assert '<th scope="col">SR</th>' in page
    assert 'id="informed"' not in page and 'False<br>success' not in page
    boasting = make_result('stack', 2, 3, 'failed', false_success=True)
    assert 'False<br>success' in report_of(tmp_path / 'other', (*MIXED[:2], boasting))
