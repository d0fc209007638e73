"""A node that is started anew in mid-task, before its silence could be noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stacks import Background, Running, log_of, started, until
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code, SkillCall
from bbllm.ros.rclpy_support.heartbeat import QOS, TOPIC

pytestmark = pytest.mark.ros

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
