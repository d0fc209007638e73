"""The page says what the summary says, of a whole run."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bbllm_bench.report.summary import RunSummary, read_summary, summarize_run
from bbllm_bench.report.write import notices_of, write_report
from tests.bench.report import made_up
from tests.bench.report.pages import Page, figure_of, rows_of, text_of


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
def summary(folder: Path) -> RunSummary:
    return read_summary(folder / 'summary.json')


@pytest.mark.parametrize('key', ['sr', 'gcr', 'exec'])
def test_headline_is_the_summarys_figure_of_the_largest_k(
    page: Page, summary: RunSummary, key: str
) -> None:
    big = page.one('p', id=key)

    rate = summary.top.rate(key)
    assert figure_of(big) == rate.value
    assert text_of(big) == f'{rate.value:.2f}'
    assert f'[{rate.low:.2f}, {rate.high:.2f}]' in text_of(
        page.one('div', class_=key, role='group')
    )


def test_sums_are_those_of_the_summary(page: Page, summary: RunSummary) -> None:
    sums = page.one('dl', class_='sums')
    shown = {text_of(item[0]): figure_of(item[1]) for item in sums}

    assert shown == {
        'Episodes': summary.top.n,
        'Lost to infrastructure': summary.top.infrastructure_failures,
        'Unsafe commands': summary.top.unsafe,
        'Feedback loops used': summary.top.value('loops'),
        'Model calls': summary.top.model_calls,
        'Tokens': summary.top.tokens,
        'Robot time': summary.top.robot_s,
        'Episodes a minute': summary.episodes_per_minute,
    }


def test_every_task_has_its_figures_at_every_k(page: Page, summary: RunSummary) -> None:
    for entry in summary.by_k:
        body = page.one('table', data_k=str(entry.k)).find('tbody')
        assert body is not None
        assert len(body) == len(entry.tasks) == 7
        for row, task in zip(body, entry.tasks, strict=True):
            rates = [task.value(key) for key in ('sr', 'gcr', 'exec', 'loops')]
            counts = [task.infrastructure_failures]
            assert [figure_of(cell) for cell in row[2:]] == [task.n, *rates, *counts]
            assert task.instruction in text_of(row[0])
            assert text_of(row[1]) == task.difficulty


def test_failures_are_broken_down_as_the_summary_has_them(page: Page, summary: RunSummary) -> None:
    codes = {row[0]: row[1:] for row in rows_of(page.one('table', id='codes'))}
    for name, shown in codes.items():
        assert shown == [str(entry.codes.get(name, 0)) for entry in summary.by_k]
    endings = rows_of(page.one('table', id='endings'))
    counted = {row[0]: sum(map(int, row[1:])) for row in endings}
    total = sum((Counter(entry.endings) for entry in summary.by_k), Counter())
    assert counted == total


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


# --- Who made a run, and how it can be made again


def notices(models: dict[str, list[str]] | None = None, **settings: Any) -> tuple[str, ...]:
    """Return the notices of a run that is through."""
    made = made_up.make_settings(**settings)
    summary = summarize_run(made, [], [])
    served = {role: tuple(names) for role, names in (models or {}).items()}
    through = {'models': served, 'played': summary.planned}
    return notices_of(made, summary.model_copy(update=through))


@pytest.mark.parametrize(
    ('settings', 'models', 'words'),
    [
        ({'brain': 'offline', 'body': 'offline'}, {}, 'Brain and Body: offline is a determin'),
        ({'body': 'offline (text)'}, {}, 'Body: offline is a deterministic stand-in, not a'),
        ({'brain': 'expert'}, {}, 'it measures the plumbing, not planning.'),
        ({'body': 'lexical matching'}, {}, 'Body: lexical compares words'),
        ({}, {'brain': ['offline']}, 'Brain: offline is a deterministic stand-in'),
        ({'replay': 'runs/gpt.jsonl'}, {}, 'from the recording runs/gpt.jsonl'),
    ],
)
def test_stand_ins_are_named_for_what_they_are(
    settings: dict[str, Any], models: dict[str, list[str]], words: str
) -> None:
    (notice,) = notices(models, **settings)

    assert words in notice
    assert notices() == notices(brain='offline-llama-7b') == ()
