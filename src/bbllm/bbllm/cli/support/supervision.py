"""Runs an episode beside the main thread, so that Ctrl-C is always handled."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from bbllm.api.backends import run_in_thread
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EpisodeEnded

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


def supervise(run: EpisodeRun, execute: Callable[[], Episode]) -> tuple[Episode | None, bool]:
    """
    Execute an episode in this process and stop it at Ctrl-C.

    Returns:
        The episode, None where it did not end by itself after Ctrl-C (its journal is complete);
        and whether there was a Ctrl-C.
    """

    def stop() -> None:
        run.warn('The arm stops. Press Ctrl-C again to end at once.')
        run.cancel(REASON)

    episode, interrupted = watch(execute, stop)
    if episode is None:
        # It hangs, most likely in a request to a model.
        message = f'{REASON} The episode did not end by itself within {GRACE_S:g} s.'
        run.emit(EpisodeEnded(Ending.CANCELLED, message))
    return episode, interrupted


def watch(call: Callable[[], T], stop: Callable[[], object]) -> tuple[T | None, bool]:
    """
    Make a call in a separate thread; at Ctrl-C, stop it and give it some time to end.

    Returns:
        What the call returned, None where it did not end in time; and whether it was stopped.
    """
    with interrupts() as counter:
        future = run_in_thread(call)
        while not wait((future,), POLL_S).done:
            if counter.count:
                stop()
                if not wait((future,), GRACE_S).done:
                    return None, True
        return future.result(), counter.count > 0
