"""`bbllm up fci` in a process of its own, and clients in others: unmodified libfranka."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_fci.library import need_franka_sim
from bbllm_fci.process import ANSWER_S, TableProcess


def free_address() -> str:
    """Return a loopback address that no other test process takes."""
    high, low = divmod(os.getpid() % 65024, 254)
    return f'127.8.{high}.{low + 1}'


def height_m(table: TableProcess, name: str) -> float:
    """Return how high the middle of an object is, by the physics itself [m]."""
    return table.objects()[name].position_m[2]


@pytest.fixture(scope='module')
def served() -> Iterator[TableProcess]:
    """Serve the scene tabletop to the tests of a module, at half of real time."""
    with serving(free_address(), '--speed', '0.5') as table:
        yield table


@contextmanager
def serving(address: str, *options: str) -> Iterator[TableProcess]:
    """Run `bbllm up fci` at an address; skips the test where its libraries are missing."""
    for module in ('franky', 'pylibfranka'):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: make extras')
    try:
        need_franka_sim()
    except ConfigError as error:
        pytest.skip(str(error))
    with TableProcess(address, *options) as table:
        yield table


def run_client(script: str, address: str, *, check: bool = True) -> Any:
    """
    Run a client in a process of its own, as franky and pylibfranka cannot share one.

    Returns the value of the JSON that it prints last.
    """
    done = subprocess.run(
        [sys.executable, '-c', script, address],
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
    )
    assert not check or done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
