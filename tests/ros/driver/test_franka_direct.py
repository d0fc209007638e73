"""The driver node over libfranka, against franka-sim, which ends a motion at any step."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bbllm.arm.controllers.trajectory import DEACTIVATED_TEXT
from bbllm.arm.driver import FollowError, GoalStatus, GraspGoal, RobotMode, Tolerances
from bbllm.core.errors import WorldError
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.messages import IGNORE
from bbllm_franka.simulated_server import FrankaSim
from bbllm_ros.driver.ros_driver import RosDriver
from tests.franka.conftest import OBJECT_M, server  # noqa: F401
from tests.ros.drivers import driver_of, move, recover
from tests.ros.stacks import PATIENCE_S, Background, Running, process_alive, started, until

pytestmark = pytest.mark.ros

NODE = 'franka_direct'
LONG = (1.0, 10.0)
"""A motion that lasts until something ends it [rad, s]."""
LOST = 'communication_constraints_violation'
PATIENT = Tolerances(goal_time_s=PATIENCE_S)


@pytest.fixture(scope='module')
def node(ros_domain: int, server: FrankaSim) -> Iterator[Running]:  # noqa: F811
    params = {NODE: {'ip': server.address, 'simulated_robot': True}}
    with started((NODE,), params=params) as running:
        yield running


@pytest.fixture(scope='module')
def shared(node: Running) -> RosDriver:
    return driver_of(node)


@pytest.fixture
def arm(shared: RosDriver) -> RosDriver:
    # First: what an error has taken down publishes no joint states, which are waited for then.
    if not shared.condition().able:
        recover(shared, allow=lambda: True)
    shared.wait_fresh(PATIENCE_S)
    shared.begin()
    return shared


@pytest.mark.parametrize('by_rad', [0.3, -0.3])
def test_follows_a_trajectory_to_its_end(arm: RosDriver, by_rad: float) -> None:
    way = move(arm, by_rad, 2.0)

    result = arm.follow(way, PATIENT)

    assert result.status is GoalStatus.SUCCEEDED, result.error_string
    assert arm.joint_state().position_rad == pytest.approx(way.position_rad[-1], abs=0.015)
    assert arm.condition().able
    assert arm.condition().last_errors == ()


def test_a_goal_preempts_another_without_a_step(arm: RosDriver) -> None:
    first = Background(lambda: arm.follow(move(arm, *LONG), PATIENT))
    until(lambda: abs(arm.joint_state().velocity_rad_s[0]) > 0.05, 'motion')

    back = arm.follow(move(arm, -0.2, 2.0), PATIENT)

    preempted = first.result()
    assert (preempted.status, preempted.error_code) == (
        GoalStatus.ABORTED,
        FollowError.INVALID_GOAL,
    )
    assert back.status is GoalStatus.SUCCEEDED, back.error_string
    assert arm.condition().last_errors == ()


def test_a_stop_brakes_and_the_next_motion_begins_there(arm: RosDriver) -> None:
    running = Background(lambda: arm.follow(move(arm, *LONG), PATIENT))
    until(lambda: abs(arm.joint_state().velocity_rad_s[0]) > 0.05, 'motion')

    arm.stop()

    assert running.result().status is GoalStatus.CANCELED
    arm.begin()
    assert arm.follow(move(arm, -0.1, 1.0), PATIENT).status is GoalStatus.SUCCEEDED
    assert arm.condition().last_errors == ()


def test_moves_the_hand(arm: RosDriver) -> None:
    assert arm.home_gripper().success
    assert arm.grasp(GraspGoal(OBJECT_M, 0.1, 20.0, 0.005, 0.005)).success
    assert arm.move_gripper(0.08, 0.1).success
    missed = arm.grasp(GraspGoal(0.02, 0.1, 20.0, 0.005, 0.005))
    assert (missed.status, missed.error) == (GoalStatus.ABORTED, '')


def test_recovers_after_commands_were_lost(
    node: Running,
    arm: RosDriver,
    server: FrankaSim,  # noqa: F811
) -> None:
    running = Background(lambda: arm.follow(move(arm, *LONG), PATIENT))
    until(lambda: abs(arm.joint_state().velocity_rad_s[0]) > 0.05, 'motion')
    control = child_of(node.stack.processes[NODE].pid, 'bbllm_franka.control_process')

    os.kill(control, signal.SIGSTOP)
    until(lambda: server.has_aborted(LOST), 'end of the motion by the robot')
    os.kill(control, signal.SIGCONT)

    ended = running.result()
    assert (ended.status, ended.error_string) == (GoalStatus.ABORTED, DEACTIVATED_TEXT)
    assert not arm.condition(patience_s=PATIENCE_S).able
    stop = recover(arm, allow=lambda: True)
    assert stop.errors == (LOST,)
    assert arm.condition().able
    arm.begin()
    assert arm.follow(move(arm, -0.1, 1.0), PATIENT).status is GoalStatus.SUCCEEDED


def child_of(pid: int, module: str) -> int:
    """Return the child of a process that runs a module."""
    children = Path(f'/proc/{pid}/task').glob('*/children')
    pids = [int(word) for file in children for word in file.read_text().split()]
    (found,) = [child for child in pids if module in Path(f'/proc/{child}/cmdline').read_text()]
    return found


def test_an_arm_whose_node_is_killed_brakes(
    node: Running,
    arm: RosDriver,
    server: FrankaSim,  # noqa: F811
) -> None:
    way = move(arm, *LONG)
    Background(lambda: arm.follow(way, PATIENT))
    until(lambda: abs(arm.joint_state().velocity_rad_s[0]) > 0.05, 'motion')
    pid = node.stack.processes[NODE].pid

    os.kill(pid, signal.SIGKILL)

    until(lambda: not process_alive(pid), 'end of the node')
    robot = connected(server.address)
    try:
        q = robot.joint_state()
        assert robot.condition().mode is RobotMode.IDLE
        assert robot.condition().last_errors == ()
        assert np.abs(q.velocity_rad_s).max() < 0.01
        assert abs(q.position_rad[0] - way.position_rad[-1][0]) > 0.1
    finally:
        robot.close()


def connected(address: str) -> FrankaDriver:
    """Connect once the robot has noticed that its client is gone."""
    found: list[FrankaDriver] = []

    def try_once() -> bool:
        try:
            found.append(FrankaDriver(address, realtime=IGNORE))
        except WorldError:
            return False
        return True

    until(try_once, 'connection to the robot')
    return found[0]
