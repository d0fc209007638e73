"""What the node `perception` reports of its cameras: why there are no pictures now."""

import math
import time
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray

from bbllm.core.errors import LostNodeError
from bbllm_ros.convert.camera_status import PERIOD_S, TOPIC, faults_from_msg
from bbllm_ros.convert.records import LATCHED
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_ros.stack.stack import PERCEPTION

STATUS_S = 6 * PERIOD_S
"""Age from which the newest status is stale, wall clock [s]."""
BRIEF_S = 0.9
"""
How long a fault may last before its end is not waited for, wall clock [s].

With `silent_after_s` (0.7 s) and two periods of the status, get_scene has its error within 2 s.
"""


class CameraStatusFeed:
    """
    Subscribes to `camera_status`; *on_news* is called after each message.

    A fault of any camera counts: objects that only this one shows would stand still.
    """

    def __init__(self, node: StackNode, poller: Poller, on_news: Callable[[], None]) -> None:
        self._node = node
        self._on_news = on_news
        self._faults: dict[str, str] = {}
        self._came_s = -math.inf
        self._since_s = math.inf
        poller.subscribe(DiagnosticArray, TOPIC, self._take, LATCHED)

    def fault(self) -> str:
        """Return why pictures of cameras are not used now; empty where they are."""
        try:
            self._node.heartbeats.check([PERCEPTION])
        except LostNodeError as error:
            return str(error)
        silent_s = time.monotonic() - self._came_s
        if math.isinf(silent_s):
            return (
                f'The node {PERCEPTION}, which finds objects in pictures, has sent nothing. '
                'Start the stack with sources:=camera (`bbllm up sim --sources camera`), which '
                'includes it.'
            )
        if silent_s > STATUS_S:
            return f'The node {PERCEPTION} has sent no status for {silent_s:.1f} s.'
        return ' '.join(fault for fault in self._faults.values() if fault)

    @property
    def lasting(self) -> bool:
        """Whether there is a fault that is not only a brief one."""
        now_s = time.monotonic()
        return now_s - self._since_s > BRIEF_S or now_s - self._came_s > STATUS_S

    def _take(self, msg: DiagnosticArray) -> None:
        now_s = time.monotonic()
        self._faults, self._came_s = faults_from_msg(msg), now_s
        if any(self._faults.values()):
            self._since_s = min(self._since_s, now_s)
        else:
            self._since_s = math.inf
        self._on_news()
