"""The file of the ledger, and what is read from it."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.ledger.failures import failures_of
from bbllm_bench.ledger.ledger import read_failures, read_memory, update_ledger
from bbllm_bench.ledger.recoveries import recoveries
from bbllm_bench.log.files import JsonLines
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from tests.bench.ledger.failing_episodes import FAR, UNCOVER, far_table, play, stack
from tests.bench.made_results import make_result, make_settings, write_run

PICK = ['0: pick(red_cube)\n1: place(location_A)', UNCOVER]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two journals below it, of a cube below another and a far place."""
    play(stack(), PICK, folder=tmp_path / 'a' / 'episodes', name='covered')
    far = tmp_path / 'b' / 'episodes'
    play(far_table(), FAR, folder=far, name='far', planner='brain_body:reach=no', brain='other')
    return tmp_path


def test_journals_are_read_once_and_again_where_they_changed_or_are_gone(folder: Path) -> None:
    ledger, done = folder / 'all.sqlite', list[tuple[int, int]]()

    first = update_ledger(ledger, folder, lambda n, total: done.append((n, total)))
    second = update_ledger(ledger, folder)

    assert (first.journals, first.read, first.faults) == (2, 2, ())
    assert (second.journals, second.read) == (2, 0)
    assert done == [(1, 2), (2, 2)]
    assert [row.code for row in read_failures(ledger)] == ['COVERED', 'OUT_OF_WORKSPACE']

    (folder / 'a' / 'episodes' / 'covered.jsonl').unlink()
    far = folder / 'b' / 'episodes' / 'far.jsonl'
    far.write_text(far.read_text().replace('location_I', 'location_J'))
    assert update_ledger(ledger, folder).read == 1
    (row,) = read_failures(ledger)
    assert row.call == 'place(location_J)'


def test_one_ledger_can_have_several_folders(folder: Path) -> None:
    ledger = folder / 'new' / 'all.sqlite'

    for part in ('a', 'b', 'a/episodes'):
        update_ledger(ledger, folder / part)

    assert len(read_failures(ledger)) == 2


@pytest.mark.parametrize(
    ('words', 'codes'),
    [
        ({'planner': 'brain_body'}, ['COVERED', 'OUT_OF_WORKSPACE']),
        ({'planner': 'brain_body:reach=no'}, ['OUT_OF_WORKSPACE']),
        ({'planner': 'brain'}, []),
        ({'brain': 'scripted'}, ['COVERED']),
        ({'code': 'OUT_OF_WORKSPACE', 'brain': 'other'}, ['OUT_OF_WORKSPACE']),
        ({'code': "' OR 1 --"}, []),
    ],
)
def test_failures_are_filtered(folder: Path, words: dict[str, str], codes: list[str]) -> None:
    update_ledger(folder / 'all.sqlite', folder)

    assert [row.code for row in read_failures(folder / 'all.sqlite', **words)] == codes


def test_a_damaged_journal_is_named_and_skipped_until_it_is_whole(folder: Path) -> None:
    journal = folder / 'a' / 'episodes' / 'covered.jsonl'
    whole = journal.read_text()
    journal.write_text(whole.replace('"kind": "plan"', '"kind": "plan of a kind"'))

    update = update_ledger(folder / 'all.sqlite', folder)

    (fault,) = update.faults
    assert str(journal) in fault and 'Line ' in fault
    assert [row.episode for row in read_failures(folder / 'all.sqlite')] == ['far']
    assert update_ledger(folder / 'all.sqlite', folder).faults == (fault,)
    journal.write_text(whole)
    assert update_ledger(folder / 'all.sqlite', folder).faults == ()
    assert len(read_failures(folder / 'all.sqlite')) == 2


def test_a_verdict_of_a_bench_counts_as_soon_as_it_is_there(tmp_path: Path) -> None:
    key, run = EpisodeKey('plus_sign', 0, 3), tmp_path / 'run'
    write_run(run, [], make_settings())
    play(far_table(), FAR, folder=run / 'episodes', name=key.name)
    update_ledger(tmp_path / 'all.sqlite', tmp_path)
    (before,) = read_failures(tmp_path / 'all.sqlite')

    JsonLines(run / 'results.jsonl', EpisodeResult).append(
        [make_result(key.task, key.trial, key.k, verdict='failed')]
    )
    assert update_ledger(tmp_path / 'all.sqlite', tmp_path).read == 1

    (after,) = read_failures(tmp_path / 'all.sqlite')
    assert (before.verdict, before.recovered) == ('', 'task')
    assert (after.verdict, after.recovered) == ('failed', '')


@pytest.mark.parametrize('kind', ['text', 'other database'])
def test_no_other_file_is_touched(folder: Path, kind: str) -> None:
    other = folder / 'mine.sqlite'
    if kind == 'text':
        other.write_text('My notes. ' * 200)
    else:
        with closing(sqlite3.connect(other)) as mine, mine:
            mine.execute('CREATE TABLE failures (mine)')
    before = other.read_bytes()

    for use in (lambda: update_ledger(other, folder), lambda: read_failures(other)):
        with pytest.raises(ConfigError, match=r'mine\.sqlite'):
            use()
    assert other.read_bytes() == before


def test_a_folder_without_journals_makes_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='no journal'):
        update_ledger(tmp_path / 'all.sqlite', tmp_path)
    assert not (tmp_path / 'all.sqlite').exists()


def test_what_was_read_before_an_interrupt_stays(folder: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update_ledger(folder / 'all.sqlite', folder, interrupt)

    assert len(read_failures(folder / 'all.sqlite')) == 1
    assert update_ledger(folder / 'all.sqlite', folder).read == 1


def test_memory_has_the_failures_of_one_brain_and_not_those_of_the_cases_played(
    folder: Path,
) -> None:
    case: dict[str, Any] = {'suite': 'tabletop', 'task': 'red_triangle', 'trial': 0}
    for seed in (1, 2):
        for again in 'xy':
            settings = {**case, 'seed': seed}
            path = folder / f'{seed}{again}' / 'episodes'
            play(far_table(), FAR, folder=path, name=f'{seed}{again}', settings=settings)
    ledger = folder / 'all.sqlite'
    update_ledger(ledger, folder)

    own = read_memory(ledger, 'scripted')
    new = read_memory(ledger, 'scripted', without=('tabletop', 2))
    both = [(each.error, each.times) for each in own.failures]
    assert both == [('COVERED', 1), ('OUT_OF_WORKSPACE', 4)]
    assert [each.times for each in new.failures] == [1, 2]
    assert own.failures[1].worked == ('place(location_A)',)
    assert len({own.hash, new.hash, read_memory(ledger, 'other').hash}) == 3
    with pytest.raises(ConfigError, match='no failed call of the Brain gpt'):
        read_memory(ledger, 'gpt')


def test_memory_of_the_same_journals_has_the_same_hash(folder: Path) -> None:
    for name in ('one.sqlite', 'two.sqlite'):
        update_ledger(folder / name, folder)
        for journal in folder.glob('*/episodes/*.jsonl'):
            os.utime(journal)

    one, two = (read_memory(folder / name, 'scripted') for name in ('one.sqlite', 'two.sqlite'))
    assert one == two and len(one.hash) == 16


def test_episodes_with_a_memory_are_a_configuration_of_their_own(folder: Path) -> None:
    ledger = folder / 'all.sqlite'
    update_ledger(ledger, folder)
    memory, planner = read_memory(ledger, 'scripted'), 'brain_body:memory=yes'
    path = folder / 'c' / 'episodes'
    play(stack(), PICK, folder=path, name='warm', planner=planner, memory=memory)
    play(stack(), PICK, folder=path, name='cold')
    update_ledger(ledger, folder)

    rows = [row for row in recoveries(read_failures(ledger)) if row.error == 'COVERED']

    assert [(str(row.configuration), len(row.failures)) for row in rows] == [
        ('brain_body, scripted', 2),
        (f'{planner}, scripted, memory {memory.hash}', 1),
    ]
    assert rows[0].recovered.value == 1.0
    assert (rows[0].requests, rows[0].arm_s) == (1, 0.0)


@pytest.mark.parametrize(('recovered', 'kept'), [('call', range(2, 8)), ('task', range(6))])
def test_memory_has_a_few_of_the_calls_that_worked(
    folder: Path, recovered: str, kept: range
) -> None:
    ledger = folder / 'all.sqlite'
    update_ledger(ledger, folder)
    calls = [f'reach(location_{n})' for n in range(8)]
    with closing(sqlite3.connect(ledger)) as file, file:
        file.execute(
            'UPDATE failures SET recovered = ?, worked = ?', (recovered, '\n'.join(calls))
        )

    (failure,) = read_memory(ledger, 'scripted').failures

    assert failure.worked == tuple(calls[n] for n in kept)


def test_each_number_of_feedback_loops_is_a_configuration_of_its_own() -> None:
    (row,) = failures_of(play(far_table(), FAR)[0])

    found = recoveries([replace(row, k=3), replace(row, k=0, recovered=''), replace(row, k=3)])

    assert [(x.configuration.k, x.recovered.value) for x in found] == [(0, 0.0), (3, 1.0)]
    assert found[0].requests is None and found[1].requests == 1
