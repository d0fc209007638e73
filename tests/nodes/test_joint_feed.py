"""The joint states that belong to a moment, on a machine that delivers them late."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.nodes.convert import stamp_to_msg
from bbllm.nodes.convert_arm import ARM_JOINTS, FINGERS
from bbllm.nodes.joint_feed import ARM_TOPIC, JointFeed

pytestmark = pytest.mark.ros


class Topics:
    """Stands for poller and node: hands messages to whoever subscribed."""

    def __init__(self) -> None:
        self.hear: dict[str, Callable[[JointStateMsg], None]] = {}

    def subscribe(self, kind: Any, topic: str, hear: Callable[[Any], None], qos: Any) -> None:
        self.hear[topic] = hear

    def resolve_topic_name(self, topic: str) -> str:
        return topic

    def get_publishers_info_by_topic(self, topic: str) -> list[Any]:
        return []


@pytest.fixture
def topics() -> Topics:
    return Topics()


@pytest.fixture
def feed(topics: Topics) -> JointFeed:
    feed: Any = JointFeed(topics, topics, 'hand', 60.0)  # type: ignore[arg-type]
    hand = JointStateMsg(name=list(FINGERS), position=[0.02, 0.02])
    topics.hear['hand/joint_states'](hand)
    return feed


def arm(stamp_s: float, angle_rad: float) -> JointStateMsg:
    msg = JointStateMsg(name=list(ARM_JOINTS), position=[angle_rad] * 7, velocity=[0.0] * 7)
    msg.header.stamp = stamp_to_msg(stamp_s)
    return msg


def test_a_state_that_comes_late_is_waited_for(feed: JointFeed, topics: Topics) -> None:
    topics.hear[ARM_TOPIC](arm(1.0, 0.1))
    late = threading.Thread(target=lambda: topics.hear[ARM_TOPIC](arm(1.2, 0.3)))

    class Notified(threading.Condition):
        """Lets the late state come once somebody waits for it."""

        def wait(self, timeout: float | None = None) -> bool:
            if not late.ident:
                late.start()
            return super().wait(timeout)

    feed._news = Notified()

    state = feed.at(1.2, wait_s=30.0)

    late.join()
    assert (state.stamp_s, state.position_rad[0]) == (pytest.approx(1.2), pytest.approx(0.3))


def test_without_waiting_the_nearest_state_is_taken(feed: JointFeed, topics: Topics) -> None:
    for stamp_s in (1.0, 1.1, 1.2):
        topics.hear[ARM_TOPIC](arm(stamp_s, stamp_s))

    assert feed.at(1.14).stamp_s == pytest.approx(1.1)
    assert feed.at(9.0).stamp_s == pytest.approx(1.2)
