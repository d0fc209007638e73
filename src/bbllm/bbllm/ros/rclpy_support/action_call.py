"""One action of another node: called from a thread, cancelled from any other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatus as GoalStatusMsg
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from bbllm.arm.driver import GoalStatus
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import WorldError
from bbllm.ros.rclpy_support.safe_action_client import SafeActionClient, has_ended
from bbllm.ros.rclpy_support.waiting import ANSWER_S, need_server, nothing, wait_for

STATUSES = {
    GoalStatusMsg.STATUS_SUCCEEDED: GoalStatus.SUCCEEDED,
    GoalStatusMsg.STATUS_CANCELED: GoalStatus.CANCELED,
    GoalStatusMsg.STATUS_ABORTED: GoalStatus.ABORTED,
}


def never() -> bool:
    """Have nothing against a goal."""
    return False


def not_begun(status: GoalStatus, goal: str, server: str) -> str:
    """
    Return why `ActionCall.run` gave no result.

    Args:
        status: What it gave instead.
        goal: What was asked for: `the task`, `the trajectory`.
        server: Who was to do it.
    """
    if status is GoalStatus.CANCELED:
        return f'{goal[0].upper()}{goal[1:]} was stopped before it was sent.'
    return f'{server} rejected {goal} without a reason.'


class ActionCall:
    """
    A client of one action that has at most one goal at a time.

    All waits end with their token.
    """

    def __init__(self, node: Node, kind: Any, name: str, server: str, group: CallbackGroup):
        self._client = SafeActionClient(node, kind, name, group)
        self._what = f'{server} ({name})'
        self._lock = threading.Lock()
        self._handle: Any = None
        self._goal_id: UUID | None = None
        self._running = self._cancelled = False

    @property
    def ready(self) -> bool:
        """Whether somebody serves the action."""
        return bool(self._client.server_is_ready())

    def need_server(self, should_abort: Callable[[], bool] = never) -> None:
        """Wait until somebody serves the action, or until no goal is wanted; see `run`."""
        need_server(lambda: should_abort() or self.ready, self._what)

    def run(
        self,
        goal: Any,
        timeout_s: float,
        *,
        cancel: CancelToken | None = None,
        should_abort: Callable[[], bool] = never,
        on_feedback: Callable[[Any], None] | None = None,
        on_accepted: Callable[[], None] = nothing,
    ) -> tuple[GoalStatus, Any]:
        """
        Send a goal and wait for its end.

        Args:
            goal: The goal.
            timeout_s: How long it may take, by the wall clock [s].
            cancel: Ends the wait and cancels the goal.
            should_abort: Asked right before the goal is sent, which it is not where this is true.
                Whoever makes it true calls `cancel` afterwards, for a goal that was just sent.
            on_feedback: Called with each feedback.
            on_accepted: Called when the server has taken the goal.

        Returns:
            How it ended and its result; None instead of a result when it was rejected, and when
            it was cancelled before it was sent.

        Raises:
            LostNodeError: Nobody serves the action.
            WorldError: The server does not answer, or the time is over.
        """
        with self._lock:
            self._running, self._cancelled = True, False
            self._handle = self._goal_id = None
        try:
            sent = self._send(goal, cancel, should_abort, on_feedback)
            if sent is None:
                return GoalStatus.CANCELED, None
            handle = wait_for(sent, self._what, ANSWER_S, cancel=cancel)
            if not handle.accepted:
                return GoalStatus.REJECTED, None
            with self._lock:
                self._handle = handle
                if self._cancelled:
                    handle.cancel_goal_async()
            on_accepted()
            reply = wait_for(
                handle.get_result_async(),
                self._what,
                timeout_s,
                cancel=cancel,
                ask_again=lambda: handle.get_result_async() if has_ended(handle) else None,
            )
            if reply.status not in STATUSES:
                raise WorldError(f'{self._what} ended a goal with the status {reply.status}.')
            return STATUSES[reply.status], reply.result
        except BaseException:
            # Whoever stops waiting must not leave something moving behind.
            if self._goal_id is not None:
                self._client.abandon(self._goal_id)
            raise
        finally:
            with self._lock:
                self._running, self._handle = False, None

    def cancel(self) -> bool:
        """Ask for the end of the goal that runs, from any thread; tells whether one runs."""
        with self._lock:
            if self._running:
                self._cancelled = True
                if self._handle is not None:
                    self._handle.cancel_goal_async()
                elif self._goal_id is not None:  # its acceptance may be lost, or come late
                    self._client.cancel(self._goal_id)
            return self._running

    def _send(
        self,
        goal: Any,
        cancel: CancelToken | None,
        should_abort: Callable[[], bool],
        on_feedback: Callable[[Any], None] | None,
    ) -> Any:
        """Send a goal as soon as it is served; None where it was cancelled before."""

        def is_cancelled() -> bool:
            if cancel is not None:
                cancel.raise_if_cancelled()
            return self._cancelled or should_abort()

        self.need_server(is_cancelled)
        hear = None if on_feedback is None else (lambda msg: on_feedback(msg.feedback))
        with self._lock:  # a cancel comes before the goal is sent, or knows its id
            if self._cancelled or should_abort():
                return None
            self._goal_id = UUID(uuid=list(uuid4().bytes))
            return self._client.send_goal_async(goal, hear, self._goal_id)
