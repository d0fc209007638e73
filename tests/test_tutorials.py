"""The commands of the tutorials work as they stand there."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from bbllm.sim.drawing import PACKAGES
from tests.doubles.terminals import bbllm, running_stack

CAMERA = Path(__file__).parent.parent / 'docs' / 'tutorials' / 'camera.md'


def commands(page: Path, start: str) -> list[str]:
    """Return the commands in the blocks of a page that begin with *start*."""
    blocks = re.findall(r'^```\n(.*?)^```', page.read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith(start)]


UP = commands(CAMERA, 'bbllm up')
ON_STACK = [c for c in commands(CAMERA, 'bbllm run') if '--world' not in c]
PRINTS = commands(CAMERA, 'bbllm calibrate board')
ALONE = [c for c in commands(CAMERA, 'bbllm ') if c not in (*UP, *ON_STACK, *PRINTS)]
LAUNCHES = commands(CAMERA, 'ros2 launch bbllm')
ENDS = {
    'bbllm run': 'FINISHED (goal: met)',
    'bbllm demo': 'no cube more than',
    'bbllm calibrate sim': 'Truth: the camera is',
}
"""What each verb prints at its end when it did what the page says."""


def test_the_commands_of_the_page_are_found() -> None:
    text = CAMERA.read_text()
    assert len(UP) == len(ON_STACK) == len(PRINTS) == 1
    assert len(ALONE) + 3 == len(re.findall(r'^bbllm \w+', text, re.MULTILINE)) > 5


def test_one_word_is_replaced_and_two_are_added_for_the_real_arm() -> None:
    in_simulation, real = (set(line.split()) for line in LAUNCHES)
    assert in_simulation - real == {'franka_sim.launch.py'}
    added = real - in_simulation - {'franka_real.launch.py'}
    assert {word.partition(':=')[0] for word in added} == {'robot_ip', 'cameras'}
    for word in (*added, 'franka_real.launch.py'):
        assert f'| `{word}` |' in CAMERA.read_text()


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


def test_the_board_is_printed(tmp_path: Path) -> None:
    (command,) = PRINTS
    assert 'Print it at 100 %' in run(command, tmp_path)
    assert (tmp_path / 'board.pdf').stat().st_size > 0


@pytest.mark.slow  # each draws some hundred pictures in software
@pytest.mark.parametrize('command', ALONE)
def test_a_command_does_what_it_is_for(command: str, tmp_path: Path) -> None:
    (end,) = [words for verb, words in ENDS.items() if command.startswith(verb)]
    assert end in run(command, tmp_path)


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
    assert ENDS['bbllm run'] in run(command, stack)
