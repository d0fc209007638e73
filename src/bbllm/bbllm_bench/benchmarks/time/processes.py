"""Commands as processes: what they print, how long they take, and that they end."""

from __future__ import annotations

import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bbllm.core.errors import WorldError

END_S = 30.0
"""How long a command may take to end after Ctrl-C before it is killed [s]."""


def run_command(
    command: Sequence[str], timeout_s: float, environ: Mapping[str, str] | None = None
) -> tuple[str, float, float]:
    """
    Run a command to its end; return its standard output, wall time and processor time [s].

    Processor time is that of the process and of its children that have ended.

    Raises:
        WorldError: It failed, or took longer than the time-out; names it, with the end of what it
            printed.
    """
    begun_s, used_s = time.perf_counter(), _children_s()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        text=True,
        start_new_session=True,
    )
    try:
        printed, stated = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise WorldError(f'{words_of(command)!r} did not end within {timeout_s:g} s.') from None
    finally:
        _kill(process)
    wall_s, used_s = time.perf_counter() - begun_s, _children_s() - used_s
    if process.returncode:
        raise WorldError(
            f'{words_of(command)!r} ended with code {process.returncode}: '
            f'{(stated or printed)[-500:].strip()}'
        )
    return printed, wall_s, used_s


class Started(NamedTuple):
    """A process that is ready."""

    pid: int
    ready_s: float
    """From its start to the line that states so [s]."""
    line: str


@contextmanager
def running(
    command: Sequence[str],
    ready: str,
    timeout_s: float,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Started]:
    """
    Yield a process once a line with *ready* was printed; then end it as Ctrl-C does.

    Raises:
        WorldError: It ended before, or there was no such line in time; with what it printed.
    """
    begun_s = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environ,
        text=True,
        start_new_session=True,
    )
    lines = queue.SimpleQueue[str]()
    # Reads to the end, so that the process never waits for a reader.
    reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
    reader.start()
    try:
        printed, line = '', ''
        while ready not in line:
            left_s = timeout_s - (time.perf_counter() - begun_s)
            try:
                line = lines.get(timeout=max(0.0, left_s))
            except queue.Empty:
                line = ''
            if not line:
                raise WorldError(
                    f'{words_of(command)!r} did not print {ready!r} within {timeout_s:g} s: '
                    f'{printed[-500:].strip()}'
                )
            printed += line
        yield Started(process.pid, time.perf_counter() - begun_s, line)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        _kill(process)
        reader.join(END_S)


def family_of(pid: int) -> list[int]:
    """
    Return a process and all its descendants.

    Raises:
        OSError: It has gone.
    """
    found = [pid]
    for parent in found:
        for task in Path(f'/proc/{parent}/task').iterdir():
            found += [int(child) for child in (task / 'children').read_text().split()]
    return found


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def words_of(command: Sequence[str]) -> str:
    """Return a command as a person would type it."""
    return ' '.join(['python', *command[1:]] if command[0] == sys.executable else command)


def _children_s() -> float:
    """Return the processor time of all children that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put('')


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process for certain, and what it has started and left behind in its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
