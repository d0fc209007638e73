"""Runs an episode beside the main thread, so that Ctrl-C always finds somebody who listens."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import Planner, World
from bbllm.core.types import Ending, Episode, EventKind

REASON = 'Interrupted from the keyboard.'
GRACE_S = 5.0
"""How long an episode that was cancelled may take to end by itself, wall clock [s]."""
LOOK_S = 0.05


class Interrupts:
    """Counts Ctrl-C; the second one ends the process at once."""

    def __init__(self) -> None:
        self.count = 0

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal; only counts, because it may come in the middle of anything."""
        self.count += 1
        if self.count > 1:
            os._exit(130)


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Count SIGINT and SIGTERM instead of dying of them; puts the old handlers back."""
    counter = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        # Python lets only the main thread set handlers; elsewhere nobody presses Ctrl-C.
        yield counter
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    old = {number: signal.signal(number, counter.take) for number in numbers}
    try:
        yield counter
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def supervise(run: EpisodeRun, planner: Planner, world: World) -> tuple[Episode | None, bool]:
    """
    Execute an episode and stop it at Ctrl-C.

    Returns:
        The episode, None where it did not end by itself after Ctrl-C (its journal is complete);
        and whether there was a Ctrl-C.
    """
    with interrupts() as counter:
        worker = Worker(lambda: run.execute(planner, world))
        while not worker.wait(LOOK_S):
            if counter.count:
                run.warn('The arm stops. Press Ctrl-C again to end at once.')
                run.cancel(REASON)
                if not worker.wait(GRACE_S):
                    _give_up_waiting(run)
                    return None, True
        return worker.result(), counter.count > 0


class Worker:
    """One call in a thread of its own."""

    def __init__(self, call: Callable[[], Episode]):
        self._call = call
        self._episode: Episode | None = None
        self._fault: BaseException | None = None
        # Daemon: a model that never answers must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name='episode', daemon=True)
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait and tell whether the call has returned."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def result(self) -> Episode:
        """Return what the call returned, or raise what it raised."""
        if self._fault is not None:
            raise self._fault
        assert self._episode is not None
        return self._episode

    def _work(self) -> None:
        try:
            self._episode = self._call()
        except BaseException as fault:  # carried over to the thread that asks for the result
            self._fault = fault


def _give_up_waiting(run: EpisodeRun) -> None:
    """Complete the journal of an episode that hangs, most likely in a request to a model."""
    message = f'{REASON} The episode did not end by itself within {GRACE_S:g} s.'
    run.record(EventKind.ENDED, ending=Ending.CANCELLED, message=message)
