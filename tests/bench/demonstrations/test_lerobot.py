"""The files of a data set: the layout of LeRobotDataset v3.0, and lerobot's own loader."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip('pyarrow', reason='the extra `lerobot` is not installed: make extras')
import pyarrow.parquet as pq  # noqa: E402

from bbllm.core.errors import ConfigError  # noqa: E402
from bbllm.llm.config import LlmConfig  # noqa: E402
from bbllm_bench.demonstrations.collecting import (  # noqa: E402
    StoppedError,
    collect,
    new_folder,
)
from bbllm_bench.demonstrations.columns import NO_STEP, SLOTS  # noqa: E402
from bbllm_bench.demonstrations.drawing import DemoSettings  # noqa: E402
from bbllm_bench.demonstrations.playing import FPS, play  # noqa: E402
from bbllm_bench.runner.workers import Workers  # noqa: E402

READER = Path(__file__).with_name('read_by_lerobot.py')
LEROBOT = 'BBLLM_LEROBOT_PYTHON'
SETTINGS = DemoSettings(episodes=8, seed=2, misses=0.6, unrepaired=0.3)


def make(out: Path, jobs: int, settings: DemoSettings = SETTINGS) -> Counter[str]:
    with closing(Workers(play, jobs)) as workers:
        return collect(settings, out, workers, llm=LlmConfig())


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[str]]:
    out = tmp_path_factory.mktemp('demos') / 'set'
    return out, make(out, 2)


def rows_of(folder: Path, name: str = 'data') -> dict[str, list[Any]]:
    tables = [pq.read_table(path) for path in sorted((folder / name).rglob('*.parquet'))]
    return dict(pa.concat_tables(tables).to_pydict())


@pytest.mark.slow  # eight episodes in physics once more
def test_data_sets_are_equal_for_equal_settings_whatever_the_number_of_jobs(
    made: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    make(tmp_path / 'again', 1)

    files = {path.relative_to(made[0]) for path in made[0].rglob('*') if path.is_file()}
    again = tmp_path / 'again'
    assert files == {path.relative_to(again) for path in again.rglob('*') if path.is_file()}
    for name in files:
        assert (made[0] / name).read_bytes() == (again / name).read_bytes(), name


def test_files_are_those_of_the_layout_and_info_describes_every_column(
    made: tuple[Path, Counter[str]],
) -> None:
    folder, counts = made
    info = json.loads((folder / 'meta' / 'info.json').read_text())
    schema = pq.read_schema(folder / 'data' / 'chunk-000' / 'file-000.parquet')

    names = {str(path.relative_to(folder)) for path in folder.rglob('*') if path.is_file()}
    assert names == {
        'README.md',
        'data/chunk-000/file-000.parquet',
        'meta/episodes/chunk-000/file-000.parquet',
        'meta/info.json',
        'meta/stats.json',
        'meta/subtasks.parquet',
        'meta/tasks.parquet',
    }
    assert info['codebase_version'] == 'v3.0' and info['fps'] == FPS
    assert info['total_episodes'] == counts['episodes'] == 8
    assert info['total_frames'] == counts['frames']
    assert info['splits'] == {'train': '0:8'}
    path = info['data_path'].format(chunk_index=0, file_index=0)
    assert (folder / path).is_file()
    assert set(schema.names) == set(info['features'])
    for name, feature in info['features'].items():
        size = len(feature['names'] or [0])
        kind = pa.from_numpy_dtype(np.dtype(feature['dtype']))
        assert feature['shape'] == [size] and '/' not in name
        assert schema.field(name).type == (kind if size == 1 else pa.list_(kind, size)), name
    assert info['features']['observation.environment_state']['shape'] == [7 * SLOTS]


def test_indexes_lengths_and_texts_go_together(made: tuple[Path, Counter[str]]) -> None:
    folder, counts = made
    rows, episodes = rows_of(folder), rows_of(folder, 'meta/episodes')
    tasks = pq.read_table(folder / 'meta' / 'tasks.parquet')
    subtasks = pq.read_table(folder / 'meta' / 'subtasks.parquet')

    assert rows['index'] == [*range(counts['frames'])]
    assert episodes['episode_index'] == [*range(8)]
    assert episodes['dataset_from_index'][0] == 0
    assert episodes['dataset_to_index'][-1] == counts['frames']
    assert episodes['dataset_from_index'][1:] == episodes['dataset_to_index'][:-1]
    assert tasks['task_index'].to_pylist() == [*range(len(tasks))]
    for i in range(8):
        of = slice(episodes['dataset_from_index'][i], episodes['dataset_to_index'][i])
        n = episodes['length'][i]
        assert rows['episode_index'][of] == [i] * n
        assert rows['frame_index'][of] == [*range(n)]
        assert np.allclose(rows['timestamp'][of], np.arange(n) / FPS, atol=1e-6)
        assert rows['next.done'][of] == [False] * (n - 1) + [True]
        assert rows['next.success'][of][-1] == episodes['success'][i]
        task = tasks['__index_level_0__'][rows['task_index'][of][0]].as_py()
        assert episodes['tasks'][i] == [task]
        texts = subtasks['__index_level_0__'].take(pa.array(rows['subtask_index'][of]))
        for text, step in zip(texts.to_pylist(), rows['step_index'][of], strict=True):
            assert (text == NO_STEP) is (step == -1)
        calls = zip(
            *(episodes[f'call_{name}'][i] for name in ('codes', 'from_frames', 'to_frames')),
            strict=True,
        )
        for code, begin, end in calls:
            failed = rows['call_failed'][of][begin:end]
            assert failed == [code != 'NONE'] * (end - begin)


def test_failures_repairs_and_verdicts_are_of_both_kinds(made: tuple[Path, Counter[str]]) -> None:
    folder, counts = made
    episodes = rows_of(folder, 'meta/episodes')

    assert {*episodes['success']} == {True, False}
    assert counts['succeeded'] == sum(episodes['success'])
    assert counts['repairs'] == sum(episodes['feedback_loops']) > 0
    assert all(bool(why) is not ok for ok, why in zip(episodes['success'], episodes['verdict']))
    assert {'pick_place', 'tabletop'} == {*episodes['suite']}
    assert f'episodes 8, frames {counts["frames"]}' in (folder / 'README.md').read_text()


def test_statistics_are_those_of_the_frames(made: tuple[Path, Counter[str]]) -> None:
    folder, counts = made
    rows, episodes = rows_of(folder), rows_of(folder, 'meta/episodes')
    stats = json.loads((folder / 'meta' / 'stats.json').read_text())

    assert set(stats) == set(rows)
    for name in ('action', 'observation.state', 'timestamp', 'call_failed', 'task_index'):
        column = np.array(rows[name], dtype=np.float64).reshape(counts['frames'], -1)
        own = stats[name]
        assert own['count'] == [counts['frames']]
        for key in ('min', 'max', 'mean', 'std'):
            expected = getattr(column, key)(axis=0)
            assert np.allclose(own[key], expected, rtol=1e-6, atol=1e-9), (name, key)
        first = column[: episodes['length'][0]]
        for key, share in (('q01', 0.01), ('q50', 0.5), ('q99', 0.99)):
            found = np.array(episodes[f'stats/{name}/{key}'][0])
            # As many frames are at most as great as the share tells, and not one fewer.
            assert ((first <= found).mean(axis=0) >= share).all()
            assert ((first < found).mean(axis=0) < share).all()
            parts = np.array(episodes[f'stats/{name}/{key}'], dtype=np.float64)
            weighted = np.average(parts, axis=0, weights=episodes['length'])
            assert np.allclose(own[key], weighted, rtol=1e-6, atol=1e-9)


@pytest.mark.slow  # more episodes in physics
def test_only_successful_episodes_where_that_is_asked(tmp_path: Path) -> None:
    out = tmp_path / 'set'
    settings = DemoSettings(episodes=3, seed=2, misses=1.0, unrepaired=0.7, only_successful=True)
    counts = make(out, 2, settings)
    episodes = rows_of(out, 'meta/episodes')

    assert episodes['success'] == [True] * 3
    assert counts['left_out'] > 0
    assert episodes['draw'] == sorted(episodes['draw']) != [0, 1, 2]


def test_what_exists_is_refused_and_what_is_unfinished_never_has_the_name(tmp_path: Path) -> None:
    out = tmp_path / 'set'
    with new_folder(out) as folder:
        assert not out.exists()
        (folder / 'data').mkdir()
    assert [path.name for path in out.iterdir()] == ['data']
    with pytest.raises(ConfigError, match='exists already'), new_folder(out):
        pass

    shutil.rmtree(out)
    with pytest.raises(ZeroDivisionError), new_folder(out):
        raise ZeroDivisionError
    assert not [*tmp_path.iterdir()]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    with (
        pytest.raises(ConfigError, match='file/set cannot be written'),
        new_folder(tmp_path / 'file' / 'set'),
    ):
        pass


def test_whoever_stops_leaves_nothing(tmp_path: Path) -> None:
    ends: Iterator[bool] = iter([False, True])
    with closing(Workers(play, 1)) as workers, pytest.raises(StoppedError):
        collect(
            SETTINGS,
            tmp_path / 'set',
            workers,
            llm=LlmConfig(),
            wants_end=lambda: next(ends, True),
        )

    assert not [*tmp_path.iterdir()]


@pytest.fixture
def read(made: tuple[Path, Counter[str]]) -> Callable[[], dict[str, Any]]:
    """Return what lerobot's own loader reads; skips where there is none."""
    here = sys.executable if importlib.util.find_spec('lerobot') else ''
    python = os.environ.get(LEROBOT, here)
    if not python:
        pytest.skip(
            f'lerobot is not installed: pip install lerobot==0.4.4 in an environment of its own, '
            f'and name its Python in {LEROBOT}'
        )
    environment = {**os.environ, 'HF_HUB_OFFLINE': '1', 'HF_HOME': str(made[0].parent / 'hf')}
    # Another environment must not see the packages of this one.
    environment.pop('PYTHONPATH', None)

    def run() -> dict[str, Any]:
        done = subprocess.run(
            [python, str(READER), str(made[0])],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return run


def test_the_loader_of_lerobot_reads_the_data_set(
    made: tuple[Path, Counter[str]], read: Callable[[], dict[str, Any]]
) -> None:
    folder, counts = made
    found, episodes = read(), rows_of(folder, 'meta/episodes')

    assert found['episodes'] == 8 and found['frames'] == counts['frames']
    assert found['part'] == found['length_of_1'] == episodes['length'][1]
    assert found['ahead'] == [2, 8] and found['next_action']
    assert found['batch'] == [8, 7 * SLOTS]
    assert [found['task']] in episodes['tasks'] and found['tasks'] == episodes['tasks']
    assert found['subtask'] and found['success'] == episodes['success']
    assert found['policy'] == {
        'observation.state': ['STATE', [8]],
        'observation.environment_state': ['ENV', [7 * SLOTS]],
        'action': ['ACTION', [8]],
    }
    # The quantiles of lerobot are those of histograms with 5,000 bins.
    assert found['off'] < 1 / 5000
