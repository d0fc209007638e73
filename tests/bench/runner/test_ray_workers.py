"""A Ray cluster of two workers, from a process of its own: Ray takes over much of one."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_play import make_job

from bbllm.bench.log.versions import find_versions
from bbllm.bench.runner import ray_workers
from bbllm.bench.runner.ray_workers import RayWorkers, attempt_there, need_ray
from bbllm.bench.runner.worker_result import Refused
from bbllm.core.errors import ConfigError

WAIT_S = 120.0
HAS_RAY = importlib.util.find_spec('ray') is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason='ray is not installed (extra `ray`)')

RUN = """
import json, sys
sys.path.insert(0, {tests!r})
from functools import partial
from pathlib import Path
import fake_play
from fake_run import Notes, run_fake
from bbllm.bench.runner.ray_workers import RayWorkers

notes = Notes()
hire = partial(RayWorkers, fake_play.play, 'local')
end = run_fake(Path(sys.argv[1]), *sys.argv[2:], hire=hire, notes=notes, ks=(0,), trials=3)
print(json.dumps({{'reason': end.reason, 'done': end.progress.done, 'lost': end.progress.lost,
    'warnings': notes.warnings}}))
"""


def run_on_ray(folder: Path, *tasks: str) -> dict[str, object]:
    code = RUN.format(tests=str(Path(__file__).parent.parent))
    done = subprocess.run(
        [sys.executable, '-c', code, str(folder), *tasks],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(data, dict)
    return data


@pytest.mark.slow
@needs_ray
def test_two_workers_of_a_local_cluster_play_everything_and_outlive_a_death(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('BBLLM_TEST_MARKS', str(tmp_path))

    end = run_on_ray(tmp_path / 'run', 'fine', 'slow', 'dies_once', 'faulty')

    assert (end['reason'], end['done'], end['lost']) == ('', 12, 3)
    warnings = end['warnings']
    assert isinstance(warnings, list)
    assert sum('It is played once more.' in text for text in warnings) == 3
    assert sum('a wheel came off' in text for text in warnings) == 3


@needs_ray
def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'no Ray cluster at 127\.0\.0\.1:1 .*--ray local'):
        RayWorkers(lambda job: pytest.fail('played'), '127.0.0.1:1', 2)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_workers.importlib.util, 'find_spec', lambda name: None)

    with pytest.raises(ConfigError, match=r'pip install ray .*extra `ray`'):
        need_ray()


def test_a_machine_with_another_version_is_refused_by_name() -> None:
    job = make_job()

    answer = attempt_there(
        lambda job: pytest.fail('played'), job, {**find_versions(), 'mujoco': '2.0', 'commit': 'x'}
    )

    assert isinstance(answer, Refused)
    assert 'has mujoco 3.' in answer.reason
    assert 'this one 2.0' in answer.reason
