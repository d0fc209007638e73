"""Nodes that end and are started anew before anybody could have missed them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from stacks import Background, Running, log_of, started, until
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code, SkillCall
from bbllm.ros.rclpy_support.entities import leave_graph
from bbllm.ros.rclpy_support.heartbeat import QOS, TOPIC, Heartbeat, listen
from bbllm.ros.rclpy_support.liveness import Liveness
from bbllm.ros.rclpy_support.peer_process import PeerProcess

pytestmark = pytest.mark.ros

NAME = 'fr3_executor'
PATIENCE_S = 60.0


@contextmanager
def member(name: str) -> Iterator[Node]:
    """Give a node that is spun, in a process of its own as far as DDS can tell."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node(name, context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    yield node
    executor.shutdown(timeout_sec=1.0)
    spinning.join(PATIENCE_S)
    leave_graph(node)
    rclpy.shutdown(context=context)


@pytest.fixture
def heard(ros_domain: int) -> Iterator[Liveness]:
    with member('brain_planner') as node:
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
    with member(NAME) as node:
        Heartbeat(node).start()
        until(lambda: heard.alive(NAME), 'first life')
        before_s = time.monotonic()
        heard.check([NAME], before_s)

    with member(NAME) as node:
        Heartbeat(node).start()
        until(lambda: 'anew' in said_since(heard, before_s), 'second life')

        assert said_since(heard, before_s) == (
            'The node fr3_executor has gone and was started anew: what it was about is lost.'
        )
        heard.check([NAME], time.monotonic())
        heard.check([NAME])


def test_node_that_is_heard_of_for_the_first_time_was_not_started_anew(heard: Liveness) -> None:
    since_s = time.monotonic()
    with member(NAME) as node:
        Heartbeat(node).start()
        until(lambda: heard.alive(NAME), 'life')

        assert not said_since(heard, since_s)


def test_a_beat_names_the_process_whose_node_it_is(ros_domain: int) -> None:
    beats: list[String] = []
    with member('listener') as listener, member(NAME) as node:
        listener.create_subscription(String, TOPIC, beats.append, QOS)
        Heartbeat(node).start()
        until(lambda: beats, 'beat')

    name, life, process = beats[0].data.split(' ', 2)
    assert (name, len(life)) == (NAME, 32)
    assert PeerProcess.parse(process) == PeerProcess.own() is not None


TASK = 'put the red cube on location_B'


def beat_anew(stack: Running, node: str, seen: Callable[[], object]) -> None:
    """Let all hear the beats of a node that has begun anew, until it is seen that they do."""
    publisher = stack.client.node.create_publisher(String, TOPIC, QOS)

    def beaten() -> object:
        publisher.publish(String(data=f'{node} anew'))
        return seen()

    until(beaten, f'sign that {node} was heard to begin anew')


def test_episode_ends_with_the_name_of_an_executor_that_was_started_anew(ros_domain: int) -> None:
    with started(speed=0.25) as stack:
        task = stack.begin(TASK)
        stack.wait_for(EventKind.CALL)

        beat_anew(stack, 'fr3_executor', lambda: task.ended)

        result = task.result()
        assert result.ending is Ending.WORLD_FAILED
        assert 'fr3_executor has gone and was started anew' in result.message


def test_arm_is_stopped_when_the_planner_was_started_anew(ros_domain: int) -> None:
    told = 'The arm is stopped. The node brain_planner has gone and was started anew'
    with started(speed=0.25) as stack:
        told_of: list[str] = []
        pick = SkillCall('pick', ('red_cube',))
        moving = Background(lambda: stack.client.execute(pick, on_activity=told_of.append))
        until(lambda: told_of, 'begin of the call')

        beat_anew(stack, 'brain_planner', lambda: told in log_of(stack.stack, 'fr3_executor'))

        assert moving.result().code is Code.CANCELLED


def test_task_ends_with_the_name_of_a_planner_that_was_started_anew(ros_domain: int) -> None:
    with started(speed=0.25) as stack:
        task = stack.begin(TASK)
        stack.wait_for(EventKind.CALL)

        beat_anew(stack, 'brain_planner', lambda: task.ended)

        with pytest.raises(LostNodeError, match='brain_planner has gone and was started anew'):
            task.result()
