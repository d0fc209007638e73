"""Motions that the robot plans itself: `action_server/ptp_motion`."""

from __future__ import annotations

from typing import Any

from bbllm.nodes.driver_checks.check import (
    Evidence,
    Need,
    Theme,
    expect,
    expect_close,
    expect_equal,
)
from bbllm.nodes.driver_checks.goal import Ended
from bbllm.nodes.driver_checks.manager import arm_controller_down
from bbllm.nodes.driver_checks.motions import GOAL_RAD, SLACK_S, Arm

PTP = Theme(
    title='motions of the robot itself', need=Need.MOTION, subject=lambda session: session.arm
)
REACHED, ABORTED = 2, 3
"""Of TargetStatus."""
SPEED_RAD_S = 0.1
TOLERANCE_RAD = 0.005


@PTP.check('fr 1.7; franka_action_server.cpp ptpMotionAction')
def robot_plans_nothing_while_a_controller_is_active(arm: Arm) -> Evidence:
    """While the arm's controller is active, ptp_motion ends ABORTED, and says why."""
    ended = _move(arm, arm.positions())
    seen = (ended.status, ended.result.target_status.status)
    expect_equal('the end', seen, ('ABORTED', ABORTED))
    expect(ended.result.error_message, 'the reason as text', ended.result.error_message)
    return {'message': ended.result.error_message}


@PTP.check('fr 1.7; ptp_motion_handler.cpp, franka_action_server.cpp ptpMotionAction')
def robot_moves_by_itself_when_idle(arm: Arm) -> Evidence:
    """While no controller is active, ptp_motion ends SUCCEEDED with the joints at their target."""
    target = list(arm.swing().trajectory.points[-1].positions)
    with arm_controller_down(arm.driver):
        ended = _move(arm, target)
        seen = (ended.status, ended.result.target_status.status, ended.result.error_message)
        expect_equal('the end', seen, ('SUCCEEDED', REACHED, ''))
        expect_close('the positions', arm.positions(), target, GOAL_RAD)
    return {}


def _move(arm: Arm, target: list[float]) -> Ended:
    # Not in every build of franka_msgs: the other checks do without it.
    from franka_msgs.action import PTPMotion

    goal: Any = PTPMotion.Goal()
    goal.goal_joint_configuration = target
    goal.maximum_joint_velocities = [SPEED_RAD_S] * len(target)
    goal.goal_tolerance = TOLERANCE_RAD
    return arm.driver.send(PTPMotion, 'action_server/ptp_motion', goal).ended(SLACK_S)
