"""
Plays recorded messages into a `state_estimator` that is alone, as `ros2 bag play` does.

On a busy machine joint states may be late or lost, in a recording and in a replay. So two scenes
of one moment are to agree where they show the hand at one place, see `compare`.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bbllm_interfaces.msg import Scene as SceneMsg
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from bbllm.core.types import Fact, Scene
from bbllm_ros.convert.records import from_msg, stamp_from_msg, stamp_to_msg
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import Stack, StackConfig
from tests.doubles.fork_server import serve_module
from tests.ros.stacks import until

Message = tuple[str, float, bytes]
"""Topic relative to the namespace, time of the recording [s], the message as it is sent."""
NAMESPACE = 'replayed'
EDGE_S = 0.3
"""So near to a change of facts the joint states of a moment may make a difference [s]."""
OBJECTS = 'objects'
STEP_S = 1e-4
"""Between the stamps of repeated messages [s]."""
SAME_M = 1e-4
"""A hand that moved less shows the same joint states [m]."""


@dataclass(frozen=True)
class Moment:
    """What a scene shows that depends on objects and joint states."""

    facts: frozenset[Fact]
    hand: tuple[float, ...]
    """Position in the world frame and width [m]."""

    @property
    def held(self) -> bool:
        return any(fact.predicate == 'held_by' for fact in self.facts)


Moments = dict[float, Moment]
"""By the stamp of the scene on the world's clock [s]."""


def moments_of(scenes: Sequence[SceneMsg], earlier_s: float = 0.0) -> Moments:
    found: Moments = {}
    for msg in tuple(scenes):
        scene = from_msg(Scene, msg)
        assert scene.hand is not None
        hand = (*scene.hand.tcp.position_m, scene.hand.width_m)
        found[round(scene.stamp_s - earlier_s, 6)] = Moment(frozenset(scene.facts), hand)
    return found


def compare(then: Moments, now: Moments) -> None:
    """Compare the scenes of a recording with those of its replay; some have to be comparable."""
    compared = 0
    for stamp_s in then.keys() & now.keys():
        near = {moment.facts for s, moment in then.items() if abs(s - stamp_s) <= EDGE_S}
        if len(near) == 1 and math.dist(then[stamp_s].hand, now[stamp_s].hand) < SAME_M:
            assert now[stamp_s].facts == then[stamp_s].facts
            compared += 1
    assert compared


class Player(threading.Thread):
    """Plays messages as `ros2 bag play --clock --rate X` does."""

    def __init__(
        self, node: Any, messages: Sequence[Message], kinds: Mapping[str, type], rate: float
    ):
        super().__init__(daemon=True)
        self._messages = messages
        self._kinds = kinds
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

    def repeat_until(
        self, condition: Callable[[], Any], what: str, scenes: Sequence[SceneMsg]
    ) -> None:
        """
        Wait for what the last messages bring about, and repeat them, for those that were lost.

        An arm whose states have one stamp hangs: only those of the objects stay as they were. The
        others are of the moment of the objects and after, as a scene has the joint states that
        are nearest to its moment, and those of the recording may be lost.
        """
        last = {
            topic: deserialize_message(data, self._kinds[topic])
            for topic, _, data in self._messages
        }
        stamp_s = stamp_from_msg(last[OBJECTS].header.stamp)

        def repeated() -> Any:
            if met := condition():
                return met
            nonlocal stamp_s
            stamp_s += STEP_S
            for topic, message in last.items():
                if topic != OBJECTS:
                    message.header.stamp = stamp_to_msg(stamp_s)
                self._topics[topic].publish(message)
            return False

        try:
            until(repeated, what)
        except AssertionError as error:
            stamps = sorted(moments_of(scenes)) or [0.0]
            raise AssertionError(
                f'{error}; {len(scenes)} scenes came, from {stamps[0]} s to {stamps[-1]} s, of a '
                f'recording from {self._messages[0][1]} s to {self._messages[-1][1]} s'
            ) from None


@contextmanager
def lone_estimator() -> Iterator[tuple[Stack, StackClient]]:
    """Start `state_estimator` alone, in a namespace of its own."""
    config = StackConfig(
        nodes=('state_estimator',),
        namespace=NAMESPACE,
        params={'state_estimator': {'use_sim_time': True, 'rate_hz': 20.0}},
        start=serve_module,
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
