"""An action client whose answers are not lost."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.executors import await_or_execute
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)
ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
ABANDONED = 64
"""How many goals that nobody waits for any more are remembered."""


class SafeActionClient(ActionClient):
    """
    An action client whose answers are not lost, whoever loses them.

    rclpy's own sends a request first and notes afterwards whom the answer is for; an executor in
    another thread that takes the answer in between throws it away ("unexpected goal response").
    And it forgets in one thread what another is about to look up, which ends the node. So all
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
        Cancel a goal that nobody waits for any more, now and when it should begin later.

        A server that takes the cancel before the goal knows nothing to cancel: a goal that is
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
        """Tell whether a goal waits for its answer; what was answered is forgotten later only."""
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
    """Tell whether the status of a goal says that there is a result."""
    return handle.status in ENDED
