"""Tables of a comparison of forms of feedback."""

from pathlib import Path
from typing import Any

import pytest

from bbllm.core.registry import load_planner
from bbllm_bench.compare.feedback import (
    CHART,
    FORMS,
    TABLES,
    feedback_grids,
    form_of,
    planner_with,
    write_feedback,
)
from bbllm_bench.compare.figures import PlannerComparison, PlannerResults, comparison_of
from bbllm_bench.log.store import SavedRun
from tests.bench.made_results import make_result, make_settings


def entry(form: str, *episodes: tuple[str, int], **tokens: int) -> PlannerResults:
    """Return a run of one task: verdict and loops of each trial."""
    planner = planner_with(form)
    results = tuple(
        make_result('towers', i, 1, verdict, loops=loops, **(tokens if loops else {}))
        for i, (verdict, loops) in enumerate(episodes)
    )
    settings = make_settings(planner=planner, trials=len(episodes))
    return PlannerResults(planner, SavedRun(Path('out') / form, settings, results))


@pytest.fixture
def compared() -> PlannerComparison:
    sizes: dict[str, Any] = {'repair_prompt_tokens': 900, 'repair_reply_tokens': 80}
    full = entry('full', ('passed', 0), ('passed', 1), ('passed', 1), ('failed', 1), **sizes)
    none = entry(
        'none',
        *(('passed', 0), ('failed', 1), ('passed', 1), ('failed', 1)),
        repair_prompt_tokens=700,
        repair_reply_tokens=90,
    )
    return comparison_of([full, none], against=full.planner)


def test_a_row_has_success_in_all_episodes_and_in_those_that_used_a_loop(
    compared: PlannerComparison,
) -> None:
    figures, differences = feedback_grids(compared)

    full, none = (dict(zip(figures.header, row, strict=True)) for row in figures.rows)
    assert (full['feedback'], none['feedback']) == ('full', 'none')
    assert [row['SR'].split('\n')[0] for row in (full, none)] == ['0.75', '0.50']
    assert [row['repaired'].split('\n')[0] for row in (full, none)] == ['0.67', '0.33']
    assert full['with loops'] == none['with loops'] == '3'
    assert [row['repair prompts'].split('\n')[0] for row in (full, none)] == ['900', '700']
    (row,) = differences.rows
    minus = dict(zip(differences.header, row, strict=True))
    assert minus['pairs'] == '4'
    assert minus['SR'].startswith('-0.25\n[')
    assert minus['repaired'].startswith('-0.33\n[')
    assert minus['repair prompts'].startswith('-200')
    assert minus['repair replies'].startswith('+10')


def test_page_and_chart_are_written(compared: PlannerComparison, tmp_path: Path) -> None:
    write_feedback(compared, tmp_path)

    page = (tmp_path / TABLES).read_text()
    assert '2 forms of feedback compared' in page
    assert f']({CHART})' in page
    assert (tmp_path / CHART).read_bytes().startswith(b'\x89PNG')


def test_without_a_loop_there_are_no_figures_of_repairs(tmp_path: Path) -> None:
    full, none = (entry(form, ('passed', 0), ('failed', 0)) for form in ('full', 'none'))
    data = comparison_of([full, none], against=full.planner)

    write_feedback(data, tmp_path)

    assert '| repaired' not in (tmp_path / TABLES).read_text()
    assert (tmp_path / CHART).read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('form', FORMS)
def test_each_form_is_an_option_of_the_planner(form: str) -> None:
    planner = planner_with(form)

    assert load_planner(planner).options.feedback == form
    assert form_of(planner) == form
