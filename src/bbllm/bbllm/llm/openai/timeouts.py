"""Time limits around an iterator that may hang anywhere, even in a name look-up."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar('T')
BEAT_S = 0.1
_BACKLOG = 256


class TooLateError(Exception):
    """A limit has passed; the text names what was waited for and how long."""


class Bounded(Generic[T]):
    """
    The items of an iterator, made in a thread of their own and handed over inside limits.

    The sockets' own time-outs only limit the gap between two bytes, so a server that sends a
    byte now and then, or a name server that never answers, would hold the caller for ever.
    The thread is a daemon: one that hangs is left behind and never holds up the exit.

    Args:
        make: Starts the work and returns its items; runs in the thread. It is given `on_open`,
            to which it may pass a function that breaks its connection off from outside.
        first_s: Longest wait for the first item [s].
        gap_s: Longest wait for each later one [s].
        total_s: Longest time for all of them [s].
        beat: Called about every 0.1 s while nothing comes; may raise to give up.
    """

    def __init__(
        self,
        make: Callable[[Callable[[Callable[[], None]], None]], Iterator[T]],
        *,
        first_s: float,
        gap_s: float,
        total_s: float,
        beat: Callable[[], None] = lambda: None,
    ):
        self._make = make
        self._first_s = first_s
        self._gap_s = gap_s
        self._total_s = total_s
        self._beat = beat
        self._items: queue.Queue[T | _End] = queue.Queue(_BACKLOG)
        self._left = threading.Event()
        self._break_off: Callable[[], None] | None = None

    def __iter__(self) -> Iterator[T]:
        thread = threading.Thread(target=self._work, name='model request', daemon=True)
        begun_s = time.monotonic()
        thread.start()
        limit_s, waited_for = self._first_s, 'the first word of the reply'
        try:
            while True:
                item = self._next(begun_s, limit_s, waited_for)
                if isinstance(item, _End):
                    if item.error is not None:
                        raise item.error
                    return
                yield item
                limit_s, waited_for = self._gap_s, 'the next word of the reply'
        finally:
            self._left.set()
            if thread.is_alive() and self._break_off is not None:
                # Only a courtesy to the server, in the middle of what the thread does; whatever
                # comes of it must not hide why the caller leaves.
                with contextlib.suppress(Exception):
                    self._break_off()

    def _next(self, begun_s: float, limit_s: float, waited_for: str) -> T | _End:
        since_s = time.monotonic()
        while True:
            now_s = time.monotonic()
            remains_s = min(since_s + limit_s, begun_s + self._total_s) - now_s
            if remains_s <= 0 and self._items.empty():
                if now_s - begun_s >= self._total_s:
                    raise TooLateError(f'the whole reply was not there after {self._total_s:g} s')
                raise TooLateError(f'{waited_for} did not come within {limit_s:g} s')
            try:
                return self._items.get(timeout=max(min(BEAT_S, remains_s), 0.001))
            except queue.Empty:
                self._beat()

    def _work(self) -> None:
        end = _End(None)
        try:
            for item in self._make(self._opened):
                self._put(item)
                if self._left.is_set():
                    return
        except BaseException as error:  # whatever it is, the caller's thread raises it
            end = _End(error)
        self._put(end)

    def _opened(self, break_off: Callable[[], None]) -> None:
        self._break_off = break_off

    def _put(self, item: T | _End) -> None:
        while not self._left.is_set():
            try:
                self._items.put(item, timeout=BEAT_S)
            except queue.Full:
                continue
            return


class _End:
    """The last item: nothing more will come, or why."""

    def __init__(self, error: BaseException | None):
        self.error = error
