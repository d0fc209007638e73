"""What was left out of replies, and rules by their names, in figures, tables and old files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_results import make_result, make_settings, write_run
from test_play_household import played

from bbllm.bench.compare.figures import Entry, comparison_of
from bbllm.bench.compare.text import grids_of
from bbllm.bench.log.results import EpisodeResult, read_results
from bbllm.bench.log.store import SavedRun
from bbllm.bench.metrics.metrics import figures_of
from bbllm.bench.report.write import write_report
from bbllm.core.records import to_json

BOTH = make_result(trial=0, discarded=3, malformed=2, refused=1)


def test_the_kinds_of_what_is_left_out_are_counted_apart() -> None:
    reply = 'Low-level Action Plan:\n1. fly(mug1)\n2. look around\n3. move(fridge1)'

    result, _ = played(reply, 'done', planner='llm_state:states=no')

    assert (result.discarded, result.malformed, result.refused) == (2, 1, 1)
    figures = figures_of([result, BOTH])
    assert (figures.discarded, figures.malformed, figures.refused) == (5, 3, 2)


@pytest.mark.parametrize('verdict', ['lost', 'failed'])
def test_an_episode_that_left_out_nothing_hides_the_kinds_of_no_other(verdict: str) -> None:
    figures = figures_of([make_result(trial=1, verdict=verdict), BOTH])

    assert (figures.malformed, figures.refused) == (2, 1)


def test_a_report_tells_both_kinds(tmp_path: Path) -> None:
    page = write_report(write_run(tmp_path / 'run', [BOTH])).read_text()

    assert '2 malformed, 1 refused' in page


def test_a_comparison_has_a_column_for_each_kind_that_there_is() -> None:
    def outcomes(*results: EpisodeResult) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        run = SavedRun(Path('run'), make_settings(), results)
        data = comparison_of([Entry('p', run)], against='p')
        grid = grids_of(data)[0]
        return grid.header, grid.rows[0], grid.caption

    header, row, caption = outcomes(BOTH)
    assert 'A planner that does not read replies line by line has 0' in caption
    assert dict(zip(header, row, strict=True))['malformed'] == '2'
    assert dict(zip(header, row, strict=True))['refused'] == '1'
    assert 'malformed' not in outcomes(make_result())[0]


def test_kinds_are_kept_in_the_file(tmp_path: Path) -> None:
    (tmp_path / 'results.jsonl').write_text(json.dumps(to_json(BOTH)) + '\n')

    assert [*read_results(tmp_path / 'results.jsonl').values()] == [BOTH]
