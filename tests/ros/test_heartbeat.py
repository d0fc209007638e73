"""Nodes that end and are started anew before anybody could have missed them."""

import time
from collections.abc import Iterator
from functools import partial

import pytest
from members import member
from rclpy.executors import SingleThreadedExecutor
from stacks import until
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm.ros.rclpy_support.heartbeat import QOS, TOPIC, Heartbeat, listen
from bbllm.ros.rclpy_support.liveness import Liveness
from bbllm.ros.rclpy_support.peer_process import PeerProcess

pytestmark = pytest.mark.ros

NAME = 'fr3_executor'


spun = partial(member, executor=SingleThreadedExecutor)


@pytest.fixture
def heard(ros_domain: int) -> Iterator[Liveness]:
    with spun('brain_planner') as node:
        yield listen(node)


def said_since(heard: Liveness, since_s: float) -> str:
    try:
        heard.check([NAME], since_s)
    except LostNodeError as error:
        return str(error)
    return ''


def test_node_that_was_started_anew_is_named_to_those_who_watched_it_before_and_no_others(
    heard: Liveness,
) -> None:
    with spun(NAME) as node:
        Heartbeat(node).start()
        until(lambda: heard.alive(NAME), 'first life')
        before_s = time.monotonic()
        heard.check([NAME], before_s)

    with spun(NAME) as node:
        Heartbeat(node).start()
        until(lambda: 'anew' in said_since(heard, before_s), 'second life')

        assert said_since(heard, before_s) == (
            'The node fr3_executor has gone and was started anew: what it was about is lost.'
        )
        heard.check([NAME], time.monotonic())
        heard.check([NAME])


def test_a_beat_names_the_process_whose_node_it_is(ros_domain: int) -> None:
    beats: list[String] = []
    with spun('listener') as listener, spun(NAME) as node:
        listener.create_subscription(String, TOPIC, beats.append, QOS)
        Heartbeat(node).start()
        until(lambda: beats, 'beat')

    name, life, process = beats[0].data.split(' ', 2)
    assert (name, len(life)) == (NAME, 32)
    assert PeerProcess.parse(process) == PeerProcess.own() is not None
