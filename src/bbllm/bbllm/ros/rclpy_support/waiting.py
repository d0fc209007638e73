"""Waits on futures of rclpy from threads that do not spin, with time-outs that name the wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError, WorldError

LOOK_S = 0.05
"""How often a wait checks whether to go on [s]."""
SERVE_S = 8.0
"""How long a server may take to appear. Programs announce themselves every 3 s, and on a busy
machine an announcement is overheard [s]."""
ANSWER_S = 15.0
"""How long a request that is dealt with at once may take to be answered. What was lost on the
way is sent again after 3 s (the heartbeat period of Fast DDS), there and back [s]."""
AGAIN_S = 1.0
"""Silence after which what may be asked again is [s]."""


def nothing() -> None:
    """Do nothing."""


def wait_for(
    future: Any,
    what: str,
    timeout_s: float,
    *,
    cancel: CancelToken | None = None,
    ask_again: Callable[[], Any] | None = None,
) -> Any:
    """
    Block until a future is done and return its result.

    Args:
        future: A future of rclpy; another thread must spin its node.
        what: What is waited for, as the end of "no answer from ...".
        timeout_s: How long at most, by the wall clock [s].
        cancel: Ends the wait.
        ask_again: Called after each `AGAIN_S` of silence; returns a future of the same kind, or
            None. The first that is done counts.

    Raises:
        WorldError: The time is over; names what was waited for.
    """
    done = threading.Event()
    asked: list[Any] = []

    def ask(another: Any) -> None:
        asked.append(another)
        another.add_done_callback(lambda _: done.set())

    ask(future)
    begun_s = time.monotonic()
    again_s = begun_s + AGAIN_S
    while not done.wait(LOOK_S):
        if cancel is not None:
            cancel.raise_if_cancelled()
        now_s = time.monotonic()
        if now_s > begun_s + timeout_s:
            for unanswered in asked:
                unanswered.cancel()
            raise WorldError(f'There was no answer from {what} within {timeout_s:g} s.')
        if ask_again is not None and now_s > again_s:
            again_s = now_s + AGAIN_S
            if (another := ask_again()) is not None:
                ask(another)
    return next(future for future in asked if future.done()).result()


def need_server(
    ready: Callable[[], bool],
    what: str,
    timeout_s: float = SERVE_S,
    *,
    cancel: CancelToken | None = None,
) -> None:
    """
    Wait until a service or action is served.

    Args:
        ready: Whether it is.
        what: Server and name of what it serves, for example "body_mapper (map_step)".
        timeout_s: How long at most, by the wall clock [s].
        cancel: Ends the wait.

    Raises:
        LostNodeError: It is not served; names it.
    """
    deadline_s = time.monotonic() + timeout_s
    cancel = cancel or CancelToken()
    while not ready():
        if time.monotonic() > deadline_s:
            raise LostNodeError(
                f'The node {what} is not running: nobody served it within {timeout_s:g} s. '
                'See the terminal or the log of the stack, and start it again.'
            )
        cancel.wait(LOOK_S)
