"""Services and actions of other nodes, called from threads that do not spin; no answer is lost."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalInfo, GoalStatusArray
from action_msgs.msg import GoalStatus as GoalStatusMsg
from action_msgs.srv import CancelGoal
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from unique_identifier_msgs.msg import UUID

from bbllm.arm.driver import GoalStatus
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import BbllmError, LostNodeError, WorldError

POLL_S = 0.05
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


def never() -> bool:
    return False


def wait_for(
    future: Any,
    what: str,
    timeout_s: float,
    *,
    cancel: CancelToken | None = None,
    ask_again: Callable[[], Any] | None = None,
    on_late: Callable[[Any], None] | None = None,
) -> Any:
    """
    Block until a future of rclpy is done, which another thread spins, and return its result.

    *ask_again* is called after `AGAIN_S` of silence, and then less and less often; it returns
    another future of the kind, or None. The first that is done counts. *on_late* is called with a
    result that comes after this was left by an error. Raises WorldError with *what* after
    *timeout_s* of the wall clock.
    """
    done = threading.Event()
    asked: list[Any] = []

    def ask(another: Any) -> None:
        asked.append(another)
        another.add_done_callback(lambda _: done.set())

    ask(future)
    begun_s = time.monotonic()
    again_s = begun_s + AGAIN_S
    try:
        while not done.wait(POLL_S):
            if cancel is not None:
                cancel.raise_if_cancelled()
            now_s = time.monotonic()
            if now_s > begun_s + timeout_s:
                raise WorldError(f'There was no answer from {what} within {timeout_s:g} s.')
            if ask_again is not None and now_s > again_s:
                if (another := ask_again()) is not None:
                    ask(another)
                again_s = now_s + AGAIN_S * max(1, 2 ** (len(asked) - 2))
        return next(future for future in asked if future.done()).result()
    except BaseException:
        if on_late is not None:
            late, *asked = asked
            late.add_done_callback(lambda answered: on_late(answered.result()))
        raise
    finally:
        for unanswered in asked:
            unanswered.cancel()


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
                f'The node {what} is not running: it was not found within {timeout_s:g} s. '
                'See the terminal or the log of the stack, and start it again.'
            )
        cancel.wait(POLL_S)


class ServiceCall:
    """
    A client of one service, whose answers are not lost.

    A server throws away an answer to a client that it has not found yet ("client will not receive
    response", after 100 ms in rmw_fastrtps, on a busy machine for seconds); one that was started
    anew has found no client yet. So before every request *first*, which changes nothing, is made
    again and again until it is answered. Without *first* no request changes anything, and the
    request itself is repeated. *server* is the node that serves it, for errors; *group* is
    reentrant.
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
        self._client = node.create_client(kind, name, callback_group=group)
        self._what = f'{server} ({name})'
        self._first = first

    @property
    def ready(self) -> bool:
        return bool(self._client.service_is_ready())

    def send(self, request: Any) -> Any:
        """Send a request without waiting, and return the future of its answer; see `run`."""
        return self._client.call_async(request)

    def run(
        self,
        request: Any,
        timeout_s: float,
        *,
        cancel: CancelToken | None = None,
        sending: Callable[[], None] = nothing,
        sent: Any = None,
        on_late: Callable[[Any], None] | None = None,
    ) -> Any:
        """
        Return the answer to a request; to one that was *sent* already where there is one.

        *on_late*: see `wait_for`.
        """

        def call(request: Any, timeout_s: float, *, repeated: bool, sent: Any = None) -> Any:
            ask = partial(self._client.call_async, request)
            again = ask if repeated else None
            first = ask() if sent is None else sent
            late = None if request is self._first else on_late
            return wait_for(
                first, self._what, timeout_s, cancel=cancel, ask_again=again, on_late=late
            )

        need_server(self._client.service_is_ready, self._what, cancel=cancel)
        if self._first is not None:
            call(self._first, ANSWER_S, repeated=True)
        sending()
        return call(request, timeout_s, repeated=self._first is None, sent=sent)


ACTIVE = (GoalStatusMsg.STATUS_ACCEPTED, GoalStatusMsg.STATUS_EXECUTING)
STATUSES = {
    GoalStatusMsg.STATUS_SUCCEEDED: GoalStatus.SUCCEEDED,
    GoalStatusMsg.STATUS_CANCELED: GoalStatus.CANCELED,
    GoalStatusMsg.STATUS_ABORTED: GoalStatus.ABORTED,
}
ABANDONED = 64
"""How many abandoned goals are remembered."""
KNOWN = 64
"""So many goals are remembered as one's own, or as reported: more than are ever under way."""


def not_begun(status: GoalStatus, goal: str, server: str) -> str:
    """Return why `ActionCall.run` of *goal* (`the task`) by *server* gave no result."""
    if status is GoalStatus.CANCELED:
        return f'{goal[0].upper()}{goal[1:]} was stopped before it was sent.'
    return f'{server} rejected {goal} without a reason.'


def _time_of(stamp: Any) -> tuple[int, int]:
    return stamp.sec, stamp.nanosec


@dataclass(slots=True)
class _Goal:
    """A goal that a thread waits for; its future is that of its acceptance, once it is sent."""

    id: UUID
    on_feedback: Callable[[Any], object]
    sent: Any = None
    ended: bool = False
    cancelled: bool = False


class ActionCall:
    """
    A client of one action, whose answers are not lost; waits end with their token.

    It consists of the services and topics of the action, as `rclpy.action.ActionClient` forgets
    answers that come while a goal is being sent. The status of an action is latched: a goal whose
    status is seen was accepted, and the result of one that has ended is requested again.
    """

    def __init__(self, node: Node, kind: Any, name: str, server: str, group: CallbackGroup):
        self._what = f'{server} ({name})'
        self._lock = threading.Lock()
        self._goals: dict[bytes, _Goal] = {}
        self._abandoned: deque[bytes] = deque(maxlen=ABANDONED)
        self._known: deque[bytes] = deque(maxlen=KNOWN)
        """Ids of own goals, and of those of others that were reported."""
        self.on_other: Callable[[], None] = nothing
        """Called once for each goal that another client has sent since this client was made."""
        self._newest = _time_of(node.get_clock().now().to_msg())
        """When the newest goal was accepted that was seen so far, by the server's clock."""
        self._parts = kind.Impl

        def client(kind: Any, part: str) -> Any:
            return node.create_client(kind, f'{name}/_action/{part}', callback_group=group)

        def listen(kind: Any, part: str, receive: Callable[[Any], None], qos: Any = 10) -> Any:
            topic = f'{name}/_action/{part}'
            return node.create_subscription(kind, topic, receive, qos, callback_group=group)

        self._send = client(self._parts.SendGoalService, 'send_goal')
        self._cancel = client(self._parts.CancelGoalService, 'cancel_goal')
        self._result = client(self._parts.GetResultService, 'get_result')
        self._topics = (
            listen(self._parts.FeedbackMessage, 'feedback', self._receive_feedback),
            listen(
                GoalStatusArray, 'status', self._receive_status, qos_profile_action_status_default
            ),
        )

    @property
    def ready(self) -> bool:
        services = (self._send, self._cancel, self._result)
        return all(service.service_is_ready() for service in services) and all(
            topic.get_publisher_count() for topic in self._topics
        )

    def need_server(self, should_abort: Callable[[], bool] = never) -> None:
        """Wait until the action is served, or until no goal is wanted; see `run`."""
        need_server(lambda: should_abort() or self.ready, self._what)

    def run(
        self,
        goal: Any,
        timeout_s: float = math.inf,
        *,
        cancel: CancelToken | None = None,
        should_abort: Callable[[], bool] = never,
        on_feedback: Callable[[Any], object] = lambda _: None,
        on_accepted: Callable[[], None] = nothing,
    ) -> tuple[GoalStatus, Any]:
        """
        Send a goal; return how it ended and its result (None where it was rejected or never sent).

        *cancel* ends the wait and cancels the goal. *should_abort* is checked right before the
        goal is sent, which it is not where this is true; `cancel` is then to be called for a goal
        that was just sent. Raises WorldError where the server does not answer, or *timeout_s* of
        the wall clock are over.
        """
        own = _Goal(UUID(uuid=list(uuid4().bytes)), on_feedback)

        def is_cancelled() -> bool:
            if cancel is not None:
                cancel.raise_if_cancelled()
            return own.cancelled or should_abort()

        with self._lock:
            self._goals[bytes(own.id.uuid)] = own
            self._known.append(bytes(own.id.uuid))
        try:
            self.need_server(is_cancelled)
            with self._lock:  # a cancel comes before the goal is sent, or reaches the server
                if own.cancelled or should_abort():
                    return GoalStatus.CANCELED, None
                request = self._parts.SendGoalService.Request(goal_id=own.id, goal=goal)
                own.sent = self._send.call_async(request)
            if not wait_for(own.sent, self._what, ANSWER_S, cancel=cancel).accepted:
                return GoalStatus.REJECTED, None
            with self._lock:
                if own.cancelled:  # the first request may have come before the goal
                    self._request_cancel(own.id)
            on_accepted()
            request = self._parts.GetResultService.Request(goal_id=own.id)
            reply = wait_for(
                self._result.call_async(request),
                self._what,
                timeout_s,
                cancel=cancel,
                ask_again=lambda: self._result.call_async(request) if own.ended else None,
            )
            if reply.status not in STATUSES:
                raise WorldError(f'{self._what} ended a goal with the status {reply.status}.')
            return STATUSES[reply.status], reply.result
        except BaseException:
            # Whoever stops waiting must not leave something moving behind.
            if own.sent is not None:
                self._abandon(own.id)
            raise
        finally:
            with self._lock:
                del self._goals[bytes(own.id.uuid)]

    def cancel(self) -> bool:
        """Request the end of the goals that run, from any thread; returns whether one runs."""
        with self._lock:
            for goal in self._goals.values():
                goal.cancelled = True
                if goal.sent is not None:  # its acceptance may be lost, or come late
                    self._request_cancel(goal.id)
            return bool(self._goals)

    def _abandon(self, goal_id: UUID) -> None:
        """
        Cancel a goal that no caller waits for any more, now and when it should begin later.

        One that is lost on its way comes again seconds later, and one that is still being judged
        is accepted only then.
        """
        with self._lock:
            self._abandoned.append(bytes(goal_id.uuid))
            self._request_cancel(goal_id)

    def _request_cancel(self, goal_id: UUID) -> None:
        request = self._parts.CancelGoalService.Request(goal_info=GoalInfo(goal_id=goal_id))
        self._cancel.call_async(request)

    def _receive_feedback(self, msg: Any) -> None:
        goal = self._goals.get(bytes(msg.goal_id.uuid))
        if goal is not None:
            goal.on_feedback(msg.feedback)

    def _receive_status(self, msg: GoalStatusArray) -> None:
        others = 0
        with self._lock:
            newest = self._newest
            for item in msg.status_list:
                key = bytes(item.goal_info.goal_id.uuid)
                accepted = _time_of(item.goal_info.stamp)
                self._newest = max(self._newest, accepted)
                # A short goal may have ended before its first status is received. The list also
                # has goals of the last minutes, of which some were sent before this client began.
                is_new = item.status in ACTIVE or accepted > newest
                if is_new and key not in self._known:
                    self._known.append(key)
                    others += 1
                ended = item.status in STATUSES
                goal = self._goals.get(key)
                if goal is not None and goal.sent is not None:
                    goal.ended |= ended
                    if not goal.sent.done():
                        accepted = self._parts.SendGoalService.Response(accepted=True)
                        goal.sent.set_result(accepted)
                if key in self._abandoned:
                    if ended:
                        self._abandoned.remove(key)
                    elif item.status in ACTIVE:
                        self._request_cancel(item.goal_info.goal_id)
        for _ in range(others):
            self.on_other()


ALL_GOALS = CancelGoal.Request()
"""An id and a stamp of zeros mean all goals, of any client (action_msgs/CancelGoal)."""


class StopClient:
    """Cancels goals; its node must be spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup):
        # A request whose answer is lost comes again, and stops what was begun meanwhile as well.
        self._tasks = ServiceCall(
            node, CancelGoal, 'run_task/_action/cancel_goal', 'brain_planner', group
        )
        self._skills = ServiceCall(
            node, CancelGoal, 'execute_skill/_action/cancel_goal', 'fr3_executor', group
        )

    def stop_all(self) -> None:
        """
        Stop the planner, and then the arm once more.

        A planner that receives the arm's stop before its own takes it for a failure, and may have
        given the next skill already. Raises WorldError with what was not stopped.
        """
        faults = []
        for call in (self._tasks, self._skills):
            try:
                call.run(ALL_GOALS, ANSWER_S)
            except BbllmError as error:
                faults.append(str(error))
        if faults:
            raise WorldError(' '.join(faults))
