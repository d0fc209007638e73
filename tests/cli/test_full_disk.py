"""A full disk costs pictures and lines of a journal, never the result of an episode."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from told_events import event

from bbllm.cli.support import stack_session
from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted
from bbllm.core.journal import JournalWriter
from bbllm.core.paths import write_whole

TASK = 'put the red cube on location_B'
WAIT_S = 120.0
Bbllm = Callable[..., Any]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Return where the small disk will be mounted."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    return folder


@pytest.fixture
def on_full_disk(tmp_path: Path, disk: Path, environment: dict[str, str]) -> Bbllm:
    """Return the command with a disk of so many kilobytes, in a mount namespace of its own."""
    # Without root, a user namespace makes this process root of its own mounts.
    apart = ['unshare', '-m'] if os.geteuid() == 0 else ['unshare', '-rm']

    def with_disk(size_kb: int, script: str, *words: str, **more: str) -> Any:
        mount = f'mount -t tmpfs -o size={size_kb}k tmpfs {disk} && exec {script}'
        return subprocess.run(
            [*apart, 'sh', '-c', mount, 'sh', *words],
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )

    if shutil.which('unshare') is None or with_disk(4, 'true').returncode:
        pytest.skip('needs to mount a small disk: root, or user namespaces')

    def run(size_kb: int, *words: str, stdout: str = '', **more: str) -> Any:
        script = '"$@"' + (f' > {stdout}' if stdout else '')
        return with_disk(size_kb, script, sys.executable, '-m', 'bbllm', *words, **more)

    return run


@pytest.mark.parametrize(
    ('size_kb', 'warns'),
    [(24, '.jsonl breaks off: No space left on device'), (40, '-render.png cannot be written')],
    ids=['the end of the journal', 'pictures'],
)
def test_a_finished_episode_keeps_its_result_where_its_files_cannot_be_written(
    on_full_disk: Bbllm, disk: Path, size_kb: int, warns: str
) -> None:
    done = on_full_disk(
        size_kb, 'run', TASK, '--world', 'tabletop', '--json', XDG_STATE_HOME=str(disk)
    )

    data = json.loads(done.stdout)
    assert (done.returncode, data['ending'], data['pictures']) == (0, 'FINISHED', [])
    assert 'Traceback' not in done.stderr
    assert warns in done.stderr
    assert '.svg cannot be written (No space left on device)' in done.stderr


@pytest.mark.parametrize('what', ['journal', 'recording'])
def test_an_episode_that_cannot_be_put_on_record_ends_in_words(
    on_full_disk: Bbllm, disk: Path, what: str
) -> None:
    words = ('run', TASK, '--world', 'tabletop', '--json')
    if what == 'journal':
        done = on_full_disk(8, *words, XDG_STATE_HOME=str(disk))
    else:
        done = on_full_disk(8, *words, '--record', str(disk / 'talk.jsonl'))

    data = json.loads(done.stdout)
    assert (done.returncode, data['ending']) == (1, 'WORLD_FAILED')
    assert f'The {what} ' in data['message']
    assert 'No space left on device' in data['message']


def test_an_object_that_cannot_be_written_to_stdout_is_an_error_in_words(
    on_full_disk: Bbllm,
) -> None:
    done = on_full_disk(4, 'run', TASK, '--world', 'tabletop', '--json', stdout='/dev/full')

    assert done.returncode == 1
    assert 'Traceback' not in done.stderr
    assert 'The output cannot be written (No space left on device).' in done.stderr


@pytest.mark.ros
def test_a_task_of_a_stack_keeps_its_exit_code_where_nothing_can_be_written(
    on_full_disk: Bbllm, disk: Path, ros_domain: int
) -> None:
    words = ('demo', TASK, '--scene', 'tabletop', '--ros', '--json')
    done = on_full_disk(60, *words, XDG_STATE_HOME=str(disk))

    data = json.loads(done.stdout)
    assert (done.returncode, data['ending']) == (0, 'FINISHED')
    assert 'cannot be written (No space left on device)' in done.stderr


def test_what_was_heard_of_a_stack_counts_where_its_journal_breaks_off(state: Path) -> None:
    heard = [
        event(EpisodeStarted(episode_id='e1', task='tidy', planner='p', brain='b', body='c')),
        event(EpisodeEnded(ending=Ending.FINISHED, message='')),
    ]
    with JournalWriter(state, 'e1') as journal:
        journal(heard[0])

    ran = stack_session._ran('e1', heard, interrupted=False)

    assert ran.episode.ending is Ending.FINISHED
    assert 'e1.jsonl breaks off' in ran.hints[0]
    assert stack_session._ran('e1', heard[1:], interrupted=False).episode.ending is None


def test_no_half_file_is_left_of_one_that_cannot_be_written(tmp_path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        with pytest.raises(OSError, match='File too large'):
            write_whole(tmp_path / 'picture.png', bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)

    assert list(tmp_path.iterdir()) == []
