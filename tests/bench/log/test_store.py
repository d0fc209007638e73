import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.log.episodes import EpisodeRecord
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.store import RunFolder
from tests.bench.made_results import make_result, make_settings

SETTINGS = make_settings()


def played(trial: int = 0, **changes: Any) -> EpisodeRecord:
    result = make_result('fine', trial, **changes)
    return EpisodeRecord(result=result, journal=f'{{"trial": {trial}}}\n')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'runs' / 'one'


def filled(path: Path, trials: int) -> list[EpisodeResult]:
    with RunFolder(path) as folder:
        folder.write_settings(SETTINGS)
        for trial in range(trials):
            folder.add(played(trial))
        return list(folder.results.values())


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """Make the system refuse to write beyond a size, as a full disk does."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)


def test_everything_comes_back_as_it_was_kept(path: Path) -> None:
    kept = filled(path, 3)

    with RunFolder(path) as folder:
        assert folder.settings == SETTINGS
        assert list(folder.results.values()) == kept
        assert (path / f'episodes/{kept[1].key.name}.jsonl').read_text() == '{"trial": 1}\n'


@pytest.mark.parametrize('cut', [1, 40, 200])
def test_a_line_that_a_crash_tore_is_cut_off_and_can_be_written_again(
    path: Path, cut: int
) -> None:
    kept = filled(path, 3)
    results = path / 'results.jsonl'
    whole = results.read_bytes()
    results.write_bytes(whole[:-cut])

    with RunFolder(path) as folder:
        assert list(folder.results.values()) == kept[:2]
        folder.add(played(2))

    assert results.read_bytes() == whole


def test_an_episode_is_never_kept_twice(path: Path) -> None:
    filled(path, 1)

    with RunFolder(path) as folder, pytest.raises(ValueError, match='fine-t000-k3'):
        folder.add(played(0))

    assert len((path / 'results.jsonl').read_text().splitlines()) == 1


def test_dropped_episodes_can_be_played_again(path: Path) -> None:
    kept = filled(path, 3)

    with RunFolder(path) as folder:
        folder.drop([kept[1].key])

    with RunFolder(path) as folder:
        assert list(folder.results) == [kept[0].key, kept[2].key]
        folder.add(played(1, verdict='failed'))
        assert folder.results[kept[1].key].verdict == 'failed'


def test_journals_of_a_session_lie_together_and_those_of_an_earlier_try_go(path: Path) -> None:
    longer = replace(played(0), earlier=('{"a": 1}\n', '{"b": 2}\n'))
    name = longer.result.key.name
    other = replace(played(1), earlier=('{"c": 3}\n',))
    with RunFolder(path) as folder:
        folder.add(other)
        folder.add(longer)
        journals = path / 'episodes'
        assert (journals / f'{name}-before1.jsonl').read_text() == '{"b": 2}\n'

        folder.drop([longer.result.key])
        folder.add(replace(played(0), earlier=('{"d": 4}\n',)))

        found = sorted(file.name for file in journals.iterdir())
        names = (name, other.result.key.name)
        assert found == sorted(f'{n}{end}.jsonl' for n in names for end in ('', '-before0'))


def test_two_runs_cannot_work_in_one_folder(path: Path) -> None:
    with RunFolder(path), pytest.raises(ConfigError, match=f'process {os.getpid()}.*--out'):
        RunFolder(path)

    RunFolder(path).close()


def test_a_folder_with_other_content_is_left_alone(path: Path) -> None:
    path.mkdir(parents=True)
    (path / 'thesis.tex').write_text('x')

    with pytest.raises(ConfigError, match=r"'thesis\.tex', and no settings\.json.*--out"):
        RunFolder(path)

    assert [item.name for item in path.iterdir()] == ['thesis.tex']


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('x')

    with pytest.raises(ConfigError, match=r'file/run cannot be written \(Not a directory\)'):
        RunFolder(tmp_path / 'file' / 'run')


def test_a_full_disk_is_an_error_that_loses_nothing(path: Path) -> None:
    kept = filled(path, 2)
    results = path / 'results.jsonl'
    whole = results.read_bytes()

    with RunFolder(path) as folder:
        with (
            no_file_grows_beyond(len(whole) + 100),
            pytest.raises(ConfigError, match=r'results\.jsonl cannot be written \(File too large'),
        ):
            folder.add(played(2))
        assert results.read_bytes() == whole
        folder.add(played(2))

    with RunFolder(path) as folder:
        assert list(folder.results.values())[:2] == kept
        assert len(folder.results) == 3
