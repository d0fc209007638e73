"""`bbllm --help` lists the verbs without importing them, and each is found where it is listed."""

import importlib
import subprocess
import sys

import pytest
import typer

from bbllm.cli.support.lazy import command_of
from bbllm.cli.support.verb_group import find_verbs
from bbllm_bench.commands.bench import COMMANDS

HELP = """
import sys
from contextlib import suppress
from bbllm.cli.main import app
asked, heavy = sys.argv[1].split(','), set(sys.argv[2].split(','))
for verb in asked:
    with suppress(SystemExit):
        app([*verb.split(), '--help'], prog_name='bbllm')
    if found := sorted(heavy & set(sys.modules)):
        sys.exit(f'bbllm {verb} --help imports {found}')
verbs = [name for name in sys.modules if '.commands.' in name and name.startswith('bbllm')]
sys.exit(f'imported: {verbs}' if asked == [''] and verbs else 0)
"""
VERBS = find_verbs()
IN_NO_HELP = ['mujoco', 'scipy', 'mink', 'openai', 'rclpy']
IN_NO_LIST = ['rich', 'numpy', 'yaml']
"""What a list of verbs does without, too."""


def help_of(verbs: list[str], without: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, '-c', HELP, ','.join(verbs), ','.join(without)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_imports_no_verb_and_no_large_library() -> None:
    text = help_of([''], [*IN_NO_HELP, *IN_NO_LIST, 'pydantic'])

    assert 'Carry out one task, given in plain words.' in text


def test_help_of_no_verb_imports_simulator_ros_or_client_of_models() -> None:
    commands = [f'bench {name}' for name in (*COMMANDS, 'tabletop', 'eai-export', 'eai-score')]

    text = help_of([*VERBS, *commands], IN_NO_HELP)

    assert text.count('Usage: bbllm') == len(VERBS) + len(commands)


@pytest.mark.parametrize('name', VERBS)
def test_help_line_of_a_verb_is_the_first_of_its_own_help(name: str) -> None:
    verb = getattr(importlib.import_module(VERBS[name].module), name)
    command = command_of(verb)

    lines = command.help.partition('\n\n')[0].split('\n')
    assert ' '.join(line.strip() for line in lines) == VERBS[name].help
    assert isinstance(verb, typer.Typer) is (name in ('bench', 'calibrate', 'data'))
