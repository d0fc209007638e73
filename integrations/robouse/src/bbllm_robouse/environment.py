"""Where the interpreter of bbllm is, seen from the environment of Robo Use."""

import os
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]
"""The folder that contains this package."""


def bbllm_python() -> str:
    """
    Return the interpreter that has bbllm: BBLLM_PYTHON, else that of the checkout around it.

    Raises:
        RuntimeError: There is none; states how to name one.
    """
    given = os.environ.get('BBLLM_PYTHON', '')
    python = Path(given) if given else SOURCES.parents[2] / '.venv' / 'bin' / 'python'
    if not python.exists():
        raise RuntimeError(
            f'There is no Python of bbllm at {python}. Run `make setup` in a checkout, or '
            'set BBLLM_PYTHON to an interpreter that can import bbllm.'
        )
    return str(python)


def with_sources(environment: dict[str, str]) -> dict[str, str]:
    """Return an environment in which the interpreter of bbllm finds this package."""
    return {**environment, 'PYTHONPATH': str(SOURCES)}
