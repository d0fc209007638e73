"""The failures of a folder."""

from dataclasses import replace
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.ledger.failures import failures_of
from bbllm_bench.ledger.ledger import read_ledger
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


@pytest.mark.parametrize(
    ('words', 'codes'),
    [
        (('', '', ''), ['COVERED', 'OUT_OF_WORKSPACE']),
        (('brain_body', '', ''), ['COVERED', 'OUT_OF_WORKSPACE']),
        (('brain_body:reach=no', '', ''), ['OUT_OF_WORKSPACE']),
        (('brain', '', ''), []),
        (('', 'scripted', ''), ['COVERED']),
        (('', 'other', 'OUT_OF_WORKSPACE'), ['OUT_OF_WORKSPACE']),
        (('', 'other', 'COVERED'), []),
    ],
)
def test_failures_are_filtered(
    folder: Path, words: tuple[str, str, str], codes: list[str]
) -> None:
    assert [row.code for row in read_ledger(folder).chosen(*words)] == codes
    assert len(read_ledger(folder / 'a' / 'episodes').failures) == 1


def test_a_damaged_journal_is_named_and_skipped(folder: Path) -> None:
    journal = folder / 'a' / 'episodes' / 'covered.jsonl'
    journal.write_text(journal.read_text().replace('"kind": "plan"', '"kind": "plan of a kind"'))

    ledger = read_ledger(folder)

    (fault,) = ledger.faults
    assert str(journal) in fault and 'Line ' in fault
    assert [row.episode for row in ledger.failures] == ['far']


def test_a_verdict_of_a_bench_decides_what_is_recovered(tmp_path: Path) -> None:
    key, run = EpisodeKey('plus_sign', 0, 3), tmp_path / 'run'
    write_run(run, [], make_settings())
    play(far_table(), FAR, folder=run / 'episodes', name=key.name)
    (before,) = read_ledger(tmp_path).failures

    JsonLines(run / 'results.jsonl', EpisodeResult).append(
        [make_result(key.task, key.trial, key.k, verdict='failed')]
    )

    (after,) = read_ledger(tmp_path).failures
    assert (before.verdict, before.recovered) == ('', 'task')
    assert (after.verdict, after.recovered) == ('failed', '')


def test_a_folder_without_journals_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='no journal'):
        read_ledger(tmp_path)


def test_each_number_of_feedback_loops_is_a_configuration_of_its_own() -> None:
    (row,) = failures_of(play(far_table(), FAR)[0])

    found = recoveries([replace(row, k=3), replace(row, k=0, recovered=''), replace(row, k=3)])

    assert [(x.configuration.k, x.recovered.value) for x in found] == [(0, 0.0), (3, 1.0)]
    assert found[0].requests is None and found[1].requests == 1
