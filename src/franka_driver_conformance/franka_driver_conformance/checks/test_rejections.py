"""
Trajectories that are rejected: the client does not learn why.

A driver that accepted one of them would not move the arm: all keep it where it is, but for a
millimetre.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from franka_driver_conformance.expectations import expect
from franka_driver_conformance.motions import ARM_JOINTS, Arm, seconds, stamp_msg

pytestmark = pytest.mark.moves_arm
AGO_S = 1000.0
CREEP_RAD_S = 1e-3
"""Not zero, and not visible [rad/s]."""


def six_joints(trajectory: Any) -> None:
    trajectory.joint_names = list(ARM_JOINTS[:6])
    trajectory.points[0].positions = trajectory.points[0].positions[:6]
    trajectory.points[0].velocities = [0.0] * 6


def no_joints(trajectory: Any) -> None:
    trajectory.joint_names = []


def unknown_joints(trajectory: Any) -> None:
    trajectory.joint_names[6] = 'panda_joint7'


def no_points(trajectory: Any) -> None:
    trajectory.points = []


def speed_at_the_end(trajectory: Any) -> None:
    trajectory.points[-1].velocities[6] = CREEP_RAD_S


def times_that_do_not_grow(trajectory: Any) -> None:
    trajectory.points = trajectory.points * 2


def missing_positions(trajectory: Any) -> None:
    trajectory.points[0].positions = trajectory.points[0].positions[:6]


def missing_velocities(trajectory: Any) -> None:
    trajectory.points[0].velocities = [0.0] * 6


def missing_accelerations(trajectory: Any) -> None:
    trajectory.points[0].accelerations = [0.0] * 6


SPOILERS = (
    *(six_joints, no_joints, unknown_joints, no_points, speed_at_the_end),
    *(times_that_do_not_grow, missing_positions, missing_velocities, missing_accelerations),
)
"""Each makes a valid trajectory invalid."""


def name_of(spoil: Callable[[Any], None]) -> str:
    verb = 'is' if spoil is speed_at_the_end else 'are'
    return f'{spoil.__name__.replace("_", "-")}-{verb}-rejected'


@pytest.mark.parametrize('spoil', SPOILERS, ids=name_of)
def test_rejected(arm: Arm, spoil: Callable[[Any], None]) -> None:
    goal = arm.stay()
    spoil(goal.trajectory)
    expect_rejected(arm, goal)


def test_past_trajectories_are_rejected(arm: Arm) -> None:
    goal = arm.stay()
    now_s = seconds(arm.measured().header.stamp)
    goal.trajectory.header.stamp = stamp_msg(now_s - AGO_S)
    expect_rejected(arm, goal)


def test_rejected_goal_leaves_the_running_one_alone(arm: Arm) -> None:
    bad = arm.stay()
    bad.trajectory.points = []
    with arm.moving() as running:
        expect_rejected(arm, bad)
        running.wait_feedback(len(running.feedback) + 2)
        assert running.cancel_and_wait().status == 'CANCELED'


def expect_rejected(arm: Arm, goal: Any) -> None:
    sent = arm.send(goal)
    if sent.accepted:
        sent.cancel()
    expect(not sent.accepted, 'a rejection', 'the goal is accepted')
