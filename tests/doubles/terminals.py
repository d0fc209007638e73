"""`bbllm` as a process: on a terminal of its own, which is read and typed to, or without one."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_S = 120.0


def start(environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    """Start `bbllm` without a terminal."""
    return subprocess.Popen(
        [sys.executable, '-u', '-m', 'bbllm', *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def bbllm(
    environment: dict[str, str], *words: str, timeout_s: float = PATIENCE_S
) -> subprocess.CompletedProcess[str]:
    """Run `bbllm` without a terminal to its end."""
    process = start(environment, *words)
    out, err = process.communicate(timeout=timeout_s)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """Read lines until one holds these words; fails where the process ends before."""
    assert process.stdout is not None
    output = ''
    for line in process.stdout:
        output += line
        if words in line:
            return output
    raise AssertionError(f'no {words!r} was printed, but: {output}')


def end(process: subprocess.Popen[str]) -> int:
    """Press Ctrl-C, and wait for the end."""
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    return int(process.returncode)


@contextmanager
def running_stack(
    environment: dict[str, str], *words: str, up: tuple[str, ...] = ('up', 'sim')
) -> Iterator[str]:
    """Keep a stack running; yields what was printed until it was ready."""
    process = start(environment, *up, *words)
    try:
        yield read_until(process, 'Ctrl-C here ends all nodes')
    finally:
        end(process)


class Terminal:
    """`bbllm` on a pseudo-terminal; ended when left."""

    def __init__(self, environment: dict[str, str], *words: str):
        self._master, slave = pty.openpty()
        self.output = ''
        self._read = 0
        self.process = subprocess.Popen(
            [sys.executable, '-u', '-m', 'bbllm', *words],
            env={**environment, 'TERM': 'xterm', 'COLUMNS': '200', 'LINES': '50'},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def wait_for(self, words: str) -> None:
        """Read on until these words were printed, after those that were waited for before."""
        deadline_s = time.monotonic() + PATIENCE_S
        while (found := self.output.find(words, self._read)) < 0:
            assert time.monotonic() < deadline_s, (
                f'{words!r} was never printed, but: {self.output}'
            )
            assert self._read_more() or self.process.poll() is None, (
                f'the program ended without {words!r}, but: {self.output}'
            )
        self._read = found + len(words)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        """Read to the end and return the exit code."""
        deadline_s = time.monotonic() + PATIENCE_S
        while self._read_more() or self.process.poll() is None:
            assert time.monotonic() < deadline_s, f'it does not end: {self.output}'
        return self.process.wait()

    def _read_more(self) -> bool:
        if not select.select([self._master], [], [], 0.1)[0]:
            return False
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # the other end was closed: the program has ended
            time.sleep(0.05)
            return False
        self.output += piece.decode(errors='replace')
        return bool(piece)
