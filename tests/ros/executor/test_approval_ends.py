"""Waits for a person that nobody ends well: stacks of their own."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from bbllm_interfaces.msg import EpisodeEvent
from rclpy.executors import SingleThreadedExecutor

from bbllm.core.approval import Answer
from bbllm.core.errors import ApprovalError, SceneError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Scene
from bbllm_ros.convert.records import EVENTS
from bbllm_ros.executor.approval_service import ApprovalService
from bbllm_ros.parameters.node_params import Fr3ExecutorParams
from bbllm_ros.rclpy_support.entities import leave_graph
from bbllm_ros.rclpy_support.stack_node import StackNode
from tests.ros.robots import Robot, nothing_waits, request_of
from tests.ros.stacks import log_of, started, until

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
YES = Answer(granted=True, by='ann')


def test_time_out_of_approval_is_the_persons_and_not_the_calls_and_a_lost_planner_ends_the_wait(
    ros_domain: int,
) -> None:
    params: Any = {
        'fr3_executor': {
            **{'approval': 'plan', 'approval_timeout_s': 5.0},
            'never': 'touch the aqua cube',
        },
        'brain_planner': {'skill_timeout_s': 4.0, 'feedback_loops': 0, 'rehearse': -1},
    }
    with started(params=params) as stack:
        robot = Robot(stack)
        stack.events.clear()

        result = stack.run(TASK)

        assert result.ending is Ending.GAVE_UP
        assert 'nobody answered within 5 s' in result.message
        texts = [e.data.text for e in stack.events if e.kind is EventKind.APPROVAL]
        assert len(texts) == 1
        begun = next(e.data for e in stack.events if e.kind is EventKind.STARTED)
        assert begun.never == ('never touch the aqua cube',)
        assert robot.goals == 0

        stack.begin(TASK)
        request = request_of(stack)
        assert request.rehearsal[0].startswith('3 of 3 simulations succeeded, 3 calls in ')
        os.killpg(stack.stack.processes['brain_planner'].pid, signal.SIGKILL)
        nothing_waits(stack)
        with pytest.raises(ApprovalError, match='No request waits'):
            stack.client.approvals.answer(request.hash, YES)
        until(
            lambda: (
                'The arm is stopped. The node brain_planner has gone'
                in log_of(stack.stack, 'fr3_executor')
            ),
            'reason in the log',
        )
        assert robot.goals == 0


Send = Callable[[str, str], None]


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
def send(node: StackNode) -> Send:
    events = node.create_publisher(EpisodeEvent, 'episode_events', EVENTS)

    def publish(kind: str, episode_id: str) -> None:
        events.publish(EpisodeEvent(kind=kind, episode_id=episode_id))

    return publish


def test_episode_ends_with_its_event_or_the_next_one_and_may_begin_anew(
    service: ApprovalService, send: Send
) -> None:
    send(EpisodeEvent.STARTED, 'of a planner that crashed')
    send(EpisodeEvent.STARTED, 'e')
    until(lambda: service.gate.running == 'e', 'beginning of the next episode')
    assert 'of a planner that crashed' in service.gate.ended
    assert 'e' not in service.gate.ended

    send(EpisodeEvent.ENDED, 'e')
    until(lambda: 'e' in service.gate.ended and not service.gate.running, 'end of the episode')
    send(EpisodeEvent.STARTED, 'e')

    until(lambda: service.gate.running == 'e', 'beginning of the episode')
    assert 'e' not in service.gate.ended
