"""All nodes in one process: the same tasks, one process to end, and the fault of one ends all."""

import subprocess
import sys
from pathlib import Path

import pytest

from bbllm.core.errors import UnknownNameError
from bbllm.core.events import Ending
from bbllm_ros.nodes.one_process import starts_of
from bbllm_ros.stack.stack import NODES, ONE_PROCESS, Stack, StackConfig, node_environ
from tests.ros.stacks import PATIENCE_S

pytestmark = pytest.mark.ros

FAULTY = """
from bbllm_ros.rclpy_support.stack_node import NodeStart, StackNode, run_all

class Sound(StackNode):
    def __init__(self):
        super().__init__('sound')
    def come_to_rest(self):
        self.get_logger().info(f'at rest: {self.end_reason}')

class Faulty(StackNode):
    def __init__(self):
        super().__init__('faulty')
    def begin(self):
        self.every(0.1, self.raise_fault)
    def raise_fault(self):
        raise ZeroDivisionError('meant to fail')

run_all([NodeStart(make=make, args=[]) for make in (Sound, Faulty)])
"""


def test_a_task_runs_through_nodes_that_share_a_process_and_it_ends_in_order(
    ros_domain: int, tmp_path: Path
) -> None:
    models = {'brain': 'offline', 'body': 'offline'}
    config = StackConfig(
        params={'mujoco_sim': {'speed': 0.0}, 'brain_planner': models, 'body_mapper': models},
        one_process=True,
        log_folder=tmp_path,
    )
    with Stack(config) as stack, stack.wait_ready(PATIENCE_S) as client:
        (process,) = stack.processes.values()
        assert set(NODES) <= set(client.node.get_node_names())

        result = client.run_task('put the red cube on location_B')

        assert result.ending is Ending.FINISHED
    assert process.returncode == 0
    log = (tmp_path / f'{ONE_PROCESS}.log').read_text()
    assert [line for line in log.splitlines() if 'INFO' not in line] == []


def test_the_fault_of_one_node_is_named_and_ends_the_others_at_rest(ros_domain: int) -> None:
    done = subprocess.run(
        [sys.executable, '-c', FAULTY],
        env=node_environ(more={'ROS_DOMAIN_ID': str(ros_domain)}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert done.returncode == 1
    output = done.stdout + done.stderr
    assert '[faulty]: fault in a callback' in output
    assert 'ZeroDivisionError: meant to fail' in output
    assert (
        '[sound]: at rest: The node faulty has failed, and this one was in the same process.'
        in output
    )


def test_a_node_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownNameError, match='brain_planer'):
        list(starts_of(['--node', 'brain_planer', '--ros-args']))
