"""A simulation beside a real arm: none of its nodes starts where that arm is, or moves it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending
from bbllm.core.types import Code, SkillCall, Status
from bbllm_ros.stack.stack import (
    NODES,
    SIMULATED,
    Stack,
    StackConfig,
    node_arguments,
    node_environ,
)
from tests.ros.robots import Robot
from tests.ros.stacks import DRIVER, PATIENCE_S, REAL_LIKE, Running, process_alive, started, until

pytestmark = pytest.mark.ros

REAL = 'bbllm_real'
TASK = 'put the red cube on location_B'
PICK = SkillCall('pick', ('red_cube',))


@pytest.fixture(scope='module')
def real(ros_domain: int) -> Iterator[Running]:
    """Start the nodes as they are shipped for a real arm, with approval of plans."""
    with started(REAL_LIKE, speed=1.0, namespace=REAL) as running:
        yield running


@pytest.fixture(scope='module')
def robot_of_module(real: Running) -> Robot:
    return Robot(real)


@pytest.fixture
def robot(robot_of_module: Robot) -> Iterator[Robot]:
    """Yield what reaches the real arm; it must not move during the test."""
    robot_of_module.begin()
    yield robot_of_module
    assert robot_of_module.stood_still()


def lone(tmp_path: Path, node: str, namespace: str, **params: str | bool) -> subprocess.Popen[str]:
    """Start one node by itself, as `ros2 run` does."""
    command = [sys.executable, '-m', f'bbllm_ros.nodes.{node}']
    command += node_arguments(node, {**SIMULATED.get(node, {}), **params}, namespace)
    return subprocess.Popen(
        command,
        env=node_environ(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def last_of(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=PATIENCE_S)
    return output


@pytest.mark.slow  # a second stack
def test_simulation_of_its_own_namespace_moves_its_own_arm_only(robot: Robot) -> None:
    with started(speed=0.0) as simulation:
        result = simulation.run(TASK)

        assert result.ending is Ending.FINISHED


def test_simulation_does_not_start_in_the_namespace_of_the_real_arm(robot: Robot) -> None:
    with pytest.raises(ConfigError, match=f'runs already in ROS domain .* under /{REAL}'):
        Stack(StackConfig(namespace=REAL)).start()


@pytest.mark.parametrize('node', ['fr3_executor', 'brain_planner'])
def test_lone_node_does_not_start_under_a_name_that_is_taken(
    robot: Robot, tmp_path: Path, node: str
) -> None:
    process = lone(tmp_path, node, REAL)

    assert f'The node {node} runs already' in last_of(process)
    assert process.returncode == 1


@pytest.mark.slow  # a second stack
def test_simulator_beside_the_real_arm_stops_its_executor_from_sending(
    real: Running, robot: Robot, tmp_path: Path
) -> None:
    process = lone(tmp_path, 'mujoco_sim', REAL)
    try:
        # The executor may receive the first heartbeat later than this client; until then it
        # refuses the call because the plan has no approval.
        until(
            lambda: real.client.execute(PICK).code is not Code.NOT_APPROVED,
            'refusal because of the simulator',
        )

        outcome = real.client.execute(PICK)

        assert (outcome.status, outcome.code) == (Status.REJECTED, Code.GOAL_REJECTED)
        assert '/mujoco_sim runs beside this executor, which is for a real arm' in outcome.message
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    until(lambda: not real.client.heartbeats.alive('mujoco_sim'), 'end of the simulator')


def test_executor_for_a_simulation_sends_nothing_to_a_real_driver(
    ros_domain: int, tmp_path: Path
) -> None:
    nodes = ('state_estimator', 'body_mapper', DRIVER)
    with started(nodes, speed=1.0, namespace='bbllm_lone') as real:
        robot = Robot(real)
        robot.begin()
        process = lone(tmp_path, 'fr3_executor', 'bbllm_lone')
        try:
            real.client.wait_ready(('fr3_executor',), PATIENCE_S)

            outcome = real.client.execute(PICK)

            assert (outcome.status, outcome.code) == (Status.REJECTED, Code.GOAL_REJECTED)
            assert 'This executor is for a simulated robot' in outcome.message
            assert robot.stood_still()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)


OWNER = """
import sys, time
from bbllm_ros.stack.stack import Stack, StackConfig
stack = Stack(StackConfig(namespace=sys.argv[1]))
stack.start()
print(*(process.pid for process in stack.processes.values()), flush=True)
time.sleep(600)
"""


def test_nodes_of_a_killed_owner_end_and_leave_their_names_free(ros_domain: int) -> None:
    command = [sys.executable, '-c', OWNER, 'bbllm_orphans']
    owner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pids = [int(word) for word in owner.stdout.readline().split()]
    assert len(pids) == len(NODES)

    owner.kill()
    owner.communicate()

    until(lambda: not any(process_alive(pid) for pid in pids), 'end of all nodes')
    with Stack(StackConfig(nodes=('body_mapper',), namespace='bbllm_orphans')) as stack:
        stack.wait_ready(PATIENCE_S).close()
