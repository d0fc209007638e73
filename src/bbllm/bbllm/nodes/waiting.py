"""Waits on futures of rclpy from threads that do not spin, with time-outs that say what for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from bbllm.core.errors import LostNodeError, WorldError

LOOK_S = 0.05
"""How often a wait looks whether it is still worth waiting [s]."""
SERVE_S = 3.0
"""How long a server may take to appear [s]."""


def nothing() -> None:
    """Look at nothing: for waits that only the clock ends."""


def wait_for(
    future: Any, what: str, timeout_s: float, *, look: Callable[[], None] = nothing
) -> Any:
    """
    Block until a future is done and return its result.

    Args:
        future: A future of rclpy; another thread must spin its node.
        what: What is waited for, as the end of "no answer from ...".
        timeout_s: How long at most, by the wall clock [s].
        look: Called all the time meanwhile; what it raises ends the wait.

    Raises:
        WorldError: The time is over; names what was waited for.
    """
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    deadline_s = time.monotonic() + timeout_s
    while not done.wait(LOOK_S):
        look()
        if time.monotonic() > deadline_s:
            future.cancel()
            raise WorldError(f'There was no answer from {what} within {timeout_s:g} s.')
    return future.result()


def need_server(ready: Callable[[], bool], what: str, timeout_s: float = SERVE_S) -> None:
    """
    Wait until a service or action is served.

    Args:
        ready: Tells whether it is.
        what: Server and name of what it serves, for example "body_mapper (map_step)".
        timeout_s: How long at most, by the wall clock [s].

    Raises:
        LostNodeError: It is not served; names it.
    """
    deadline_s = time.monotonic() + timeout_s
    while not ready():
        if time.monotonic() > deadline_s:
            raise LostNodeError(
                f'The node {what} is not running: nobody served it within {timeout_s:g} s. '
                'Start the stack with: bbllm up sim'
            )
        time.sleep(LOOK_S)
