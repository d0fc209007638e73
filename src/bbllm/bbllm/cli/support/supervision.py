"""Runs an episode beside the main thread, so that Ctrl-C is always handled."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from bbllm.api.session import Running
from bbllm.core.events import Episode

T = TypeVar('T')

REASON = 'Interrupted from the keyboard.'
GRACE_S = 5.0
"""How long an episode that was cancelled may take to end by itself, wall clock [s]."""
POLL_S = 0.05


class Interrupts:
    """Counts Ctrl-C; the second one ends the process at once."""

    count = 0

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal; only counts, because it may come in the middle of anything."""
        self.count += 1
        if self.count > 1:
            if os.isatty(1):
                # The live view hides the cursor; this is the last chance to show it again.
                os.write(1, b'\x1b[?25h\n')
            os._exit(130)


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Count SIGINT and SIGTERM instead of dying of them; puts the old handlers back."""
    counter = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        # Python lets only the main thread set handlers, and Ctrl-C reaches only it.
        yield counter
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    old = {number: signal.signal(number, counter.take) for number in numbers}
    try:
        yield counter
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def supervise(running: Running) -> tuple[Episode | None, bool]:
    """
    Execute an episode and stop it at Ctrl-C.

    Returns:
        The episode, None where it did not end by itself after Ctrl-C (its journal is complete);
        and whether there was a Ctrl-C.

    Raises:
        WorldError: It did not end either, and another process has its journal.
    """

    def stop() -> None:
        running.warn('The arm stops. Press Ctrl-C again to end at once.')
        running.cancel(REASON)

    ended = watch(running.start, stop)
    if ended[0] is None:
        # It hangs, most likely in a request to a model.
        running.leave(f'{REASON} The episode did not end by itself within {GRACE_S:g} s.')
    return ended


def watch(start: Callable[[], Future[T]], stop: Callable[[], object]) -> tuple[T | None, bool]:
    """
    Start what runs in another thread; at Ctrl-C, stop it and give it some time to end.

    Returns:
        What it returned, None where it did not end in time; and whether it was stopped.
    """
    with interrupts() as counter:
        future = start()
        while not wait((future,), POLL_S).done:
            if counter.count:
                stop()
                if not wait((future,), GRACE_S).done:
                    return None, True
        return future.result(), counter.count > 0
