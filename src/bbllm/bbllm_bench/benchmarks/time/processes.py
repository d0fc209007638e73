"""Commands as processes: what they print, how long they take, and that they end."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from bbllm.core.errors import WorldError

END_S = 30.0
"""How long a command may take to end after Ctrl-C before it is killed [s]."""
POLL_S = 0.01
"""How often the output of a command is read while it starts [s]."""


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
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environ,
            text=True,
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired:
        raise WorldError(f'{_words(command)!r} did not end within {timeout_s:g} s.') from None
    wall_s, used_s = time.perf_counter() - begun_s, _children_s() - used_s
    if done.returncode:
        raise WorldError(
            f'{_words(command)!r} ended with code {done.returncode}: '
            f'{(done.stderr or done.stdout)[-500:].strip()}'
        )
    return done.stdout, wall_s, used_s


class Started(NamedTuple):
    """A process that is ready."""

    pid: int
    ready_s: float
    """From its start to the line that states so [s]."""


@contextmanager
def running(
    command: Sequence[str],
    ready: str,
    timeout_s: float,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Started]:
    """
    Yield a process once it has printed *ready*; then end it as Ctrl-C does.

    Raises:
        WorldError: It ended before, or had not printed it in time; with what it printed.
    """
    begun_s = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environ,
            start_new_session=True,
        )
        try:
            while ready not in (printed := _read(output)):
                spent_s = time.perf_counter() - begun_s
                if process.poll() is not None or spent_s > timeout_s:
                    raise WorldError(
                        f'{_words(command)!r} did not print {ready!r} within {timeout_s:g} s: '
                        f'{printed[-500:].strip()}'
                    )
                time.sleep(POLL_S)
            yield Started(process.pid, time.perf_counter() - begun_s)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            with suppress(ProcessLookupError):  # what it has started and left behind
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _read(output: IO[bytes]) -> str:
    return os.pread(output.fileno(), 2**20, 0).decode(errors='replace')


def family_of(pid: int) -> list[int]:
    """
    Return a process and all its descendants.

    Raises:
        OSError: It has gone.
    """
    found = [pid]
    for parent in found:
        found += sorted(children_of(parent))
    return found


def children_of(pid: int) -> set[int]:
    """
    Return the processes that a process has started and that exist, zombies included.

    Raises:
        OSError: It has gone.
    """
    found: set[int] = set()
    for task in Path(f'/proc/{pid}/task').iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
            found.update(map(int, (task / 'children').read_text().split()))
    return found


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def _words(command: Sequence[str]) -> str:
    """Return a command as a person would type it."""
    return ' '.join(['python', *command[1:]] if command[0] == sys.executable else command)


def _children_s() -> float:
    """Return the processor time of all children that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
