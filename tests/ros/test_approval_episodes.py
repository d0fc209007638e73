"""What the executor's desk of approval hears of episodes: which runs, and which have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import rclpy
from bbllm_interfaces.msg import EpisodeEvent
from rclpy.executors import SingleThreadedExecutor
from stacks import until

from bbllm.core.errors import SceneError
from bbllm.core.types import Scene
from bbllm.ros.convert.qos import EVENTS
from bbllm.ros.executor.approval_service import ApprovalService
from bbllm.ros.rclpy_support.entities import leave_graph
from bbllm.ros.rclpy_support.params import Fr3ExecutorParams
from bbllm.ros.rclpy_support.stack_node import StackNode

pytestmark = pytest.mark.ros

Tell = Callable[[str, str], None]


def no_scene() -> Scene:
    raise SceneError('The scene is empty.')


@pytest.fixture
def node(ros_domain: int) -> Iterator[StackNode]:
    rclpy.init(args=['--ros-args', '-r', '__ns:=/bbllm'])
    node = StackNode('fr3_executor')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield node
    executor.shutdown(timeout_sec=5.0)
    thread.join(5.0)
    leave_graph(node)
    rclpy.try_shutdown()


@pytest.fixture
def service(node: StackNode) -> ApprovalService:
    service = ApprovalService(node, Fr3ExecutorParams(), no_scene, stops=int)
    service.begin()
    return service


@pytest.fixture
def tell(node: StackNode) -> Tell:
    """Return what tells of an episode, in the order in which it is called."""
    events = node.create_publisher(EpisodeEvent, 'episode_events', EVENTS)

    def publish(kind: str, episode_id: str) -> None:
        events.publish(EpisodeEvent(kind=kind, episode_id=episode_id))

    return publish


def test_episode_runs_from_its_beginning_to_its_end(service: ApprovalService, tell: Tell) -> None:
    tell(EpisodeEvent.STARTED, 'e')
    until(lambda: service.gate.running == 'e', 'beginning of the episode')
    assert 'e' not in service.gate.ended

    tell(EpisodeEvent.ENDED, 'e')

    until(lambda: 'e' in service.gate.ended, 'end of the episode')
    until(lambda: service.gate.running == '', 'end of the episode')


def test_episode_that_nobody_ended_has_ended_when_the_next_one_begins(
    service: ApprovalService, tell: Tell
) -> None:
    tell(EpisodeEvent.STARTED, 'of a planner that crashed')
    tell(EpisodeEvent.STARTED, 'of the next')

    until(lambda: service.gate.running == 'of the next', 'beginning of the next episode')
    assert 'of a planner that crashed' in service.gate.ended
    assert 'of the next' not in service.gate.ended


def test_episode_that_begins_anew_under_its_id_has_not_ended(
    service: ApprovalService, tell: Tell
) -> None:
    tell(EpisodeEvent.STARTED, 'e')
    tell(EpisodeEvent.ENDED, 'e')
    until(lambda: 'e' in service.gate.ended, 'end of the episode')

    tell(EpisodeEvent.STARTED, 'e')

    until(lambda: service.gate.running == 'e', 'beginning of the episode')
    assert 'e' not in service.gate.ended
