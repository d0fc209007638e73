"""A client of what `fr3_executor` asks people, for programs that are no nodes."""

from __future__ import annotations

import threading
import time

from bbllm_interfaces.msg import Approval
from bbllm_interfaces.srv import Approve
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ApprovalError
from bbllm.ros.convert.approval import answer_to_request, approval_from_msg
from bbllm.ros.convert.qos import LATCHED
from bbllm.ros.rclpy_support.service_call import ServiceCall
from bbllm.ros.rclpy_support.waiting import ANSWER_S

LOOK_S = 0.1


class ApprovalClient:
    """Sees what waits, and answers; its node must be spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup):
        self._call = ServiceCall(
            node, Approve, 'approve', 'fr3_executor', group, first=Approve.Request()
        )
        self._changed = threading.Condition()
        self._heard: Approval | None = None
        node.create_subscription(Approval, 'approval', self._hear, LATCHED, callback_group=group)

    @property
    def heard(self) -> bool:
        """Whether an executor has told yet what waits, if anything does."""
        return self._heard is not None

    @property
    def waiting(self) -> ApprovalRequest | None:
        """What waits for an answer now."""
        heard = self._heard
        return None if heard is None else approval_from_msg(heard)

    def waits(self, request: ApprovalRequest) -> bool:
        """Tell whether this very request still waits."""
        return self.waiting == request

    @property
    def simulated(self) -> bool:
        """Whether a program may answer in place of a person."""
        heard = self._heard
        return heard is not None and bool(heard.simulated)

    def next(
        self,
        timeout_s: float | None = None,
        *,
        after: ApprovalRequest | None = None,
        cancel: CancelToken | None = None,
    ) -> ApprovalRequest | None:
        """
        Wait until something waits for an answer, and return it.

        Args:
            timeout_s: How long at most, wall clock [s]; None for as long as it takes.
            after: A request that is known already and does not count; the same plan that is
                asked for once more does.
            cancel: Ends the wait.

        Returns:
            The request, None where the time is over.
        """
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if cancel is not None:
                cancel.raise_if_cancelled()
            with self._changed:
                request = self.waiting
                if request is not None and request != after:
                    return request
                if deadline_s is not None and time.monotonic() >= deadline_s:
                    return None
                self._changed.wait(LOOK_S)

    def answer(self, hash: str, answer: Answer) -> None:
        """
        Answer a request.

        Raises:
            ApprovalError: The executor did not take it; says why.
            LostNodeError: There is no executor.
        """
        reply = self._call.run(answer_to_request(hash, answer), ANSWER_S)
        if not reply.success:
            raise ApprovalError(reply.message)

    def _hear(self, msg: Approval) -> None:
        with self._changed:
            self._heard = msg
            self._changed.notify_all()
