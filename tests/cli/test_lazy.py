"""`bbllm --help` lists the verbs without importing them, and each is found where it is listed."""

import importlib
import subprocess
import sys

import pytest
import typer

from bbllm.cli.commands.bench import COMMANDS
from bbllm.cli.support.lazy import command_of
from bbllm.cli.support.verb_group import VERBS

HELP = """
import sys
from bbllm.cli.main import app
try:
    app(['--help'])
except SystemExit:
    pass
heavy = {'mujoco', 'numpy', 'scipy', 'yaml', 'pydantic', 'openai', 'rclpy'} & set(sys.modules)
verbs = [name for name in sys.modules if name.startswith('bbllm.cli.commands.')]
sys.exit(f'imported: {heavy} {verbs}' if heavy or verbs else 0)
"""


def test_help_imports_no_verb_and_no_large_library() -> None:
    done = subprocess.run(
        [sys.executable, '-c', HELP], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert 'Carry out one task' in done.stdout


@pytest.mark.parametrize('name', VERBS)
def test_help_line_of_a_verb_is_the_first_of_its_own_help(name: str) -> None:
    verb = getattr(importlib.import_module(f'bbllm.cli.commands.{name}'), name)
    command = command_of(verb)

    lines = command.help.partition('\n\n')[0].split('\n')
    assert ' '.join(line.strip() for line in lines) == VERBS[name]
    assert isinstance(verb, typer.Typer) is (name == 'bench')


@pytest.mark.parametrize('name', COMMANDS)
def test_commands_of_the_bench_are_where_they_are_listed(name: str) -> None:
    module = importlib.import_module(f'bbllm.cli.commands.bench_{name}')

    assert command_of(getattr(module, name)).help
