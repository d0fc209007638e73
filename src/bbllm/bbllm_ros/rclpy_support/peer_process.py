"""
Processes of other nodes on this machine: what has become of one, and the owner of this one.

`bbllm up` and the launch files put their own process into the environment of each node, which ends
when its owner has ended, also by SIGKILL. A node started otherwise takes its parent; process 1 is
no owner (a service manager, or the parent has gone). Needs no ROS.
"""

from __future__ import annotations

import enum
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class ProcessState(enum.Enum):
    """What has become of a process."""

    LIVES = enum.auto()
    STOPPED = enum.auto()
    GONE = enum.auto()
    UNKNOWN = enum.auto()


@dataclass(frozen=True, slots=True)
class PeerProcess:
    """A process, as others of its machine see it."""

    place: str
    """The start of the machine, and the namespace in which `number` is valid."""
    number: int
    started: str
    """When it was started [clock ticks since the machine was]: numbers are used again."""

    @staticmethod
    def own() -> PeerProcess | None:
        return PeerProcess.of(os.getpid())

    @staticmethod
    def of(number: int) -> PeerProcess | None:
        """Return the process of this machine with a number; None without one, or without /proc."""
        try:
            return PeerProcess(_place(), number, _state_and_start(number)[1])
        except OSError:
            return None

    @staticmethod
    def parse(text: str) -> PeerProcess | None:
        """Read what `str` of a process has written; None where it is anything else."""
        words = text.split(' ')
        if len(words) != 3 or not words[1].isdecimal() or not 0 < int(words[1]) < 2**31:
            return None
        return PeerProcess(words[0], int(words[1]), words[2])

    def __str__(self) -> str:
        return f'{self.place} {self.number} {self.started}'

    def state(self) -> ProcessState:
        try:
            if self.place != _place():
                return ProcessState.UNKNOWN
            os.kill(self.number, 0)
        except ProcessLookupError:
            return ProcessState.GONE
        except PermissionError:
            pass  # it is there, and somebody else's
        except OSError:
            return ProcessState.UNKNOWN
        try:
            state, started = _state_and_start(self.number)
        except OSError:
            return ProcessState.LIVES  # the files of others may be hidden (hidepid)
        if state in 'ZX' or started != self.started:
            return ProcessState.GONE
        return ProcessState.STOPPED if state == 'T' else ProcessState.LIVES


def _place() -> str:
    """Return what distinguishes this machine, since its start, and this namespace from others."""
    boot = Path('/proc/sys/kernel/random/boot_id').read_text('ascii').strip()
    return f'{boot}/{Path("/proc/self/ns/pid").readlink()}'


def _state_and_start(number: int) -> tuple[str, str]:
    """Return the letter of a process's state and its start (fields 3 and 22 in proc(5))."""
    fields = Path(f'/proc/{number}/stat').read_text('utf-8', 'replace').rpartition(')')[2].split()
    return fields[0], fields[19]


OWNER = 'BBLLM_OWNER'
"""Environment variable with the owner's process, as `str` writes it."""
OWNER_NAME = 'BBLLM_OWNER_NAME'
"""Environment variable with what people call it, such as `bbllm up`."""
POLL_S = 0.2


def owner_environ(name: str) -> dict[str, str]:
    """Return what makes this process the owner of those that are started with it."""
    return {OWNER: str(PeerProcess.own() or ''), OWNER_NAME: name}


def end_with_owner(on_end: Callable[[str], None]) -> None:
    """
    Send SIGTERM to this process once its owner has ended; returns at once.

    Before that *on_end* is called, in another thread, with a clause that names the owner.
    """
    given = PeerProcess.parse(os.environ.pop(OWNER, ''))
    name = os.environ.pop(OWNER_NAME, '') or 'the process'
    owner = given or PeerProcess.of(os.getppid())
    if owner is None or owner.number == 1:
        return

    def watch() -> None:
        _wait_for_end(owner)
        while owner.state() is not ProcessState.GONE:
            time.sleep(POLL_S)
        on_end(f'{name} ({owner.number}), which started it, has ended')
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name='owner', daemon=True).start()


def _wait_for_end(process: PeerProcess) -> None:
    """Block until a process of this machine ends; returns at once where that cannot be awaited."""
    try:
        handle = os.pidfd_open(process.number)
    except OSError:
        return
    try:
        # Only after it was opened: then the handle is of this process, and of none after it.
        if process.state() in (ProcessState.LIVES, ProcessState.STOPPED):
            ended = select.poll()
            ended.register(handle, select.POLLIN)
            ended.poll()
    finally:
        os.close(handle)
