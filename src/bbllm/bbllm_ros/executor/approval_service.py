"""Where `fr3_executor` asks people: what waits on a topic, their answers by a service."""

import time
from collections.abc import Callable, Sequence

from bbllm_interfaces.msg import Approval, EpisodeEvent
from bbllm_interfaces.srv import Approve
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import (
    Answer,
    ApprovalMode,
    ApprovalQueue,
    ApprovalRequest,
    RequestKind,
)
from bbllm.core.errors import ApprovalError
from bbllm.core.events import EpisodeStarted, Event
from bbllm.core.text import strip_hidden
from bbllm.core.types import Scene
from bbllm.skills.constraints import Never
from bbllm_ros.convert.approval import answer_from_request, approval_to_msg
from bbllm_ros.convert.events import event_from_msg, event_to_msg
from bbllm_ros.convert.records import EVENTS, LATCHED
from bbllm_ros.parameters.node_params import Fr3ExecutorParams
from bbllm_ros.rclpy_support.entities import now_s, rivals
from bbllm_ros.rclpy_support.stack_node import StackNode

MODEL_CHARACTERS = 80
"""How much of a model's name a question shows."""


class ApprovalService:
    """
    The queue and the gate of one executor, over the graph.

    `report_activity` is called, in words for people, with what waits for a person. Raises
    ConfigError where there is no such mode of approval.
    """

    def __init__(
        self,
        node: StackNode,
        params: Fr3ExecutorParams,
        observe: Callable[[], Scene],
        *,
        stops: Callable[[], int],
        never: Sequence[Never] = (),
    ) -> None:
        self.report_activity: Callable[[str], None] = node.get_logger().info
        self._node = node
        self._simulated = params.simulated
        self.queue = ApprovalQueue(
            timeout_s=params.approval_timeout_s,
            simulated=params.simulated,
            on_change=self._show,
            on_answer=self._record,
        )
        self.gate = ApprovalGate(
            self.queue.ask,
            observe,
            mode=params.approval,
            stops=stops,
            never=never,
        )
        self._waits = node.create_publisher(Approval, 'approval', LATCHED)
        self._answers = node.create_publisher(EpisodeEvent, 'approval_events', EVENTS)
        self._show(None)

    def begin(self) -> None:
        self._node.create_service(
            Approve, 'approve', self._answer, callback_group=self._node.group
        )
        self._node.create_subscription(
            EpisodeEvent,
            'episode_events',
            self._receive_episode,
            EVENTS,
            callback_group=MutuallyExclusiveCallbackGroup(),  # in their order
        )
        log = self._node.get_logger()
        if self.gate.mode is ApprovalMode.NONE and not self._simulated:
            log.warning(
                'Approval: none, and the robot is real: the plans of a model move it, and '
                'nobody is asked. A person is asked with approval:=plan.'
            )
            return
        robot = 'simulated' if self._simulated else 'real'
        log.info(f'Approval: {self.gate.mode.value}; the robot is {robot}.')

    def revoke_for_other(self) -> None:
        """Revoke what was approved, as another program has sent a goal to arm or hand."""
        why = 'another program has moved arm or hand since it was approved'
        self.gate.revoke(why)
        self._node.get_logger().warning(f'Approvals are revoked: {why}.')

    def _receive_episode(self, msg: EpisodeEvent) -> None:
        if msg.kind == EpisodeEvent.STARTED:
            self.gate.begin_episode(msg.episode_id, _brain_of(msg))
        elif msg.kind == EpisodeEvent.ENDED:
            self.gate.end_episode(msg.episode_id)

    def _show(self, request: ApprovalRequest | None) -> None:
        self._waits.publish(approval_to_msg(request, self._simulated, now_s(self._node)))
        if request is not None:
            self.report_activity(waiting_text(request))
            if doubt := rivals(self._node, 'approval'):
                self._node.get_logger().warning(f'{doubt} Ask who answers to compare the hash.')

    def _record(self, request: ApprovalRequest, answer: Answer) -> None:
        self._node.get_logger().info(answer.line_about(request))
        event = Event(time.time(), answer.event_about(request))
        self._answers.publish(event_to_msg(event, request.episode_id, now_s(self._node)))

    def _answer(self, request: Approve.Request, response: Approve.Response) -> Approve.Response:
        try:
            self.queue.answer(request.hash, answer_from_request(request))
        except ApprovalError as error:
            if request.hash:  # nobody asks with none, but to see whether this serves
                self._node.get_logger().warning(f'An answer was refused: {error}')
            response.message = str(error)
            return response
        response.success = True
        return response


def _brain_of(started: EpisodeEvent) -> str:
    try:
        data = event_from_msg(started).data
    except ValueError:
        return ''
    return strip_hidden(data.brain)[:MODEL_CHARACTERS] if isinstance(data, EpisodeStarted) else ''


def waiting_text(request: ApprovalRequest) -> str:
    if request.kind is RequestKind.RESUME:
        return f'waiting for a person to see to the robot (bbllm approve): {request.about[0]}'
    return f'waiting for a person to approve {request.name} (bbllm approve)'
