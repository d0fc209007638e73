"""
Heartbeats: how the nodes of a stack notice within seconds that one of them has gone.

DDS itself takes up to 20 s to tell that a process was killed, and never tells that one hangs. A
beat is the name of the node, a word that is another one after every start, so that a node that
was started anew before anybody missed it is known to have forgotten what it was about, and its
process. `nodes.liveness` says what is made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from bbllm.nodes.liveness import PERIOD_S, Liveness
from bbllm.nodes.peer_process import PeerProcess

TOPIC = 'heartbeat'

QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class Heartbeat:
    """Says regularly that a node lives; begun when the node is ready to serve."""

    def __init__(self, node: Node):
        words = [node.get_name(), uuid4().hex, str(PeerProcess.own() or '')]
        self._beat = String(data=' '.join(words).strip())
        self._publisher = node.create_publisher(String, TOPIC, QOS)
        _every_period(node, self._publish)
        self._publish()

    def _publish(self) -> None:
        self._publisher.publish(self._beat)


class Heartbeats(Liveness):
    """Hears who lives."""

    def __init__(self, node: Node):
        super().__init__()
        group = ReentrantCallbackGroup()
        node.create_subscription(String, TOPIC, self._hear, QOS, callback_group=group)
        # By the executor that beats come through: where that is kept waiting, so are its turns.
        _every_period(node, self.turn)

    def _hear(self, beat: String) -> None:
        self.hear(beat.data)


def _every_period(node: Node, call: Callable[[], None]) -> None:
    # It goes on whatever the node takes for its time: that of a bag stands still in between.
    steady = Clock(clock_type=ClockType.STEADY_TIME)
    node.create_timer(PERIOD_S, call, callback_group=ReentrantCallbackGroup(), clock=steady)
