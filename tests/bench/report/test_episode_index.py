"""The list of episodes, and the pages that it names."""

import os
from pathlib import Path

from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted, Event
from bbllm.core.journal import JournalWriter
from bbllm_bench.report.episode_index import write_index
from tests.bench.report.pages import Page, rows_of


def written(folder: Path, name: str, task: str, ending: Ending | None, planner: str = 'p') -> Path:
    start = EpisodeStarted(episode_id=name, task=task, planner=planner, brain='m', body='m')
    with JournalWriter(folder, name) as journal:
        journal(Event(1e9, start))
        if ending is not None:
            journal(Event(1e9 + 5, EpisodeEnded(ending, 'so it ended', goal='met')))
    return journal.path


def test_list_has_every_episode_newest_first_with_what_it_is_filtered_by(tmp_path: Path) -> None:
    notes = tmp_path / 'notes.jsonl'
    notes.write_text('{"kind": "shopping"}\n')
    done: list[tuple[int, int]] = []
    journals = [
        written(tmp_path, 'a', 'stack them', Ending.FINISHED, 'brain_body'),
        written(tmp_path, 'index', 'tidy up', None),
        notes,
    ]

    page = write_index(
        tmp_path / 'new' / 'pages', journals, lambda n, total: done.append((n, total))
    )

    shown = Page(page)
    rows = rows_of(shown.one('table'))
    assert [row[1] for row in rows][1:] == ['tidy up', 'stack them']
    assert [row[2] for row in rows] == ['UNREADABLE', 'INTERRUPTED', 'FINISHED']
    assert 'notes.jsonl is no journal' in rows[0][1]
    assert rows[2] == [
        '2001-09-09 01:46', 'stack them', 'FINISHED', 'met', 'brain_body', 'm', '0', '0', '0.0 s',
    ]  # fmt: skip
    offered = [[option.text for option in pick] for pick in shown.all('select')]
    assert offered == [
        ['all', 'brain_body', 'p'],
        ['all', 'FINISHED', 'INTERRUPTED', 'UNREADABLE'],
    ]
    assert [row.get('data-planner') for row in shown.all('tr')[1:]] == ['', 'p', 'brain_body']
    links = [link.get('href', '') for link in shown.all('a')]
    assert links == ['episodes/index.html', 'episodes/a.html']
    assert 'stack them' in Page(page.parent / links[1]).text
    assert done == [(1, 3), (2, 3), (3, 3)]


def test_page_is_written_anew_only_where_its_journal_went_on(tmp_path: Path) -> None:
    journals = [written(tmp_path, name, 'stack', Ending.FINISHED) for name in ('old', 'new')]
    write_index(tmp_path / 'pages', journals)
    pages = [tmp_path / 'pages' / 'episodes' / f'{name}.html' for name in ('old', 'new')]
    for page in pages:
        page.write_text('kept')
    os.utime(journals[1], (2e9, 2e9))

    write_index(tmp_path / 'pages', journals)

    assert [page.read_text() == 'kept' for page in pages] == [True, False]


def test_list_without_episodes_names_what_makes_one(tmp_path: Path) -> None:
    assert 'bbllm demo' in Page(write_index(tmp_path / 'pages', [])).text
