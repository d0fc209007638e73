"""Waits for a person that nobody ends well: stacks of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from bbllm_interfaces.msg import EpisodeEvent
from rclpy.executors import SingleThreadedExecutor
from robots import Robot, nothing_waits, request_of
from stacks import log_of, started, until

from bbllm.core.approval import Answer
from bbllm.core.errors import ApprovalError, SceneError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Scene
from bbllm.ros.convert.qos import EVENTS
from bbllm.ros.executor.approval_service import ApprovalService
from bbllm.ros.rclpy_support.entities import leave_graph
from bbllm.ros.rclpy_support.params import Fr3ExecutorParams
from bbllm.ros.rclpy_support.stack_node import StackNode

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
YES = Answer(granted=True, by='ann')


def test_time_out_of_approval_is_the_persons_and_not_the_calls_and_a_lost_planner_ends_the_wait(
    ros_domain: int,
) -> None:
    params: Any = {
        'fr3_executor': {'approval': 'plan', 'approval_timeout_s': 12.0},
        'brain_planner': {'skill_timeout_s': 10.0, 'feedback_loops': 0},
    }
    with started(params=params) as stack:
        robot = Robot(stack)
        stack.events.clear()

        result = stack.run(TASK)

        assert result.ending is Ending.GAVE_UP
        assert 'nobody answered within 12 s' in result.message
        texts = [e.data.text for e in stack.events if e.kind is EventKind.APPROVAL]
        assert len(texts) == 1
        assert robot.goals == 0

        stack.begin(TASK)
        request = request_of(stack)
        os.killpg(stack.stack.processes['brain_planner'].pid, signal.SIGKILL)
        nothing_waits(stack)
        with pytest.raises(ApprovalError, match='Nobody waits'):
            stack.client.approvals.answer(request.hash, YES)
        until(
            lambda: (
                'The arm is stopped. The node brain_planner has gone'
                in log_of(stack.stack, 'fr3_executor')
            ),
            'reason in the log',
        )
        assert robot.goals == 0


def test_mode_of_approval_that_does_not_exist_is_refused_with_those_that_do(
    ros_domain: int,
) -> None:
    words = [sys.executable, '-m', 'bbllm.ros.nodes.fr3_executor', '--ros-args']
    ended = subprocess.run(
        [*words, '-p', 'approval:=maybe'], capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 1
    assert "fr3_executor knows no approval 'maybe'" in ended.stderr
    assert 'none, plan, step, risky' in ended.stderr
    assert 'Traceback' not in ended.stderr


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
