"""The page says what the summary says, of every kind of run."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import made_up
import pytest
from pages import Page, figure_of, rows_of, text_of

from bbllm.bench.report.write import write_report
from bbllm.core.errors import ConfigError
from bbllm.core.records import to_json


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a whole run, with its report."""
    folder = made_up.write_run(tmp_path_factory.mktemp('run') / 'out')
    write_report(folder)
    return folder


@pytest.fixture(scope='module')
def page(folder: Path) -> Page:
    return Page(folder / 'report.html')


@pytest.fixture(scope='module')
def summary(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / 'summary.json').read_text())
    return data


def page_of(folder: Path, settings: dict[str, Any], results: list[Any] | None = None) -> Page:
    """Return the report of a run."""
    return Page(write_report(made_up.write_run(folder / 'run', settings, results)))


def small(**changes: Any) -> dict[str, Any]:
    """Return settings of a run of a few episodes."""
    tasks = made_up.make_settings()['tasks'][:2]
    return made_up.make_settings(**{'ks': [0, 1], 'trials': 2, 'tasks': tasks, **changes})


@pytest.mark.parametrize('key', ['sr', 'gcr', 'exec'])
def test_headline_is_the_summarys_figure_of_the_largest_k(
    page: Page, summary: dict[str, Any], key: str
) -> None:
    big = page.one('p', id=key)

    assert figure_of(big) == summary[key]
    assert text_of(big) == f'{summary[key]:.2f}'
    low, high = summary[f'{key}_low'], summary[f'{key}_high']
    assert f'[{low:.2f}, {high:.2f}]' in text_of(page.one('div', class_=key, role='group'))


def test_sums_are_those_of_the_summary(page: Page, summary: dict[str, Any]) -> None:
    sums = page.one('dl', class_='sums')
    shown = {text_of(item[0]): figure_of(item[1]) for item in sums}

    assert shown == {
        'Episodes': summary['n'],
        'Disputed': summary['disputed'],
        'Lost to infrastructure': summary['infrastructure_failures'],
        'Unsafe commands': summary['unsafe'],
        'Feedback loops used': summary['loops'],
        'Model calls': summary['model_calls'],
        'Tokens': summary['prompt_tokens'] + summary['completion_tokens'],
        'Money': None,
        'Robot time': summary['robot_s'],
        'Episodes a minute': summary['episodes_per_minute'],
    }


def test_every_task_has_its_figures_at_every_k(page: Page, summary: dict[str, Any]) -> None:
    for entry in summary['by_k']:
        body = page.one('table', data_k=str(entry['k'])).find('tbody')
        assert body is not None
        assert len(body) == len(entry['tasks']) == 7
        for row, task in zip(body, entry['tasks'], strict=True):
            keys = ('n', 'sr', 'gcr', 'exec', 'loops', 'disputed', 'infrastructure_failures')
            assert [figure_of(cell) for cell in row[2:]] == [task[key] for key in keys]
            assert task['instruction'] in text_of(row[0])
            assert text_of(row[1]) == task['difficulty']


def test_plot_has_a_mark_for_every_k_and_measure_and_says_them_in_words(
    page: Page, summary: dict[str, Any]
) -> None:
    plot = next(
        p for p in page.all('svg', role='img') if 'SR, GCR and EXEC' in p.attrib['aria-label']
    )

    assert len([e for e in plot.iter() if e.get('class') == 'mark']) == 3 * 4
    for entry in summary['by_k']:
        assert f'{entry["sr"]:.2f} [{entry["sr_low"]:.2f}' in plot.attrib['aria-label']
    assert len(page.one('div', class_='multiples')) == 7


def test_heat_map_shows_every_episode_and_leads_to_it(page: Page) -> None:
    results = made_up.make_results(made_up.make_settings())
    cells = [cell for cell in page.all('td') if cell.find('a') is not None and cell.get('title')]
    kinds = Counter(cell.attrib['class'].split()[0] for cell in cells)

    assert kinds == Counter(result.verdict for result in results)
    assert {cell[0].attrib['href'] for cell in cells} == {f'#e-{r.key.name}' for r in results}


def test_passes_by_task_and_k_are_counted_from_the_episodes(
    page: Page, summary: dict[str, Any]
) -> None:
    rows = rows_of(page.one('table', class_='rates-by-k'))

    for column, entry in enumerate(summary['by_k'], start=1):
        shown = [row[column] for row in rows]
        assert shown == [f'{task["passed"]}/{task["n"]}' for task in entry['tasks']]


def test_failures_are_broken_down_as_the_summary_has_them(
    page: Page, summary: dict[str, Any]
) -> None:
    codes = {row[0]: row[1:] for row in rows_of(page.one('table', id='codes'))}
    for name, shown in codes.items():
        assert shown == [str(entry['codes'].get(name, 0)) for entry in summary['by_k']]
    endings = rows_of(page.one('table', id='endings'))
    counted = {row[0]: sum(map(int, row[1:])) for row in endings}
    total = sum((Counter(entry['endings']) for entry in summary['by_k']), Counter())
    assert counted == total


def test_pairs_are_the_summarys(page: Page, summary: dict[str, Any]) -> None:
    rows = rows_of(page.one('table', class_='tight'))

    assert len(rows) == len(summary['paired']) == 3
    for row, entry in zip(rows, summary['paired'], strict=True):
        assert row[0] == f'{entry["k_a"]} against {entry["k_b"]}'
        assert row[1].split()[0] == str(entry['pairs'])
        expected = f'{entry["differences"]["sr"]["difference"]:+.2f}'.replace('-', '−')
        assert row[2].split()[0] == expected


def test_card_says_why_it_failed_and_what_does_not_hold(page: Page) -> None:
    results = made_up.make_results(made_up.make_settings())
    result = next(r for r in results if r.verdict == 'failed')
    card = text_of(page.one('article', id=f'e-{result.key.name}'))

    assert result.reason in card
    assert all(text in card for text, holds in result.conditions.items() if not holds)
    assert not any(text in card for text, holds in result.conditions.items() if holds)


def test_settings_stand_in_full_with_prompts_and_versions(page: Page) -> None:
    shown = dict(rows_of(page.one('table', class_='settings')))

    assert shown['prompts.brain.md.j2'] == 'cd' * 32
    assert shown['limits.steps'] == '200'
    assert shown['llm.brain.temperature'] == '0.0'
    assert shown['tasks[5].name'] == 'plus_sign'


def test_page_needs_nothing_but_itself(page: Page) -> None:
    for item in page.elements():
        assert item.tag not in {'link', 'img', 'iframe', 'object', 'embed', 'base', 'form'}
        assert not {name for name in item.attrib if name.startswith('on')}
        assert item.tag == 'a' or item.tag == 'use' or 'href' not in item.attrib
        assert 'src' not in item.attrib
    style = text_of(page.one('style'))
    assert 'url(' not in style
    assert '@import' not in style
    assert 'prefers-color-scheme: dark' in style
    assert '@media print' in style


def test_every_link_is_relative_and_leads_somewhere(page: Page, folder: Path) -> None:
    ids = [item.attrib['id'] for item in page.elements() if 'id' in item.attrib]
    targets = {item.attrib['href'] for item in page.elements() if 'href' in item.attrib}

    assert len(ids) == len(set(ids))
    assert sum(target.startswith('episodes/') for target in targets) == 140
    for target in targets:
        assert target[1:] in ids if target.startswith('#') else (folder / target).is_file()


def test_every_paint_has_a_rule(page: Page) -> None:
    style = text_of(page.one('style'))
    used = {
        item.attrib['class']
        for symbol in page.all('symbol')
        for item in symbol
        if item.tag != 'use'
    }

    assert len(used) > 10
    assert all(f'.{name}{{' in style for name in used)


def test_file_is_small_enough_to_send(folder: Path) -> None:
    assert (folder / 'report.html').stat().st_size < 6e6


def test_texts_of_others_stay_texts(tmp_path: Path) -> None:
    evil = (
        '<script>alert(1)</script>"\'><img src=x onerror=alert(1)></style>'
        '\x00\x1b[31m\u202e\ud800&amp;'
    )
    settings = small(brain=evil, suite=evil, planner=evil)
    settings['tasks'][0]['instruction'] = evil
    results = [
        made_up.make_result(
            task['name'],
            trial,
            k,
            verdict=verdict,
            reason=evil,
            message=f'so: {evil}',
            ending=evil,
            error=evil,
            codes={evil: 3},
            conditions={evil: False},
            models={evil: evil},
        )
        for task in settings['tasks']
        for trial, verdict in enumerate(('failed', 'lost'))
        for k in settings['ks']
    ]
    page = page_of(tmp_path, settings, results)

    assert len(page.all('script')) == 1
    assert len(page.all('style')) == 1
    assert page.all('img') == []
    assert not [item for item in page.elements() if 'onerror' in item.attrib]
    assert page.text.count('<script>alert(1)</script>') > 10
    assert not re.search('[\x00-\x08\x0b-\x1f\u202e\ufffd]', page.source)


def test_names_of_things_are_escaped_in_drawings(tmp_path: Path) -> None:
    result = made_up.make_result('right_side', 0, 0, verdict='failed')
    things = [to_json(item) for item in result.settled]
    settings = small(ks=[0], trials=1)
    folder = made_up.write_run(tmp_path / 'run', settings, [result], journals=False)
    line = json.dumps(to_json(result)).replace('"red_cube"', '"<b onload=x>red</b>"')
    (folder / 'results.jsonl').write_text(line + '\n')

    page = Page(write_report(folder))

    assert any(thing['name'] == 'red_cube' for thing in things)
    assert not [item for item in page.elements() if 'onload' in item.attrib]
    assert any('<b onload=x>red</b>' in text_of(item) for item in page.all('text'))


def test_run_without_episodes_gives_a_page_that_says_so(tmp_path: Path) -> None:
    page = page_of(tmp_path, small(), [])

    assert 'No episode was played at K = 1, so there are no figures.' in page.text
    assert figure_of(page.one('p', id='sr')) is None
    assert '0 of 8 episodes were played' in page.text
    assert page.all('article') == []
    assert 'Every call succeeded' not in page.text


def test_settings_without_tasks_or_k_give_a_page_too(tmp_path: Path) -> None:
    page = page_of(tmp_path, small(tasks=[], ks=[]), [])

    assert 'There are no episodes to map.' in page.text


def test_run_in_which_all_was_lost_says_why_and_draws_nothing(tmp_path: Path) -> None:
    settings = small()
    results = [
        made_up.make_result(
            task['name'],
            trial,
            k,
            verdict='lost',
            reason='The server did not answer.',
            error='ModelUnavailableError',
            conditions={},
            attempted=0,
            settled=(),
        )
        for task in settings['tasks']
        for trial in range(2)
        for k in settings['ks']
    ]
    page = page_of(tmp_path, settings, results)

    assert figure_of(page.one('p', id='sr')) == 0
    assert figure_of(page.one('p', id='gcr')) is None
    assert 'ModelUnavailableError × 4' in page.text
    assert page.text.count('No settled table is on record.') == 8


def test_one_k_has_no_plot_but_says_how_to_get_one(tmp_path: Path) -> None:
    page = page_of(tmp_path, small(ks=[2]))

    assert 'Only K = 2 was run' in page.text
    assert not [
        p for p in page.all('svg', role='img') if 'over the number' in p.attrib['aria-label']
    ]
    assert 'nothing can be paired' in page.text


def test_run_without_a_failed_call_says_so(tmp_path: Path) -> None:
    settings = small()
    results = [
        made_up.make_result(t['name'], n, k, codes={}, verdict='passed', error='', reason='')
        for t in settings['tasks']
        for n in range(2)
        for k in settings['ks']
    ]
    page = page_of(tmp_path, settings, results)

    assert 'Every call succeeded.' in page.text
    assert page.all('table', id='codes') == []


def test_cost_is_shown_with_its_currency_or_with_the_reason_why_not(tmp_path: Path) -> None:
    prices = {'currency': 'EUR', 'models': {'some-large-model': {'prompt': 1, 'completion': 2}}}
    settings = small(prices=prices)
    results = [
        made_up.make_result(t['name'], n, k, cost=0.25)
        for t in settings['tasks']
        for n in range(2)
        for k in settings['ks']
    ]
    priced = page_of(tmp_path / 'a', settings, results)
    unknown = page_of(tmp_path / 'b', settings)
    without = page_of(tmp_path / 'c', small())

    def money(page: Page) -> str:
        sums = page.one('dl', class_='sums')
        return next(text_of(item[1]) for item in sums if text_of(item[0]) == 'Money')

    assert money(priced) == '1.00 EUR'
    assert money(unknown).startswith('– the price table lacks some-')
    assert money(without) == '– no price table was given'


def test_run_of_many_trials_has_a_map_for_each_k(tmp_path: Path) -> None:
    settings = small(trials=13)
    page = page_of(tmp_path, settings)

    assert len(page.all('table', class_='heat')) == 2 + 1


def test_broken_results_are_named_and_leave_the_old_report(tmp_path: Path) -> None:
    folder = made_up.write_run(tmp_path / 'run', small())
    path = write_report(folder)
    old = path.read_bytes()
    with (folder / 'results.jsonl').open('a') as file:
        file.write('{"key": 3}\n')

    with pytest.raises(ConfigError, match='line 9 is no result'):
        write_report(folder)
    assert path.read_bytes() == old
    assert not list(folder.glob('.tmp*'))


def test_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    folder = made_up.write_run(tmp_path / 'run', small())
    with (folder / 'results.jsonl').open('a') as file:
        file.write('{"key": {"task": "rig')

    assert len(Page(write_report(folder)).all('article')) == 8


@pytest.mark.parametrize('name', ['settings.json', 'summary.json'])
def test_folder_that_lacks_a_file_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    folder = made_up.write_run(tmp_path / 'run', small())
    (folder / name).unlink()

    with pytest.raises(ConfigError, match=name):
        write_report(folder)
