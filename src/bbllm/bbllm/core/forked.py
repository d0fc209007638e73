"""Functions that run in forks of this process, which share what it has imported."""

import os
import subprocess
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

PROC = Path('/proc/self')
ONE_THREAD = ('OPENBLAS_NUM_THREADS', '1')
"""Small matrices only: more threads cost memory and the time of other processes; and a process
that shall be forked has one thread."""

POLL_S = 0.005
"""How often it is looked whether a fork has ended, while that is waited for [s]."""


def has_one_thread() -> bool:
    """Return whether a fork of this process would be whole: a thread would be missing in it."""
    threads = PROC / 'task'
    return threads.is_dir() and len(list(threads.iterdir())) == 1


class ForkedProcess:
    """
    A function that runs in a fork; what its owners use of `subprocess.Popen`.

    This process waits at its end until a fork has ended, and ends one that is a *daemon*.

    With the start method `forkserver` of multiprocessing it is a fork of that server, so that this
    process may have threads. Function and arguments are pickled then.
    """

    def __init__(
        self,
        run: Callable[..., None],
        *arguments: object,
        daemon: bool = False,
        start_method: Literal['fork', 'forkserver'] = 'fork',
    ) -> None:
        # Both contexts have a `Process`; the types of their common base do not.
        context: Any = get_context(start_method)
        self._process: BaseProcess = context.Process(target=run, args=arguments, daemon=daemon)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None  # it was started
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; raises TimeoutExpired where it does not end in time [s]."""
        if timeout is None:
            self._process.join()
        # `Process` waits for a pipe, but a fork may close all that it inherits.
        end_s = time.monotonic() + (timeout or 0.0)
        while (code := self._process.exitcode) is None:
            if time.monotonic() >= end_s:
                raise subprocess.TimeoutExpired(str(self._process), timeout or 0.0)
            time.sleep(POLL_S)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()
