"""
Heartbeats: how the nodes of a stack notice within seconds that one of them has gone.

DDS itself takes up to 20 s to tell that a process was killed, and never tells that one hangs. A
beat is the name of the node and a word that is another one after every start, so that a node that
was started anew before anybody missed it is known to have forgotten what it was about.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from uuid import uuid4

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError

TOPIC = 'heartbeat'
PERIOD_S = 0.5
TIMEOUT_S = 2.5
"""A node that was silent for longer has gone: five beats [s]."""

QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class Heartbeat:
    """Says regularly that a node lives; begun when the node is ready to serve."""

    def __init__(self, node: Node):
        self._beat = String(data=f'{node.get_name()} {uuid4().hex}')
        self._publisher = node.create_publisher(String, TOPIC, QOS)
        group = ReentrantCallbackGroup()
        # Beats go on whatever the node takes for its time: that of a bag stands still in between.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(PERIOD_S, self._publish, callback_group=group, clock=steady)
        self._publish()

    def _publish(self) -> None:
        self._publisher.publish(self._beat)


class Heartbeats:
    """Hears who lives."""

    def __init__(self, node: Node):
        self._own = node.get_name()
        self._heard_s: dict[str, float] = {}
        self._lives: dict[str, set[str]] = {}
        self._anew_s: dict[str, float] = {}
        group = ReentrantCallbackGroup()
        node.create_subscription(String, TOPIC, self._hear, QOS, callback_group=group)

    def alive(self, name: str) -> bool:
        """Tell whether a node was heard of lately."""
        return time.monotonic() - self._heard_s.get(name, float('-inf')) < TIMEOUT_S

    def check(self, names: Iterable[str], since_s: float = float('inf')) -> None:
        """
        Raise LostNodeError with the name of the first of these nodes that has gone.

        So has one that was heard to begin anew since a time on the monotonic clock [s].

        Nodes that were never heard of are none of those: whoever needs them says what of theirs
        is missing.  Nobody is judged while this node does not hear itself in time: then it is
        this process that was kept waiting.
        """
        now_s = time.monotonic()
        if now_s - self._heard_s.get(self._own, now_s) > TIMEOUT_S / 2:
            return
        for name in names:
            if self._anew_s.get(name, float('-inf')) > since_s:
                raise LostNodeError(
                    f'The node {name} has gone and was started anew: what it was about is lost.'
                )
            silence_s = now_s - self._heard_s.get(name, now_s)
            if silence_s > TIMEOUT_S:
                raise LostNodeError(
                    f'The node {name} has gone: nothing was heard of it for {silence_s:.1f} s. '
                    'Start the stack again.'
                )

    def _hear(self, beat: String) -> None:
        name, _, life = beat.data.partition(' ')
        lives = self._lives.setdefault(name, set())
        if lives and life not in lives:
            self._anew_s[name] = time.monotonic()
        lives.add(life)
        self._heard_s[name] = time.monotonic()
