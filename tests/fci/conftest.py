"""`bbllm up fci` in a process of its own, and clients in others: unmodified libfranka."""

import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_fci.library import need_franka_sim

START_S = 120.0
"""How long a server or a client may take to answer, on a busy machine [s]."""


def free_address() -> str:
    """Return a loopback address that no other test process takes."""
    high, low = divmod(os.getpid() % 65024, 254)
    return f'127.8.{high}.{low + 1}'


class Served:
    """A table that is served, and the lines of its process."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.address = address
        self._process = process
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip())

    def until(self, text: str) -> list[str]:
        """Return the lines up to one that contains a text."""
        lines: list[str] = []
        while not lines or text not in lines[-1]:
            try:
                lines.append(self._lines.get(timeout=START_S))
            except queue.Empty:
                pytest.fail(f'bbllm up fci did not print {text!r} in {START_S:g} s: {lines}')
        return lines

    def send(self, line: str) -> list[str]:
        assert self._process.stdin is not None
        self._process.stdin.write(f'{line}\n')
        self._process.stdin.flush()
        return self.until(f'done: {line}')

    def height_m(self, name: str) -> float:
        """Return how high the middle of an object is, by the physics itself [m]."""
        rows = [line.split() for line in self.send('objects')]
        return next(float(row[3]) for row in rows if row and row[0] == name)


@pytest.fixture(scope='module')
def served() -> Iterator[Served]:
    """Serve the scene tabletop to the tests of a module, at half of real time."""
    with serving(free_address(), '--speed', '0.5') as table:
        yield table


@contextmanager
def serving(address: str, *options: str) -> Iterator[Served]:
    """Run `bbllm up fci` at an address; skips the test where its libraries are missing."""
    for module in ('franky', 'pylibfranka'):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: make extras')
    try:
        need_franka_sim()
    except ConfigError as error:
        pytest.skip(str(error))
    with subprocess.Popen(
        [sys.executable, '-m', 'bbllm', 'up', 'fci', '--ip', address, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
    ) as process:
        table = Served(process, address)
        try:
            table.until('Ctrl-C ends it.')
            yield table
        finally:
            process.terminate()


def run_client(script: str, address: str, *, check: bool = True) -> Any:
    """
    Run a client in a process of its own, as franky and pylibfranka cannot share one.

    Returns the value of the JSON that it prints last.
    """
    done = subprocess.run(
        [sys.executable, '-c', script, address],
        capture_output=True,
        text=True,
        timeout=START_S,
    )
    assert not check or done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
