"""The commands of the tutorials work as they stand there."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminals import bbllm, running_stack

from bbllm.sim.drawing import PACKAGES

CAMERA = Path(__file__).parent.parent / 'docs' / 'tutorials' / 'camera.md'


def commands(page: Path, start: str) -> list[str]:
    """Return the commands in the blocks of a page that begin with *start*."""
    blocks = re.findall(r'^```\n(.*?)^```', page.read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith(start)]


UP = commands(CAMERA, 'bbllm up')
ON_STACK = [c for c in commands(CAMERA, 'bbllm run') if '--world' not in c]
ALONE = [c for c in commands(CAMERA, 'bbllm ') if c not in (*UP, *ON_STACK)]


def test_the_commands_of_the_page_are_found() -> None:
    text = CAMERA.read_text()
    assert len(UP) == len(ON_STACK) == 1
    assert len(ALONE) + 2 == len(re.findall(r'^bbllm \w+', text, re.MULTILINE)) > 5


def run(command: str, state: Path) -> str:
    """Run a command to its end; returns what it printed. Skips where nothing can be drawn."""
    words = shlex.split(command)[1:]
    if words[:2] == ['calibrate', 'board']:
        words[2] = str(state / words[2])
    done = bbllm({**os.environ, 'XDG_STATE_HOME': str(state)}, *words, timeout_s=900.0)
    if done.returncode and PACKAGES in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow  # each draws some hundred pictures in software
@pytest.mark.parametrize('command', ALONE)
def test_a_command_does_what_it_is_for(command: str, tmp_path: Path) -> None:
    printed = run(command, tmp_path)
    if command.startswith(('bbllm run', 'bbllm demo')):
        assert 'FINISHED (goal: met)' in printed or 'FINISHED (goal: not checked)' in printed


@pytest.fixture
def stack(tmp_path: Path, ros_domain: int) -> Iterator[Path]:
    """Start the stack with the command of the tutorial."""
    (command,) = UP
    words = tuple(shlex.split(command)[1:])
    with running_stack({**os.environ, 'XDG_STATE_HOME': str(tmp_path)}, '--speed', '0', up=words):
        yield tmp_path


@pytest.mark.slow
@pytest.mark.ros
def test_the_task_is_done_on_the_stack(stack: Path) -> None:
    (command,) = ON_STACK
    assert 'FINISHED' in run(command, stack)
