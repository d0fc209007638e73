"""One action of another node: called from a thread, cancelled from any other, no answer lost."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatus as GoalStatusMsg
from action_msgs.msg import GoalStatusArray
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.executors import await_or_execute
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from bbllm.arm.driver import GoalStatus
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import WorldError
from bbllm.ros.rclpy_support.waiting import ANSWER_S, need_server, nothing, wait_for

ACTIVE = (GoalStatusMsg.STATUS_ACCEPTED, GoalStatusMsg.STATUS_EXECUTING)
ABANDONED = 64
"""How many abandoned goals are remembered."""


class SafeActionClient(ActionClient):
    """
    An action client whose answers are not lost.

    rclpy's own sends a request first and notes afterwards whom the answer is for; an executor in
    another thread that takes the answer in between throws it away ("unexpected goal response").
    And it forgets in one thread what another is about to use, which ends the node. So all
    that is noted is changed and read under one lock, and feedback is handed on outside of it.

    A server throws an answer away when it has not yet found the one that asked ("client will not
    receive response", 100 ms later, in rmw_fastrtps). On a busy machine that goes on for seconds
    after a client has found its server, and then a goal is carried out that counts as never
    answered. The status of an action is not lost so, as it is kept for those who come late: a
    goal whose status is seen was accepted.
    """

    def __init__(self, node: Node, kind: Any, name: str, group: CallbackGroup | None):
        self._noting = threading.RLock()
        self._abandoned: deque[bytes] = deque(maxlen=ABANDONED)
        super().__init__(node, kind, name, callback_group=group)

    def send_goal_async(self, *args: Any, **kwargs: Any) -> Any:
        with self._noting:
            return super().send_goal_async(*args, **kwargs)

    def _cancel_goal_async(self, goal_handle: Any) -> Any:
        with self._noting:
            return super()._cancel_goal_async(goal_handle)

    def _get_result_async(self, goal_handle: Any) -> Any:
        with self._noting:
            return super()._get_result_async(goal_handle)

    def take_data(self) -> Any:
        with self._noting:
            return super().take_data()

    async def execute(self, taken_data: Any) -> None:
        taken = dict(taken_data)
        answer, feedback = taken.pop('goal', None), taken.pop('feedback', None)
        hear = None
        with self._noting:  # none of this waits for anything
            if answer is not None and self._is_open(answer[0]):
                await super().execute({'goal': answer})
            if 'status' in taken:
                self._accept_seen(taken['status'])
                self._cancel_abandoned(taken['status'])
            if feedback is not None:
                hear = self._feedback_callbacks.get(bytes(feedback.goal_id.uuid))
            await super().execute(taken)
        if hear is not None:
            await await_or_execute(hear, feedback)

    def cancel(self, goal_id: UUID) -> Any:
        """Ask for the end of a goal that may not have been answered; returns a future."""
        return self._handle(goal_id).cancel_goal_async()

    def abandon(self, goal_id: UUID) -> None:
        """
        Cancel a goal that no caller waits for any more, now and when it should begin later.

        A server that takes the cancel before the goal has no goal to cancel: a goal that is
        lost on its way comes again seconds later, and one that is still being judged is accepted
        only then.
        """
        with self._noting:
            self._abandoned.append(bytes(goal_id.uuid))
            for number, sent in list(self._goal_sequence_number_to_goal_id.items()):
                if sent == goal_id and self._is_open(number):
                    self._pending_goal_requests[number].cancel()
        self.cancel(goal_id)

    def _remove_pending_request(self, future: Any, pending_requests: Any) -> Any:
        with self._noting:
            return super()._remove_pending_request(future, pending_requests)

    def _remove_pending_goal_request(self, future: Any) -> None:
        with self._noting:
            super()._remove_pending_goal_request(future)

    def _remove_pending_result_request(self, future: Any) -> None:
        with self._noting:
            super()._remove_pending_result_request(future)

    def _is_open(self, number: int) -> bool:
        """Return whether a goal waits for its answer; answered ones are forgotten later."""
        sent = self._pending_goal_requests.get(number)
        return sent is not None and not (sent.done() or sent.cancelled())

    def _accept_seen(self, status: GoalStatusArray) -> None:
        seen = {bytes(item.goal_info.goal_id.uuid) for item in status.status_list}
        for number, goal_id in list(self._goal_sequence_number_to_goal_id.items()):
            uuid = bytes(goal_id.uuid)
            if uuid in seen and self._is_open(number):
                handle = self._handle(goal_id)
                self._goal_handles[uuid] = weakref.ref(handle)
                self._pending_goal_requests[number].set_result(handle)

    def _cancel_abandoned(self, status: GoalStatusArray) -> None:
        for item in status.status_list:
            goal_id = item.goal_info.goal_id
            uuid = bytes(goal_id.uuid)
            if uuid not in self._abandoned:
                continue
            if item.status in ACTIVE:
                self.cancel(goal_id)
            elif item.status in ENDED:
                self._abandoned.remove(uuid)

    def _handle(self, goal_id: UUID) -> ClientGoalHandle:
        answer = self._action_type.Impl.SendGoalService.Response(accepted=True)
        return ClientGoalHandle(self, goal_id, answer)


def has_ended(handle: ClientGoalHandle) -> bool:
    """Return whether the status of a goal has a result."""
    return handle.status in ENDED


STATUSES = {
    GoalStatusMsg.STATUS_SUCCEEDED: GoalStatus.SUCCEEDED,
    GoalStatusMsg.STATUS_CANCELED: GoalStatus.CANCELED,
    GoalStatusMsg.STATUS_ABORTED: GoalStatus.ABORTED,
}
ENDED = tuple(STATUSES)


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
        """Whether a node serves the action."""
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
        """Ask for the end of the goal that runs, from any thread; returns whether one runs."""
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
