"""What was left out of replies, and rules by their names, in figures, tables and old files."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import make_result, make_settings, write_run
from rich.console import Console
from test_faithfulness import SALMON, world_of
from test_play_household import played

from bbllm.bench.compare_text import grids_of
from bbllm.bench.faithfulness import faithfulness_of
from bbllm.bench.metrics import figures_of
from bbllm.bench.report.write import write_report
from bbllm.bench.results import EpisodeResult
from bbllm.bench.results_file import read_results
from bbllm.bench.summary import figures_values, summarize_run
from bbllm.bench.summary_table import print_summary
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import EventKind
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.records import to_json
from bbllm.core.types import Code, Task

BOTH = make_result(trial=0, discarded=3, malformed=2, refused=1)
OLD = make_result(trial=1, discarded=4)


def printed(*results: EpisodeResult) -> str:
    stream = io.StringIO()
    print_summary(summarize_run(make_settings(), results, []), Console(file=stream, width=220))
    return stream.getvalue()


def test_the_kinds_of_what_is_left_out_are_counted_apart() -> None:
    reply = 'Low-level Action Plan:\n1. fly(mug1)\n2. look around\n3. move(fridge1)'

    result, _ = played(reply, 'done', planner='llm_state:states=no')

    assert (result.discarded, result.malformed, result.refused) == (2, 1, 1)
    figures = figures_of([result, BOTH])
    assert (figures.discarded, figures.malformed, figures.refused) == (5, 3, 2)


def test_a_journal_of_before_tells_the_kinds_apart_by_the_code_of_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_kind(run: EpisodeRun, kind: EventKind, **data: Any) -> None:
        data.pop('refused', None)
        record(run, kind, **data)

    record = EpisodeRun.record
    monkeypatch.setattr(EpisodeRun, 'record', without_kind)
    reply = '1. fly(mug1)\n2. look around\n3. move(fridge1)'

    result, events = played(reply, 'done', planner='llm_state:states=no')

    assert not any('refused' in event.data for event in events)
    assert (result.malformed, result.refused) == (1, 1)


def test_of_results_of_before_only_the_sum_is_known() -> None:
    only_old = figures_of([OLD])

    assert (only_old.discarded, only_old.malformed, only_old.refused) == (4, None, None)
    assert "Left out of the model's replies with K = 3: 4 lines.\n" in printed(OLD)
    assert 'with K = 3: 3 lines: 2 malformed, 1 refused.' in printed(BOTH)


def test_old_and_new_results_together_are_told_as_a_sum_and_in_no_kinds() -> None:
    mixed = figures_of([OLD, BOTH])

    assert (mixed.discarded, mixed.malformed, mixed.refused) == (7, None, None)
    assert "Left out of the model's replies with K = 3: 7 lines.\n" in printed(OLD, BOTH)


@pytest.mark.parametrize('verdict', ['lost', 'failed'])
def test_an_episode_that_left_out_nothing_hides_the_kinds_of_no_other(verdict: str) -> None:
    figures = figures_of([make_result(trial=1, verdict=verdict), BOTH])

    assert (figures.malformed, figures.refused) == (2, 1)


def test_a_report_tells_both_kinds(tmp_path: Path) -> None:
    run = write_run(tmp_path / 'run', [BOTH])
    summary = summarize_run(make_settings(), [BOTH], [])
    (run / 'summary.json').write_text(json.dumps(summary))

    page = write_report(run).read_text()

    assert '2 malformed, 1 refused' in page


def test_a_comparison_has_a_column_for_each_kind_that_there_is() -> None:
    def outcomes(*results: EpisodeResult) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        figures = figures_values(figures_of(results))
        row = {'planner': 'p', 'k': 0, 'planned': len(results), 'tokens_estimated': False}
        costs = ('calls', 'tokens', 'step_tokens', 'growth', 'stable_share')
        row |= {f'{name}{end}': None for name in costs for end in ('', '_low', '_high')}
        data = {'planners': [{**row, **figures, 'episodes_per_minute': None}], 'paired': []}
        grid = grids_of({**data, 'parts': {}, 'against': 'p'})[0]
        return grid.header, grid.rows[0], grid.caption

    header, row, caption = outcomes(BOTH)
    assert 'A planner that does not read replies line by line has 0' in caption
    assert dict(zip(header, row, strict=True))['malformed'] == '2'
    assert dict(zip(header, row, strict=True))['refused'] == '1'
    assert 'malformed' not in outcomes(OLD)[0]


def test_a_rule_is_read_by_its_former_name(tmp_path: Path) -> None:
    result = make_result(broken_rules={'on_while_open': 2, 'two_at_once': 1})
    line = json.dumps(to_json(result)).replace('on_while_open', 'open_while_on')
    (tmp_path / 'results.jsonl').write_text(line + '\n')

    (found,) = read_results(tmp_path / 'results.jsonl').values()

    assert found == result


def test_a_journal_with_a_rule_by_its_former_name_is_judged_by_that_rule() -> None:
    class Lines:
        def run(self, task: Task, world: World, context: EpisodeContext) -> None:
            rules = ('open_while_on', 'no_such_rule')
            context.tell_discarded('on', 'It is open.', code=Code.PRECONDITION, rules=rules)

    run = EpisodeRun(Task('t', 'do it'), planner='lines', brain='b', body='b')
    found = faithfulness_of(SALMON, run.execute(Lines(), world_of(SALMON)))

    assert found.counts == {'on_while_open': 1}


def test_kinds_are_kept_in_the_file(tmp_path: Path) -> None:
    (tmp_path / 'results.jsonl').write_text(json.dumps(to_json(BOTH)) + '\n')

    assert [*read_results(tmp_path / 'results.jsonl').values()] == [BOTH]
    assert replace(BOTH, refused=None) != BOTH
