"""What mujoco_sim serves beside goals of arm and hand, seen through DDS."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from bbllm_interfaces.msg import SimGoal
from bbllm_interfaces.srv import ResetSim
from control_msgs.action import FollowJointTrajectory, GripperCommand
from franka_msgs.action import ErrorRecovery, Homing, Move, PTPMotion
from franka_msgs.msg import FrankaRobotState
from franka_msgs.srv import (
    SetCartesianStiffness,
    SetJointStiffness,
    SetStiffnessFrame,
    SetTCPFrame,
)

from bbllm.arm.driver import GoalStatus
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.sim.topics import GOALS
from tests.ros.sim_clients import (
    ARM,
    JOINTS,
    STATE,
    ptp,
    received_on,
    run,
    set_hardware,
    stay,
    switch,
)
from tests.ros.stacks import Running, inject, started, until

pytestmark = pytest.mark.ros


IDENTITY = [float(number) for number in np.eye(4).ravel()]


@pytest.fixture(scope='module')
def shared(ros_domain: int) -> Iterator[Running]:
    """Start `mujoco_sim` alone, as fast as it can while goals run, with a hand not homed yet."""
    with started(('mujoco_sim',), params={'mujoco_sim': {'homed': False}}) as running:
        yield running


@pytest.fixture
def sim(shared: Running) -> Running:
    assert shared.ask(ResetSim, 'sim/reset').success
    return shared


def test_a_user_stop_ends_the_robots_own_motion_with_its_reason(sim: Running) -> None:
    assert switch(sim, down=(ARM,)).ok

    def stop() -> None:
        inject(sim, 'user_stop')

    status, result = run(sim, PTPMotion, 'action_server/ptp_motion', ptp(1.0, 0.001), stop)

    assert status is GoalStatus.ABORTED
    assert result.error_message == 'Control aborted due to user stop.'
    inject(sim, 'user_stop', clear=True)


@pytest.mark.parametrize(
    ('kind', 'name', 'good', 'bad'),
    [
        (SetJointStiffness, 'set_joint_stiffness', {'joint_stiffness': [500.0] * 7},
         {'joint_stiffness': [-1.0] * 7}),
        (SetCartesianStiffness, 'set_cartesian_stiffness', {'cartesian_stiffness': [200.0] * 6},
         {'cartesian_stiffness': [0.0] * 6}),
        (SetTCPFrame, 'set_tcp_frame', {'transformation': IDENTITY},
         {'transformation': [0.0] * 16}),
        (SetStiffnessFrame, 'set_stiffness_frame', {'transformation': IDENTITY},
         {'transformation': [1.0] * 16}),
    ],
)  # fmt: skip
def test_parameters_of_the_robot_are_taken_when_idle_and_where_they_make_sense(
    sim: Running, kind: Any, name: str, good: dict[str, Any], bad: dict[str, Any]
) -> None:
    refused = sim.ask(kind, f'service_server/{name}', **good)
    assert (refused.success, '("Move")' in refused.error) == (False, True)
    assert switch(sim, down=(ARM,)).ok

    taken = sim.ask(kind, f'service_server/{name}', **good)
    senseless = sim.ask(kind, f'service_server/{name}', **bad)

    assert (taken.success, taken.error) == (True, '')
    assert (senseless.success, 'invalid argument' in senseless.error) == (False, True)


def test_every_goal_is_published_with_the_mode_of_the_robot_also_the_rejected_ones(
    sim: Running,
) -> None:
    with received_on(sim, SimGoal, 'sim/goals', GOALS) as goals:
        until(lambda: sim.client.node.count_publishers('sim/goals'), 'the author of sim/goals')
        follow = partial(run, sim, FollowJointTrajectory, f'{ARM}/follow_joint_trajectory')
        assert follow(stay())[0] is GoalStatus.SUCCEEDED
        assert follow(stay(6))[0] is GoalStatus.REJECTED
        inject(sim, 'user_stop')
        assert follow(stay())[0] is GoalStatus.REJECTED
        run(sim, Move, 'franka_gripper/move', Move.Goal(width=0.04, speed=0.1))
        until(lambda: len(goals) >= 4, 'four goals')
    inject(sim, 'user_stop', clear=True)

    trajectory, modes = f'{ARM}/follow_joint_trajectory', FrankaRobotState
    assert [(goal.name, goal.robot_mode, goal.accepted) for goal in goals] == [
        (trajectory, modes.ROBOT_MODE_MOVE, True),
        (trajectory, modes.ROBOT_MODE_MOVE, False),
        (trajectory, modes.ROBOT_MODE_USER_STOPPED, False),
        ('franka_gripper/move', modes.ROBOT_MODE_USER_STOPPED, True),
    ]
    stamps = [stamp_from_msg(goal.header.stamp) for goal in goals]
    assert stamps == sorted(stamps)
    assert 'velocities' in goals[1].reason
    asked = stay()
    assert list(goals[0].joint_names) == list(asked.trajectory.joint_names)
    assert goals[0].duration == asked.trajectory.points[-1].time_from_start
    assert stamp_from_msg(goals[0].start) >= stamps[0]
    assert (list(goals[3].joint_names), stamp_from_msg(goals[3].duration)) == ([], 0.0)


def test_a_stopped_robot_reports_the_cause_once_its_broadcaster_is_active(sim: Running) -> None:
    inject(sim, 'joint_limit')
    assert set_hardware(sim, 'active').ok
    assert switch(sim, up=(STATE,)).ok

    with received_on(sim, FrankaRobotState, f'{STATE}/robot_state') as states:
        until(lambda: states, 'robot_state')
    assert states[-1].robot_mode == FrankaRobotState.ROBOT_MODE_REFLEX
    assert states[-1].current_errors.joint_position_limits_violation
    assert not switch(sim, up=(ARM,)).ok  # the robot refuses

    inject(sim, 'joint_limit', clear=True)
    status, _ = run(sim, ErrorRecovery, 'action_server/error_recovery', ErrorRecovery.Goal())
    assert status == GoalStatus.SUCCEEDED
    assert switch(sim, up=(ARM, JOINTS)).ok
    with received_on(sim, FrankaRobotState, f'{STATE}/robot_state') as states:
        until(
            lambda: states and states[-1].robot_mode == FrankaRobotState.ROBOT_MODE_MOVE,
            'mode MOVE',
        )
    assert not states[-1].current_errors.joint_position_limits_violation
    assert states[-1].last_motion_errors.joint_position_limits_violation


def test_a_hand_that_was_not_homed_takes_no_width_before_it_is(sim: Running) -> None:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = 0.02, 10.0
    name = 'franka_gripper/gripper_action'
    status, result = run(sim, GripperCommand, name, goal)
    assert (status, result.position) == (GoalStatus.ABORTED, 0.0)

    homed, _ = run(sim, Homing, 'franka_gripper/homing', Homing.Goal())
    status, result = run(sim, Move, 'franka_gripper/move', Move.Goal(width=0.04, speed=0.1))

    assert homed == GoalStatus.SUCCEEDED
    assert (status, result.success) == (GoalStatus.SUCCEEDED, True)
