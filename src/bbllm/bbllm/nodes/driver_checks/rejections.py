"""
Goals that the arm's controller rejects. The client is never told why.

Even a driver that took one of them would not move the arm: all would keep it where it is, but for
a millimetre.
"""

from __future__ import annotations

from typing import Any

from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.driver_checks.check import CheckFailedError, Evidence, Need, Theme
from bbllm.nodes.driver_checks.motions import Arm, seconds
from bbllm.ros.convert.records import stamp_to_msg

GOALS = Theme(
    title='trajectories that are rejected', need=Need.MOTION, subject=lambda session: session.arm
)
SOURCE = 'fr 1.7; joint_trajectory_controller.cpp validate_trajectory_msg'
AGO_S = 1000.0
CREEP_RAD_S = 1e-3
"""Not zero, and nothing that anybody would see [rad/s]."""


@GOALS.check(SOURCE)
def six_joints_are_rejected(arm: Arm) -> Evidence:
    """A goal for six of the seven joints is rejected."""
    goal = arm.stay()
    goal.trajectory.joint_names = list(ARM_JOINTS[:6])
    for field in ('positions', 'velocities'):
        setattr(goal.trajectory.points[0], field, [0.0] * 6)
    goal.trajectory.points[0].positions = arm.positions()[:6]
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def no_joints_are_rejected(arm: Arm) -> Evidence:
    """A goal without joint names is rejected."""
    goal = arm.stay()
    goal.trajectory.joint_names = []
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def unknown_joints_are_rejected(arm: Arm) -> Evidence:
    """A goal with a joint that the controller does not have is rejected."""
    goal = arm.stay()
    goal.trajectory.joint_names[6] = 'panda_joint7'
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def no_points_are_rejected(arm: Arm) -> Evidence:
    """A goal without points is rejected."""
    goal = arm.stay()
    goal.trajectory.points = []
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def speed_at_the_end_is_rejected(arm: Arm) -> Evidence:
    """A goal whose last point has a velocity is rejected."""
    goal = arm.stay()
    goal.trajectory.points[-1].velocities[6] = CREEP_RAD_S
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def times_that_do_not_grow_are_rejected(arm: Arm) -> Evidence:
    """A goal with two points at the same time is rejected."""
    goal = arm.stay()
    goal.trajectory.points = goal.trajectory.points * 2
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def missing_positions_are_rejected(arm: Arm) -> Evidence:
    """A goal with a point of six positions is rejected."""
    goal = arm.stay()
    goal.trajectory.points[0].positions = goal.trajectory.points[0].positions[:6]
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def missing_velocities_are_rejected(arm: Arm) -> Evidence:
    """A goal with a point of six velocities is rejected."""
    goal = arm.stay()
    goal.trajectory.points[0].velocities = [0.0] * 6
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def missing_accelerations_are_rejected(arm: Arm) -> Evidence:
    """A goal with a point of six accelerations is rejected."""
    goal = arm.stay()
    goal.trajectory.points[0].accelerations = [0.0] * 6
    return _rejected(arm, goal)


@GOALS.check(SOURCE)
def past_trajectories_are_rejected(arm: Arm) -> Evidence:
    """A goal whose stamp and duration lie in the past is rejected."""
    goal = arm.stay()
    now_s = seconds(arm.measured().header.stamp)
    goal.trajectory.header.stamp = stamp_to_msg(now_s - AGO_S)
    return _rejected(arm, goal)


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp goal_received_callback')
def rejected_goal_leaves_the_running_one_alone(arm: Arm) -> Evidence:
    """A rejected goal does not preempt the one that is being followed."""
    bad = arm.stay()
    bad.trajectory.points = []
    with arm.moving() as running:
        _rejected(arm, bad)
        before = len(running.feedback)
        running.wait_feedback(before + 2)
        running.cancel()
        status = running.ended(arm.driver.patience_s).status
    if status != 'CANCELED':
        raise CheckFailedError('a running goal that can be cancelled', status)
    return {}


def _rejected(arm: Arm, goal: Any) -> Evidence:
    sent = arm.send(goal)
    if sent.accepted:
        sent.cancel()
        raise CheckFailedError('a rejection', 'the goal is accepted')
    return {}
