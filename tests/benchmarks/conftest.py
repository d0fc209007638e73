"""The command `bbllm` in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bbllm.cli.main import app

# The helpers of these tests; pytest's importlib mode puts no test folder on the path.
HERE = Path(__file__).parent
sys.path += [str(folder) for folder in (HERE, HERE.parent / 'bench', HERE.parent / 'doubles')]


@pytest.fixture
def bbllm() -> Callable[..., Result]:
    """Return the command, as a function of its words."""
    return lambda *words: CliRunner().invoke(app, list(words), prog_name='bbllm')
