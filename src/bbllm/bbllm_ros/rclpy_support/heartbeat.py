"""
Heartbeats: how the nodes of a stack notice within seconds that one of them has gone.

DDS itself takes up to 20 s to report a process that was killed, and never reports a hang. A beat
has the name of the node, a word that changes with every start, so that a node that was started
anew is recognized to have lost its state, and its process. `liveness` evaluates them.
"""

import threading
import time
from uuid import uuid4

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from bbllm_ros.rclpy_support.entities import steady_timer, take_all
from bbllm_ros.rclpy_support.executor import UnspunGroup
from bbllm_ros.rclpy_support.liveness import END_ASKED, LEAVES, PERIOD_S, Liveness
from bbllm_ros.rclpy_support.peer_process import PeerProcess

TOPIC = 'heartbeat'

SENT = QoSProfile(depth=1)
"""
Reliable, as a node that ends waits until its last beat was received: DDS delivers nothing of a
publisher to a listener that has learned that it has left, which a busy listener may learn first.
Of depth 1, as Fast DDS then asks for an acknowledgement of each beat, and not every 3 s.
"""
QOS = QoSProfile(depth=60)
"""Beats that wait at a busy listener: those of six nodes in five seconds."""
RECEIVED_S = 1.0
"""How long a node that ends waits for listeners that are stopped or too busy [s]."""
POLL_S = 0.002


class Heartbeat:
    """
    Publishes regularly that a node serves, from `start` to `end`.

    Its publisher stays as long as the node, so that the last beat is delivered and a new
    activation is noticed at once.
    """

    def __init__(self, node: Node):
        self.lives: set[str] = set()
        """The words of the starts of this node in this process."""
        self.reason = END_ASKED
        """What the last beat gives as the reason for the end."""
        self._name = node.get_name()
        self._beat: String | None = None
        self._life = ''
        self._lock = threading.Lock()
        """Locked while a beat is sent: one after the last beat would take its place at DDS."""
        self._publisher = node.create_publisher(String, TOPIC, SENT)
        steady_timer(node, PERIOD_S, self._publish, MutuallyExclusiveCallbackGroup())

    def start(self) -> None:
        self._life = uuid4().hex
        self.lives.add(self._life)
        self.reason = END_ASKED
        words = [self._name, self._life, str(PeerProcess.own() or '')]
        self._beat = String(data=' '.join(words).strip())
        self._publish()

    def end(self) -> None:
        """Beat for the last time, with the reason for the end; returns when that was received."""
        with self._lock:
            beat, self._beat = self._beat, None
            if beat is None:
                return
            last = String(data=f'{self._name} {self._life} {LEAVES}{self.reason}')
            self._publisher.publish(last)
        self._wait_received()

    def _wait_received(self) -> None:
        # No time-out of rclpy 7.1, which keeps all threads waiting meanwhile (it keeps the GIL).
        end_s = time.monotonic() + RECEIVED_S
        while not self._publisher.wait_for_all_acked(Duration()) and time.monotonic() < end_s:
            time.sleep(POLL_S)

    def _publish(self) -> None:
        with self._lock:
            if self._beat is not None:
                self._publisher.publish(self._beat)


def listen(node: Node) -> Liveness:
    """Return the liveness of all nodes, by the beats that a node receives from now on."""
    liveness = Liveness()
    taking = threading.Lock()

    def receive(beat: String, _: float = 0.0) -> None:
        liveness.receive(beat.data)

    def take_waiting() -> bool:
        """Take in all beats that wait; returns whether the node still exists."""
        try:
            with taking:  # a beat that another thread has taken is also taken in when this returns
                take_all(beats, receive)
        except InvalidHandle:
            return False
        return True

    def turn() -> None:
        if take_waiting():
            liveness.turn()

    # A turn takes all beats that wait, so an executor need not wake up for each of them, nor can
    # it fall behind and blame those who sent them.
    beats = node.create_subscription(String, TOPIC, receive, QOS, callback_group=UnspunGroup())
    liveness.take_waiting = take_waiting
    # By the executor that answers come through: where that is kept waiting, so are its turns.
    # One turn after the other: two that waited for a thread would count as two of listening.
    steady_timer(node, PERIOD_S, turn, MutuallyExclusiveCallbackGroup())
    return liveness
