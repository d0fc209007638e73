"""The commands of the README work as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

README = Path(__file__).parent.parent / 'README.md'


def commands(start: str) -> list[str]:
    """Return the README's commands that begin with *start*, without their comments."""
    fences = re.findall(r'^```\n(.*?)^```', README.read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = [line for fence in fences for line in fence.splitlines()]
    return [re.split(r'\s{2,}#', line)[0] for line in lines if line.startswith(start)]


def run(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, '-m', *shlex.split(command)]
    return subprocess.run(
        words,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


WITHOUT_STACK = [c for c in commands('bbllm ') if not c.startswith(('bbllm up', 'bbllm run'))]


def test_the_readme_has_the_commands_that_are_tested_here() -> None:
    assert len(WITHOUT_STACK) >= 4
    assert commands('bbllm up') and commands('bbllm run') and commands('ros2 action')


@pytest.mark.parametrize('target', [c.split()[1] for c in commands('make ')])
def test_the_makefile_has_the_target(target: str) -> None:
    makefile = (README.parent / 'Makefile').read_text()

    assert re.search(rf'^{target}:', makefile, flags=re.MULTILINE)


@pytest.mark.parametrize('command', WITHOUT_STACK)
def test_a_command_does_what_it_is_for(command: str, tmp_path: Path) -> None:
    if command.startswith('bbllm show'):
        done = run('bbllm demo', XDG_STATE_HOME=str(tmp_path))
        assert done.returncode == 0, done.stderr

    done = run(command, XDG_STATE_HOME=str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


def test_a_link_of_the_readme_leads_to_a_file() -> None:
    links = re.findall(r'\]\((?!https?:)([^)#]+)\)', README.read_text())

    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


@pytest.mark.ros
def test_the_goal_that_is_sent_by_hand_fits_the_interface() -> None:
    from bbllm_interfaces.action import RunTask

    words = shlex.split(commands('ros2 action')[0])
    goal = RunTask.Goal(**yaml.safe_load(words[-1]))

    assert words[-2] == 'bbllm_interfaces/action/RunTask'
    assert goal.task == 'put the red cube on location_B'


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Start the stack with the README's command, and end it as a person would."""
    variables = {'XDG_STATE_HOME': str(tmp_path), 'PYTHONUNBUFFERED': '1'}
    process = subprocess.Popen(
        [sys.executable, '-m', *shlex.split(commands('bbllm up')[0]), '--speed', '0'],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield variables
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        print(output)


@pytest.mark.ros
def test_a_task_is_given_to_a_running_stack(stack: dict[str, str]) -> None:
    for command in commands('bbllm run'):
        done = run(command, **stack)
        assert done.returncode == 0, done.stdout + done.stderr
        assert 'FINISHED' in done.stdout
