"""A goal that was sent to an action of the driver."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from action_msgs.msg import GoalStatus

from bbllm.nodes.driver_checks.check import CheckFailedError
from bbllm.nodes.driver_checks.recording import Recording
from bbllm.ros.rclpy_support.waiting import wait_for

STATUSES = {
    GoalStatus.STATUS_SUCCEEDED: 'SUCCEEDED',
    GoalStatus.STATUS_CANCELED: 'CANCELED',
    GoalStatus.STATUS_ABORTED: 'ABORTED',
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a goal ended."""

    status: str
    """SUCCEEDED, CANCELED or ABORTED."""
    result: Any
    """The action's result message."""


class SentGoal:
    """A goal, accepted or rejected; built by DriverClient.send."""

    def __init__(
        self, client: Any, name: str, goal: Any, recording: Recording, patience_s: float
    ) -> None:
        """Send it and wait for the answer."""
        self._name = name
        self._recording = recording
        self._patience_s = patience_s
        self._news = threading.Condition()
        self.feedback: list[Any] = []
        """All feedback so far."""
        recording.note('sent', name, goal)
        sent = client.send_goal_async(goal, feedback_callback=self._hear)
        self._handle = wait_for(sent, name, patience_s)
        recording.note('accepted' if self.accepted else 'rejected', name)
        self._result = self._handle.get_result_async() if self.accepted else None

    @property
    def accepted(self) -> bool:
        """Whether the server took it."""
        return bool(self._handle.accepted)

    def need_accepted(self) -> SentGoal:
        """Raise CheckFailedError where it was rejected."""
        if not self.accepted:
            raise CheckFailedError(f'that {self._name} accepts the goal', 'it is rejected')
        return self

    def ended(self, timeout_s: float) -> Ended:
        """Wait for its end [s]."""
        self.need_accepted()
        try:
            reply = wait_for(self._result, f'{self._name} (its result)', timeout_s)
        except BaseException:
            # Whoever stops waiting must not leave something moving behind.
            self._handle.cancel_goal_async()
            raise
        ended = Ended(STATUSES.get(reply.status, f'status {reply.status}'), reply.result)
        self._recording.note(ended.status, self._name, ended.result)
        return ended

    def cancel(self) -> int:
        """Ask for its end; return the return code of the server."""
        self._recording.note('cancel', self._name)
        reply = wait_for(
            self._handle.cancel_goal_async(), f'{self._name} (to a cancel)', self._patience_s
        )
        return int(reply.return_code)

    def wait_feedback(self, count: int = 1) -> list[Any]:
        """Wait for so many feedbacks, or raise CheckFailedError."""
        with self._news:
            if not self._news.wait_for(lambda: len(self.feedback) >= count, self._patience_s):
                raise CheckFailedError(
                    f'{count} feedbacks of {self._name} within {self._patience_s:g} s',
                    f'{len(self.feedback)}',
                )
            return list(self.feedback)

    def _hear(self, message: Any) -> None:
        self._recording.note('feedback', self._name, message.feedback)
        with self._news:
            self.feedback.append(message.feedback)
            self._news.notify_all()
