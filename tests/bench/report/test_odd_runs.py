"""The page of runs that are small, empty, lost, broken off, or full of the texts of others."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.report.write import write_report
from tests.bench.report import made_up
from tests.bench.report.pages import Page, figure_of


def page_of(folder: Path, settings: RunSettings, results: list[Any] | None = None) -> Page:
    """Return the report of a run."""
    return Page(write_report(made_up.write_run(folder / 'run', settings, results)))


def small(**changes: Any) -> RunSettings:
    """Return settings of a run of a few episodes."""
    tasks = [{'name': name} for name, *_ in made_up.TASKS[:2]]
    return made_up.make_settings(**{'ks': [0, 1], 'trials': 2, 'tasks': tasks, **changes})


def all_of(settings: RunSettings, **changes: Any) -> list[EpisodeResult]:
    """Return a result of two trials for every task and K, each with these changes."""
    return [
        made_up.make_result(task.name, trial, k, **changes)
        for task in settings.tasks
        for trial in range(2)
        for k in settings.ks
    ]


def test_texts_of_others_stay_texts(tmp_path: Path) -> None:
    evil = (
        '<script>alert(1)</script>"\'><img src=x onerror=alert(1)></style>'
        '\x00\x1b[31m\u202e\ud800&amp;'
    )
    tasks = [{'name': 'right_side', 'instruction': evil}, {'name': 'letter_l'}]
    settings = small(brain=evil, suite=evil, planner=evil, tasks=tasks)
    texts = dict.fromkeys(('reason', 'ending', 'error'), evil) | {'message': f'so: {evil}'}
    maps = {'codes': {evil: 3}, 'conditions': {evil: False}, 'models': {evil: evil}}
    results = [
        replace(item, verdict='lost' if item.key.trial else 'failed')
        for item in all_of(settings, **texts, **maps)
    ]
    page = page_of(tmp_path, settings, results)

    assert len(page.all('script')) == 1
    assert len(page.all('style')) == 1
    assert page.all('img') == []
    assert not [item for item in page.elements() if 'onerror' in item.attrib]
    assert page.text.count('<script>alert(1)</script>') > 10
    assert not re.search('[\x00-\x08\x0b-\x1f\u202e\ufffd]', page.source)


def test_the_page_of_a_run_without_episodes_states_that(tmp_path: Path) -> None:
    page = page_of(tmp_path, small(), [])

    assert 'No episode was played at K = 1, so there are no figures.' in page.text
    assert figure_of(page.one('p', id='sr')) is None
    assert '0 of 8 episodes were played' in page.text
    assert page.all('article') == []
    assert 'Every call succeeded' not in page.text


def test_the_page_of_a_lost_run_has_the_reason_and_no_drawing(tmp_path: Path) -> None:
    settings = small()
    results = all_of(
        settings, verdict='lost', error='ModelUnavailableError', attempted=0, settled=()
    )
    page = page_of(tmp_path, settings, results)

    assert figure_of(page.one('p', id='sr')) == 0
    assert figure_of(page.one('p', id='gcr')) is None
    assert 'ModelUnavailableError × 4' in page.text
    assert page.text.count('No settled table is on record.') == 8


def test_one_k_has_no_plot_but_how_to_get_one(tmp_path: Path) -> None:
    page = page_of(tmp_path, small(ks=[2]))

    assert 'Only K = 2 was run' in page.text
    assert not page.all('div', role='img')


def test_broken_results_are_named_and_leave_the_old_report(tmp_path: Path) -> None:
    folder = made_up.write_run(tmp_path / 'run', small())
    path = write_report(folder)
    old = path.read_bytes()
    with (folder / 'results.jsonl').open('a') as file:
        file.write('{"key": 3}\n')

    with pytest.raises(ConfigError, match='line 9 is no EpisodeResult'):
        write_report(folder)
    assert path.read_bytes() == old
    assert not list(folder.glob('.tmp*'))


@pytest.mark.parametrize('name', ['settings.json', 'summary.json'])
def test_folder_that_lacks_a_file_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    folder = made_up.write_run(tmp_path / 'run', small())
    (folder / name).unlink()

    with pytest.raises(ConfigError, match=name):
        write_report(folder)
