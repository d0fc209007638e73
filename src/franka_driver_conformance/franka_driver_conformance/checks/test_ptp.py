"""Point-to-point motions that the robot plans itself: `action_server/ptp_motion`."""

from __future__ import annotations

from typing import Any

import pytest

from franka_driver_conformance.client import Ended
from franka_driver_conformance.expectations import Record, close
from franka_driver_conformance.manager import arm_controller_down
from franka_driver_conformance.motions import GOAL_RAD, SLACK_S, Arm

pytestmark = [pytest.mark.moves_arm, pytest.mark.ptp]
REACHED, ABORTED = 2, 3
"""Of TargetStatus."""
SPEED_RAD_S = 0.1
TOLERANCE_RAD = 0.005


def test_robot_plans_nothing_while_a_controller_is_active(
    arm: Arm, record_property: Record
) -> None:
    ended = move(arm, arm.positions())
    assert (ended.status, ended.result.target_status.status) == ('ABORTED', ABORTED)
    assert ended.result.error_message
    record_property('message', ended.result.error_message)


def test_robot_moves_by_itself_when_idle(arm: Arm) -> None:
    target = list(arm.swing().trajectory.points[-1].positions)
    with arm_controller_down(arm.driver):
        ended = move(arm, target)
        seen = (ended.status, ended.result.target_status.status, ended.result.error_message)
        assert seen == ('SUCCEEDED', REACHED, '')
        assert arm.positions() == close(target, GOAL_RAD)


def move(arm: Arm, target: list[float]) -> Ended:
    """Run a motion to its end."""
    # Not in every build of franka_msgs: the other checks do without it.
    from franka_msgs.action import PTPMotion

    goal: Any = PTPMotion.Goal()
    goal.goal_joint_configuration = target
    goal.maximum_joint_velocities = [SPEED_RAD_S] * len(target)
    goal.goal_tolerance = TOLERANCE_RAD
    return arm.driver.send(PTPMotion, 'action_server/ptp_motion', goal).ended(SLACK_S)
