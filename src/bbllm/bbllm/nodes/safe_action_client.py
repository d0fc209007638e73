"""An action client whose answers are not lost."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


class SafeActionClient(ActionClient):
    """
    An action client whose answers are not lost, whoever loses them.

    rclpy's own sends a request first and notes afterwards whom the answer is for; an executor in
    another thread that takes the answer in between throws it away ("unexpected goal response").

    A server throws an answer away when it has not yet found the one that asked ("client will not
    receive response", 100 ms later, in rmw_fastrtps). On a busy machine that goes on for seconds
    after a client has found its server, and then a goal is carried out that counts as never
    answered. The status of an action is not lost so, as it is kept for those who come late: a
    goal whose status is seen was accepted.
    """

    def __init__(self, node: Node, kind: Any, name: str, group: CallbackGroup | None):
        self._noting = threading.RLock()
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
        answer = taken.pop('goal', None)
        with self._noting:  # none of this waits for anything
            if answer is not None and answer[0] in self._goal_sequence_number_to_goal_id:
                await super().execute({'goal': answer})
            if 'status' in taken:
                self._accept_seen(taken['status'])
        await super().execute(taken)

    def cancel(self, goal_id: UUID) -> Any:
        """Ask for the end of a goal that may not have been answered; returns a future."""
        return self._handle(goal_id).cancel_goal_async()

    def _accept_seen(self, status: GoalStatusArray) -> None:
        seen = {bytes(item.goal_info.goal_id.uuid) for item in status.status_list}
        for number, goal_id in list(self._goal_sequence_number_to_goal_id.items()):
            uuid = bytes(goal_id.uuid)
            if uuid in seen:
                handle = self._handle(goal_id)
                self._goal_handles[uuid] = weakref.ref(handle)
                self._pending_goal_requests[number].set_result(handle)

    def _handle(self, goal_id: UUID) -> ClientGoalHandle:
        answer = self._action_type.Impl.SendGoalService.Response(accepted=True)
        return ClientGoalHandle(self, goal_id, answer)


def has_ended(handle: ClientGoalHandle) -> bool:
    """Tell whether the status of a goal says that there is a result."""
    return handle.status in ENDED
