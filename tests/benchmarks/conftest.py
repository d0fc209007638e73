"""The command `bbllm` in this process."""

from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from bbllm.cli.main import app


@pytest.fixture
def bbllm() -> Callable[..., Result]:
    """Return the command, as a function of its words."""
    return lambda *words: CliRunner().invoke(app, list(words), prog_name='bbllm')
