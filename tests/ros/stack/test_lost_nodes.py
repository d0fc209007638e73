"""Nodes that are killed or begin anew in mid-task: they are named, and the arm stands still."""

import os
import signal
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from bbllm_interfaces.srv import ResetSim
from std_msgs.msg import String

from bbllm.core.errors import LostNodeError
from bbllm.core.events import Ending, EventKind
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Code, SkillCall
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.rclpy_support.heartbeat import QOS, TOPIC
from bbllm_ros.stack.stack import NODES
from tests.ros.robots import feed_of, speed_rad_s
from tests.ros.stacks import PATIENCE_S, Background, Running, log_of, started, until

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
MOVING_RAD_S = 0.2
STILL_RAD_S = 0.005
LONG_S = 0.5


@pytest.fixture(scope='module')
def shared(ros_domain: int) -> Iterator[tuple[Running, JointFeed]]:
    with started(speed=0.25) as stack:
        yield stack, feed_of(stack)


@pytest.fixture
def stack(shared: tuple[Running, JointFeed]) -> Running:
    running, _ = shared
    running.stack.respawn_dead()
    running.client.wait_ready(NODES, PATIENCE_S)
    assert running.ask(ResetSim, 'sim/reset').success
    wait = SkillCall('wait', ('0.1',))
    until(lambda: running.client.execute(wait).succeeded, 'arm that takes calls')
    return running


@pytest.fixture
def joints(shared: tuple[Running, JointFeed], stack: Running) -> JointFeed:
    until(lambda: shared[1].fresh, 'joint states')
    return shared[1]


def kill_in_motion(stack: Running, joints: JointFeed, node: str) -> None:
    stack.wait_for(EventKind.CALL)
    until(lambda: speed_rad_s(joints) > MOVING_RAD_S, 'motion of the arm')
    os.killpg(stack.stack.processes[node].pid, signal.SIGKILL)


def wait_still(joints: JointFeed) -> None:
    """Wait until the arm has stood still for longer than between two motions."""
    moved_s = joints.newest().stamp_s

    def stands() -> bool:
        nonlocal moved_s
        state = joints.newest()
        if np.abs(state.velocity_rad_s).max() > STILL_RAD_S:
            moved_s = state.stamp_s
        return state.stamp_s > moved_s + LONG_S

    until(stands, 'standstill')


def beat_anew(stack: Running, node: str, word: str, seen: Callable[[], object]) -> None:
    """
    Publish the beat of a node that has begun anew, and wait until it is seen that it was received.

    It is a single one: beats of two lives beside each other are those of two nodes of one name,
    for which the call of the next test would be refused.
    """
    own = stack.client.node
    publisher = own.create_publisher(String, TOPIC, QOS)
    until(
        lambda: publisher.get_subscription_count() >= own.count_subscribers(TOPIC) >= len(NODES),
        'node that listens to beats',
    )
    publisher.publish(String(data=f'{node} {word}'))
    until(seen, f'sign that {node} was heard to begin anew')


@pytest.mark.parametrize('node', ['body_mapper', 'state_estimator', 'fr3_executor', 'mujoco_sim'])
def test_episode_names_the_node_that_was_killed(
    stack: Running, joints: JointFeed, node: str
) -> None:
    task = stack.begin(TASK)
    kill_in_motion(stack, joints, node)

    result = task.result()

    assert result.ending is Ending.WORLD_FAILED
    assert node in result.message
    if node != 'mujoco_sim':
        wait_still(joints)
    with pytest.raises(LostNodeError, match=f'The node {node} was killed by signal 9'):
        stack.stack.check()


def test_arm_moves_again_right_after_its_simulator_was_started_again(stack: Running) -> None:
    assert stack.client.execute(SkillCall('return_to_base')).succeeded


def test_arm_stands_still_when_the_planner_is_killed(stack: Running, joints: JointFeed) -> None:
    task = stack.begin(TASK, episode_id='orphan')
    kill_in_motion(stack, joints, 'brain_planner')

    with pytest.raises(LostNodeError, match=r'brain_planner has gone: its process \d+ has'):
        task.result()

    wait_still(joints)
    episode = read_episode(episodes_dir() / 'orphan.jsonl')
    assert episode.ending is None
    assert episode.events[-1].kind is EventKind.CALL


def test_episode_ends_with_the_name_of_an_executor_that_was_started_anew(stack: Running) -> None:
    task = stack.begin(TASK)
    stack.wait_for(EventKind.CALL)

    beat_anew(stack, 'fr3_executor', 'anew', lambda: task.ended)

    result = task.result()
    assert result.ending is Ending.WORLD_FAILED
    assert 'fr3_executor has gone and was started anew' in result.message


def test_arm_is_stopped_when_the_planner_was_started_anew(stack: Running) -> None:
    reported = 'The arm is stopped. The node brain_planner has gone and was started anew'

    def count_of_lines() -> int:
        return log_of(stack.stack, 'fr3_executor').count(reported)

    line_about: list[str] = []
    pick = SkillCall('pick', ('red_cube',))
    moving = Background(lambda: stack.client.execute(pick, on_activity=line_about.append))
    until(lambda: line_about, 'begin of the call')

    # A planner that an earlier test killed may have left the same line.
    before = count_of_lines()
    beat_anew(stack, 'brain_planner', 'second', lambda: count_of_lines() > before)

    assert moving.result().code is Code.CANCELLED


def test_task_ends_with_the_name_of_a_planner_that_was_started_anew(stack: Running) -> None:
    task = stack.begin(TASK)
    stack.wait_for(EventKind.CALL)

    beat_anew(stack, 'brain_planner', 'third', lambda: task.ended)

    with pytest.raises(LostNodeError, match='brain_planner has gone and was started anew'):
        task.result()
