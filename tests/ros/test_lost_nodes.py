"""A node that is killed in mid-task: the episode says which, and the arm stands still."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from stacks import Running, started, until

from bbllm.core.errors import LostNodeError
from bbllm.core.events import Ending, EventKind
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm.ros.driver.joint_feed import JointFeed
from bbllm.ros.rclpy_support.fast_subscription import Poller

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
MOVING_RAD_S = 0.2
STILL_RAD_S = 0.005
LONG_S = 0.5


def kill_in_motion(stack: Running, joints: JointFeed, node: str) -> None:
    """Kill a node while the arm moves."""
    stack.wait_for(EventKind.CALL)
    until(lambda: speed(joints) > MOVING_RAD_S, 'motion of the arm')
    os.killpg(stack.stack.processes[node].pid, signal.SIGKILL)


def listen(stack: Running) -> JointFeed:
    poller = Poller(stack.client.node)
    feed = JointFeed(stack.client.node, poller, 'franka_gripper', 5.0)
    poller.start()
    return feed


def speed(joints: JointFeed) -> float:
    return float(np.abs(joints.newest().velocity_rad_s).max())


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


# Slowly, so that a motion that nobody stops would be seen for long.
@pytest.mark.parametrize('node', ['body_mapper', 'state_estimator', 'fr3_executor', 'mujoco_sim'])
def test_episode_names_the_node_that_was_killed(ros_domain: int, node: str) -> None:
    with started(speed=0.25) as stack:
        joints = listen(stack)
        task = stack.begin(TASK)
        kill_in_motion(stack, joints, node)

        result = task.result()

        assert result.ending is Ending.WORLD_FAILED
        assert node in result.message
        if node != 'mujoco_sim':
            wait_still(joints)
        with pytest.raises(LostNodeError, match=f'The node {node} was killed by signal 9'):
            stack.stack.check()


def test_arm_stands_still_when_the_planner_is_killed(ros_domain: int) -> None:
    with started(speed=0.25) as stack:
        joints = listen(stack)
        task = stack.begin(TASK, episode_id='orphan')
        kill_in_motion(stack, joints, 'brain_planner')

        with pytest.raises(LostNodeError, match=r'brain_planner has gone: its process \d+ has'):
            task.result()

        wait_still(joints)
        episode = read_episode(episodes_dir() / 'orphan.jsonl')
        assert episode.ending is None
        assert episode.events[-1].kind is EventKind.CALL
