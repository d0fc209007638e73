"""The token with which a waiting call is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bbllm.core.errors import CancelledError

POLL_S = 0.05
"""How often a waiting call checks its token [s]."""


class CancelToken:
    """
    Ends the calls that wait with it, from any thread.

    A call ends when `cancel` is called or when one of `checks` raises, and raises the same error.
    Checks are conditions for going on, for example of a budget or a heartbeat; they raise a
    `BbllmError` and are called every `POLL_S` while a call waits.
    """

    def __init__(self, *checks: Callable[[], object]):
        self._checks = checks
        self._cancelled = threading.Event()
        self._reason = ''

    def cancel(self, reason: str) -> None:
        """End all calls that wait and all later ones; the first reason counts."""
        if not self._cancelled.is_set():
            self._reason = reason
            self._cancelled.set()

    def raise_if_cancelled(self) -> None:
        """Raise CancelledError where `cancel` was called, or what a check raises."""
        if self._cancelled.is_set():
            raise CancelledError(self._reason)
        for check in self._checks:
            check()

    def wait(self, timeout_s: float) -> None:
        """Sleep for a time [s]; raises at once when calls may not go on."""
        deadline_s = time.monotonic() + timeout_s
        self.raise_if_cancelled()
        while (left_s := deadline_s - time.monotonic()) > 0:
            self._cancelled.wait(min(POLL_S, left_s))
            self.raise_if_cancelled()

    def with_checks(self, *checks: Callable[[], object]) -> CancelToken:
        """Return a token that is cancelled with this one and has more checks."""
        return CancelToken(self.raise_if_cancelled, *checks)
