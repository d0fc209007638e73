"""Plays recorded messages into a `state_estimator` that is alone, as `ros2 bag play` does."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rosgraph_msgs.msg import Clock
from stacks import until

from bbllm.ros.convert.records import stamp_to_msg
from bbllm.ros.stack.client import StackClient
from bbllm.ros.stack.stack import Stack, StackConfig

Message = tuple[str, float, bytes]
"""Topic relative to the namespace, time of the recording [s], the message as it is sent."""
NAMESPACE = 'replayed'


class Player(threading.Thread):
    """Plays messages as `ros2 bag play --clock --rate X` does."""

    def __init__(
        self, node: Any, messages: Sequence[Message], kinds: Mapping[str, type], rate: float
    ):
        super().__init__(daemon=True)
        self._messages = messages
        self._rate = rate
        self._clock = node.create_publisher(Clock, '/clock', 10)
        self._topics = {
            topic: node.create_publisher(kind, topic, 10) for topic, kind in kinds.items()
        }
        self.now_s = 0.0

    def run(self) -> None:
        begun_s, first_s = time.monotonic(), self._messages[0][1]
        ticked_s = 0.0
        for topic, stamp_s, data in self._messages:
            due_s = begun_s + (stamp_s - first_s) / self._rate
            while (left_s := due_s - time.monotonic()) > 0:
                time.sleep(left_s)
            self.now_s = max(self.now_s, stamp_s)
            if self.now_s >= ticked_s + 0.01:
                ticked_s = self.now_s
                self._clock.publish(Clock(clock=stamp_to_msg(self.now_s)))
            self._topics[topic].publish(data)


@contextmanager
def lone_estimator() -> Iterator[tuple[Stack, StackClient]]:
    """Start `state_estimator` alone, in a namespace of its own."""
    config = StackConfig(
        nodes=('state_estimator',),
        namespace=NAMESPACE,
        params={'state_estimator': {'use_sim_time': True, 'rate_hz': 20.0}},
    )
    with Stack(config) as stack, StackClient(NAMESPACE) as client:
        yield stack, client


def play(
    client: StackClient, messages: Sequence[Message], kinds: Mapping[str, type], rate: float
) -> Player:
    """Play messages to their end into the estimator; return the player."""
    node = client.node
    player = Player(node, messages, kinds, rate)
    until(
        lambda: all(
            node.count_subscribers(node.resolve_topic_name(topic)) for topic in (*kinds, '/clock')
        ),
        'subscriptions of state_estimator',
    )
    until(lambda: client.heartbeats.alive('state_estimator'), 'state_estimator')
    player.start()
    player.join(120.0)
    assert not player.is_alive()
    return player
