"""Services and actions of other nodes, called from threads that do not spin; no answer is lost."""

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from itertools import count
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
from bbllm.core.errors import LostNodeError, WorldError

LOOK_S = 0.05
SERVE_S = 8.0
"""How long a server may take to appear: programs announce themselves every 3 s [s]."""
ANSWER_S = 15.0
"""
How long a request that is dealt with at once may take to be answered; what was lost on the way is
sent again after 3 s (the heartbeat period of Fast DDS), there and back [s].
"""
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
    Block until a future of rclpy is done, which another thread spins, and return its result.

    *ask_again* is called after each `AGAIN_S` of silence and returns another future of the kind,
    or None; the first that is done counts. Raises WorldError with *what* after *timeout_s* of the
    wall clock.
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
    ready: Callable[[], object],
    what: str,
    timeout_s: float = SERVE_S,
    *,
    cancel: CancelToken | None = None,
) -> None:
    """
    Wait until a service or action is served; *what* is "body_mapper (map_step)".

    Raises LostNodeError after *timeout_s* of the wall clock.
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


class ServiceCall:
    """
    A client of one service, whose answers are not lost.

    A server that has not yet found the client throws its answer away, as `SafeActionClient`
    describes; one that was started anew has found no client yet. So before every request *first*,
    which changes nothing, is made again and again until it is answered. Without *first* no request
    changes anything, and the request itself is repeated. *server* is the node that serves it, for
    errors; *group* is reentrant.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        server: str,
        group: CallbackGroup,
        *,
        first: Any = None,
    ):
        self._node = node
        self._client = node.create_client(kind, name, callback_group=group)
        self._what = f'{server} ({name})'
        self._first = first

    @property
    def ready(self) -> bool:
        return bool(self._client.service_is_ready())

    def close(self) -> None:
        self._node.destroy_client(self._client)

    def run(
        self,
        request: Any,
        timeout_s: float,
        *,
        cancel: CancelToken | None = None,
        sending: Callable[[], None] = nothing,
    ) -> Any:
        need_server(self._client.service_is_ready, self._what, cancel=cancel)
        if self._first is None:
            sending()
            return self._insist(request, timeout_s, cancel)
        self._insist(self._first, ANSWER_S, cancel)
        sending()
        return wait_for(self._client.call_async(request), self._what, timeout_s, cancel=cancel)

    def _insist(self, request: Any, timeout_s: float, cancel: CancelToken | None) -> Any:
        """Repeat a request until there is an answer, less and less often."""
        waits = count(1)

        def again() -> Any:
            n = next(waits)
            return None if n & (n - 1) else self._client.call_async(request)  # 1, 2, 4, 8 ...

        return wait_for(
            self._client.call_async(request), self._what, timeout_s, cancel=cancel, ask_again=again
        )


ACTIVE = (GoalStatusMsg.STATUS_ACCEPTED, GoalStatusMsg.STATUS_EXECUTING)
ABANDONED = 64
"""How many abandoned goals are remembered."""


class SafeActionClient(ActionClient):
    """
    An action client whose answers are not lost.

    rclpy sends a request first and notes afterwards whom the answer is for: an executor in another
    thread that takes the answer in between throws it away ("unexpected goal response"), and
    forgets in one thread what another is about to use, which ends the node. So all that is noted
    is changed and read under one lock; feedback is handed on outside of it. A server throws an
    answer away when it has not yet found the client ("client will not receive response", for 100
    ms in rmw_fastrtps, on a busy machine for seconds). The status of an action is latched, so a
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
        """Request the end of a goal that may not have been answered; returns a future."""
        return self._handle(goal_id).cancel_goal_async()

    def abandon(self, goal_id: UUID) -> None:
        """
        Cancel a goal that no caller waits for any more, now and when it should begin later.

        One that is lost on its way comes again seconds later, and one that is still being judged
        is accepted only then.
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
    return handle.status in ENDED


STATUSES = {
    GoalStatusMsg.STATUS_SUCCEEDED: GoalStatus.SUCCEEDED,
    GoalStatusMsg.STATUS_CANCELED: GoalStatus.CANCELED,
    GoalStatusMsg.STATUS_ABORTED: GoalStatus.ABORTED,
}
ENDED = tuple(STATUSES)


def never() -> bool:
    return False


def not_begun(status: GoalStatus, goal: str, server: str) -> str:
    """Return why `ActionCall.run` of *goal* (`the task`) by *server* gave no result."""
    if status is GoalStatus.CANCELED:
        return f'{goal[0].upper()}{goal[1:]} was stopped before it was sent.'
    return f'{server} rejected {goal} without a reason.'


class ActionCall:
    """A client of one action with at most one goal at a time; waits end with their token."""

    def __init__(self, node: Node, kind: Any, name: str, server: str, group: CallbackGroup):
        self._client = SafeActionClient(node, kind, name, group)
        self._what = f'{server} ({name})'
        self._lock = threading.Lock()
        self._handle: Any = None
        self._goal_id: UUID | None = None
        self._running = self._cancelled = False

    @property
    def ready(self) -> bool:
        return bool(self._client.server_is_ready())

    def need_server(self, should_abort: Callable[[], bool] = never) -> None:
        """Wait until the action is served, or until no goal is wanted; see `run`."""
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
        Send a goal; return how it ended and its result (None where it was rejected or never sent).

        *cancel* ends the wait and cancels the goal. *should_abort* is checked right before the
        goal is sent, which it is not where this is true; `cancel` is then to be called for a goal
        that was just sent. Raises WorldError where the server does not answer, or *timeout_s* of
        the wall clock are over.
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
        """Request the end of the goal that runs, from any thread; returns whether one runs."""
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
