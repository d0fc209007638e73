"""The command as a process of its own, on real physics: what the first minute is like."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from bbllm.core.events import Ending, Episode, EpisodeEnded, EpisodeStarted
from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import EventSink
from bbllm.core.types import Task
from tests.cli.event_examples import event
from tests.doubles.terminals import bbllm, read_until, start

WAIT_S = 120.0
TASK = 'put the red cube on location_B'
Env = dict[str, str]


def bash(environment: dict[str, str], command: str) -> subprocess.CompletedProcess[str]:
    words = ['bash', '-c', command]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=WAIT_S)


@pytest.fixture
def running(own_environment: Env) -> Iterator[subprocess.Popen[str]]:
    """Yield a task that runs in real time, whose first call has just begun."""
    with start(own_environment, 'run', TASK, '--world', 'tabletop', '--speed', '1') as process:
        read_until(process, ' call ')
        yield process
        process.kill()


def last_event(state: Path) -> dict[str, Any]:
    """Return the last line of the only journal."""
    (journal,) = state.glob('*.jsonl')
    data = json.loads(journal.read_text().splitlines()[-1])
    assert isinstance(data, dict)
    return data


def test_demo_builds_the_plus_sign_and_repairs_what_is_out_of_reach(own_environment: Env) -> None:
    result = bbllm(own_environment, 'demo', '--json')

    data = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert data['check']['passed']
    assert data['feedback_loops'] >= 2
    assert result.stderr.count('is out of the workspace of the robot') >= 2
    assert all(Path(path).stat().st_size > 10_000 for path in data['pictures'])
    png = next(path for path in data['pictures'] if path.endswith('.png'))
    assert Image.open(png).width > 1000


def test_ctrl_c_stops_the_arm_ends_the_journal_and_exits_130(
    running: subprocess.Popen[str], state: Path
) -> None:
    running.send_signal(signal.SIGINT)

    out, err = running.communicate(timeout=WAIT_S)

    assert running.returncode == 130
    assert 'Traceback' not in out + err
    assert last_event(state)['data']['ending'] == 'CANCELLED'
    assert list(state.glob('*.svg')) == []
    assert 'Nothing was drawn' in out


def test_ctrl_c_while_modules_are_loaded_prints_nothing_and_exits_130(
    own_environment: Env, tmp_path: Path
) -> None:
    # The first module that the command line loads presses Ctrl-C and takes its time.
    slow = 'import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n'
    (tmp_path / 'typer.py').write_text(slow)
    paths = os.pathsep.join([str(tmp_path), own_environment['PYTHONPATH']])

    result = bbllm({**own_environment, 'PYTHONPATH': paths}, '--version')

    assert result.returncode == 130
    assert result.stdout + result.stderr == ''


def test_events_before_the_process_was_killed_can_be_shown(
    running: subprocess.Popen[str], own_environment: Env
) -> None:
    running.kill()
    running.wait(timeout=WAIT_S)

    shown = bbllm(own_environment, 'show')
    data = json.loads(bbllm(own_environment, 'show', '--json').stdout)

    assert (shown.returncode, 'pick(red_cube)' in shown.stdout) == (0, True)
    assert (data['ending'], data['task']) == ('INTERRUPTED', TASK)


@pytest.mark.slow  # an episode with its pictures
def test_an_episode_whose_reader_goes_away_is_carried_out_and_drawn(
    own_environment: Env, state: Path
) -> None:
    words = f"run '{TASK}' --world tabletop"
    command = f'{sys.executable} -m bbllm {words} | head -n 1; echo ${{PIPESTATUS[0]}} >&2'

    result = bash(own_environment, command)

    assert last_event(state)['data']['ending'] == 'FINISHED'
    assert list(state.glob('*.svg'))
    assert result.stderr.split() == ['141']

    (state / 'long.jsonl').write_text('{}\n' * 100_000)
    shown = bash(own_environment, f'{sys.executable} -m bbllm show long --events | head -n 1')

    assert (shown.stdout, shown.stderr) == ('{}\n', '')


def test_an_ascii_terminal_does_not_break_what_is_printed(own_environment: Env) -> None:
    ascii_only = {**own_environment, 'PYTHONIOENCODING': 'ascii'}

    result = bbllm(ascii_only, 'plan', '把红色方块放在蓝色方块上')

    assert 'Traceback' not in result.stderr and 'UnicodeEncodeError' not in result.stderr


@pytest.mark.ros
def test_what_was_received_of_a_stack_counts_where_its_journal_breaks_off(state: Path) -> None:
    from bbllm_ros.stack.session import episode_on_stack

    sent = [
        event(EpisodeStarted(episode_id='e1', task='tidy', planner='p', brain='b', body='c')),
        event(EpisodeEnded(ending=Ending.FINISHED, message='')),
    ]
    with JournalWriter(state, 'e1') as journal:
        journal(sent[0])

    def run(n_lost: int) -> Episode:
        def run_task(task: str, *, on_event: EventSink, **_: object) -> SimpleNamespace:
            for each in sent[n_lost:]:
                on_event(each)
            return SimpleNamespace(refused=False)

        client: Any = SimpleNamespace(run_task=run_task)
        return episode_on_stack(client, Task('e1', 'tidy'), None, lambda event: None)

    assert run(n_lost=0).ending is Ending.FINISHED
    assert run(n_lost=1).ending is None
