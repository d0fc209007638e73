"""A call in a thread of its own, for those who look at something else while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar('T')


class Background(Generic[T]):
    """One call, under way as soon as this is made."""

    def __init__(self, call: Callable[[], T], name: str):
        self._call = call
        self._results: list[T] = []
        self._fault: BaseException | None = None
        # Daemon: a model that never answers must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait and tell whether the call has returned."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def result(self) -> T:
        """Return what the call returned, or raise what it raised."""
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _work(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as fault:  # carried over to the thread that asks for the result
            self._fault = fault
