"""Trajectories: what happens to accepted goals of the arm's controller, and how they end."""

import re
from typing import Any

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from franka_driver_conformance.client import Ended
from franka_driver_conformance.expectations import Record, close, expect
from franka_driver_conformance.manager import arm_controller_down
from franka_driver_conformance.motions import (
    ARM_JOINTS,
    GOAL_RAD,
    LONG_S,
    SLACK_S,
    SLOW_S,
    Arm,
    duration_msg,
    in_order,
    length_s,
    seconds,
    stamp_msg,
)

pytestmark = pytest.mark.moves_arm
Result = FollowJointTrajectory.Result
INVALID_GOAL = Result.INVALID_GOAL
SUCCESS_TEXT = 'Goal successfully reached!'
PREEMPTED_TEXT = 'Current goal preempted by new incoming action.'
PATH_TEXT = 'Aborted due to path tolerance violation'
GOAL_TIME_TEXT = r'Aborted due to goal_time_tolerance exceeding by (\d+\.\d+) seconds'
DEACTIVATED = ('ABORTED', INVALID_GOAL, 'Current goal cancelled during deactivate transition.')
NEVER_RAD = 1e-9
REST_RAD = 0.01
LEAD_S = 3.0


def test_reached_goal_succeeds(arm: Arm) -> None:
    ended = arm.follow(arm.swing())
    assert ended.trajectory_end == ('SUCCEEDED', Result.SUCCESSFUL, SUCCESS_TEXT)


def test_reached_goal_is_where_the_arm_is(arm: Arm, record_property: Record) -> None:
    goal = arm.swing()
    arm.must_reach(goal)
    wanted, seen = goal.trajectory.points[-1].positions, arm.positions()
    assert seen == close(wanted, GOAL_RAD)
    record_property('worst_error_rad', round(float(np.abs(np.subtract(seen, wanted)).max()), 5))


def test_joints_may_come_in_any_order(arm: Arm) -> None:
    goal = arm.swing()
    wanted = list(goal.trajectory.points[-1].positions)
    goal.trajectory.joint_names = goal.trajectory.joint_names[::-1]
    for point in goal.trajectory.points:
        for field in ('positions', 'velocities', 'accelerations'):
            setattr(point, field, list(getattr(point, field))[::-1])
    arm.must_reach(goal)
    assert arm.positions() == close(wanted, GOAL_RAD)


def test_positions_alone_are_enough(arm: Arm) -> None:
    goal = arm.swing(SLOW_S)
    for point in goal.trajectory.points:
        point.velocities = point.accelerations = []
    arm.must_reach(goal)


def test_efforts_are_taken(arm: Arm) -> None:
    goal = arm.stay()
    for point in goal.trajectory.points:
        point.effort = [0.0] * 7
    arm.must_reach(goal)


def test_goal_without_tolerances_ends_with_its_time(arm: Arm) -> None:
    goal = arm.swing()
    goal.goal_tolerance = []
    goal.goal_time_tolerance = duration_msg(0.0)
    arm.must_reach(goal)


def test_cancelled_goal_says_nothing(arm: Arm) -> None:
    with arm.moving() as sent:
        assert sent.cancel() == 0
        assert sent.ended().trajectory_end == ('CANCELED', 0, '')


def test_cancelled_arm_stays(arm: Arm) -> None:
    with arm.moving(arm.swing(SLOW_S)) as sent:
        sent.cancel_and_wait()
    rest = arm.measured()
    end_s = seconds(rest.header.stamp) + SLOW_S
    with arm.driver.probe(JointState, 'franka/joint_states') as probe:
        later = probe.wait_for(
            lambda state: seconds(state.header.stamp) > end_s,
            'the end of the motion that was cancelled',
            SLOW_S + arm.driver.patience_s,
        )
    assert list(in_order(later).position) == close(rest.position, REST_RAD)


def test_new_goal_preempts_the_old(arm: Arm) -> None:
    with arm.moving() as old:
        new = arm.send(arm.stay()).need_accepted()
        assert old.ended().trajectory_end == ('ABORTED', INVALID_GOAL, PREEMPTED_TEXT)
        assert new.ended(SLOW_S + arm.driver.patience_s).status == 'SUCCEEDED'


def test_left_path_aborts(arm: Arm) -> None:
    goal = arm.swing(SLOW_S)
    goal.path_tolerance = [JointTolerance(name=ARM_JOINTS[6], position=NEVER_RAD)]
    ended = arm.follow(goal)
    assert ended.trajectory_end == ('ABORTED', Result.PATH_TOLERANCE_VIOLATED, PATH_TEXT)
    arm.must_reach(arm.stay())


def test_late_goal_aborts(arm: Arm, record_property: Record) -> None:
    allowed_s = 0.3
    goal = arm.swing()
    goal.goal_tolerance = [JointTolerance(name=name, position=NEVER_RAD) for name in ARM_JOINTS]
    goal.goal_time_tolerance = duration_msg(allowed_s)
    status, code, text = arm.follow(goal).trajectory_end
    assert (status, code) == ('ABORTED', Result.GOAL_TOLERANCE_VIOLATED)
    match = re.fullmatch(GOAL_TIME_TEXT, text)
    assert match is not None, text
    # The whole time since the last point, not only what exceeds the tolerance.
    assert float(match[1]) >= allowed_s
    record_property('text', text)


def test_feedback_tells_desired_actual_and_error(arm: Arm) -> None:
    with arm.moving() as sent:
        feedback = sent.wait_feedback(3)[-1]
        sent.cancel_and_wait()
    assert list(feedback.joint_names) == list(ARM_JOINTS)
    desired, actual = feedback.desired.positions, feedback.actual.positions
    assert (len(desired), len(actual)) == (7, 7)
    assert list(feedback.error.positions) == close(np.subtract(desired, actual), 1e-6)


def test_feedback_goes_on(arm: Arm) -> None:
    with arm.moving() as sent:
        stamps = [seconds(feedback.header.stamp) for feedback in sent.wait_feedback(4)]
        sent.cancel_and_wait()
    assert min(np.diff(stamps)) > 0


def test_trajectory_on_the_topic_moves_the_arm(arm: Arm) -> None:
    trajectory = arm.swing().trajectory
    wanted_rad = trajectory.points[-1].positions[6]
    arm.driver.publish(JointTrajectory, f'{arm.driver.controller}/joint_trajectory', trajectory)
    arm.driver.wait_until(
        lambda: abs(arm.positions()[6] - wanted_rad) < GOAL_RAD,
        f'an arm whose joint 7 is at {wanted_rad:.3f} rad',
    )


def test_stamp_in_the_future_ends_later(arm: Arm) -> None:
    goal = arm.swing()
    begin_s = seconds(arm.measured().header.stamp) + LEAD_S
    goal.trajectory.header.stamp = stamp_msg(begin_s)
    arm.must_reach(goal)
    assert seconds(arm.measured().header.stamp) >= begin_s + length_s(goal)


def test_trajectory_can_be_asked_where_it_will_be(arm: Arm) -> None:
    goal = arm.swing(LONG_S)
    with arm.moving(goal) as sent:
        first = sent.feedback[0]
        answer = query(arm, seconds(first.header.stamp) + LONG_S / 2)
        sent.cancel_and_wait()
    assert answer.success, answer.message
    assert list(answer.name) == list(ARM_JOINTS)
    assert (len(answer.position), len(answer.velocity)) == (7, 7)
    ends = sorted([first.actual.positions[6], goal.trajectory.points[-1].positions[6]])
    assert ends[0] - 0.005 <= answer.position[6] <= ends[1] + 0.005


def test_nothing_is_known_of_later(arm: Arm) -> None:
    assert not query(arm, seconds(arm.measured().header.stamp) + 1.0).success


def test_controller_state_follows_the_goal(arm: Arm) -> None:
    topic = f'{arm.driver.controller}/controller_state'
    with arm.driver.probe(JointTrajectoryControllerState, topic) as probe, arm.moving() as sent:
        probe.drain()
        start_rad = probe.next(arm.driver.patience_s).reference.positions[6]
        probe.wait_for(
            lambda state: abs(state.reference.positions[6] - start_rad) > 1e-4,
            'a reference that moves',
            arm.driver.patience_s,
        )
        sent.cancel_and_wait()


def query(arm: Arm, time_s: float) -> QueryTrajectoryState.Response:
    request = QueryTrajectoryState.Request(time=stamp_msg(time_s))
    return arm.driver.call(QueryTrajectoryState, f'{arm.driver.controller}/query_state', request)


AGO_S = 1000.0
CREEP_RAD_S = 1e-3
SIX = [0.0] * 6
# A driver that accepted one of these goals would not move the arm by more than a millimetre.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    'no-joints-are-rejected': ({'joint_names': []}, {}),
    'unknown-joints-are-rejected': ({'joint_names': [*ARM_JOINTS[:6], 'panda_joint7']}, {}),
    'six-joints-are-rejected': ({'joint_names': list(ARM_JOINTS[:6])}, {'velocities': SIX}),
    'no-points-are-rejected': ({'points': []}, {}),
    'missing-positions-are-rejected': ({}, {}),
    'speed-at-the-end-is-rejected': ({}, {'velocities': [*SIX, CREEP_RAD_S]}),
    'missing-velocities-are-rejected': ({}, {'velocities': SIX}),
    'missing-accelerations-are-rejected': ({}, {'accelerations': SIX}),
}
SIX_POSITIONS = ('six-joints-are-rejected', 'missing-positions-are-rejected')


@pytest.mark.parametrize('check', CHANGES)
def test_rejected(arm: Arm, check: str) -> None:
    goal = arm.stay()
    fields, of_point = CHANGES[check]
    point = goal.trajectory.points[0]
    if check in SIX_POSITIONS:
        point.positions = point.positions[:6]
    for name, value in of_point.items():
        setattr(point, name, value)
    for name, value in fields.items():
        setattr(goal.trajectory, name, value)
    expect_rejected(arm, goal)


def test_times_that_do_not_grow_are_rejected(arm: Arm) -> None:
    goal = arm.stay()
    goal.trajectory.points = goal.trajectory.points * 2
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


PTP_REACHED, PTP_ABORTED = 2, 3
"""Of TargetStatus."""
PTP_RAD_S = 0.1
PTP_GOAL_RAD = 0.005


@pytest.mark.ptp
def test_robot_plans_nothing_while_a_controller_is_active(
    arm: Arm, record_property: Record
) -> None:
    ended = ptp_motion(arm, arm.positions())
    assert (ended.status, ended.result.target_status.status) == ('ABORTED', PTP_ABORTED)
    assert ended.result.error_message
    record_property('message', ended.result.error_message)


@pytest.mark.ptp
def test_robot_moves_by_itself_when_idle(arm: Arm) -> None:
    target = list(arm.swing().trajectory.points[-1].positions)
    with arm_controller_down(arm.driver):
        ended = ptp_motion(arm, target)
        seen = (ended.status, ended.result.target_status.status, ended.result.error_message)
        assert seen == ('SUCCEEDED', PTP_REACHED, '')
        assert arm.positions() == close(target, GOAL_RAD)


def ptp_motion(arm: Arm, target: list[float]) -> Ended:
    # Not in every build of franka_msgs: the other checks do without it.
    from franka_msgs.action import PTPMotion

    goal: Any = PTPMotion.Goal()
    goal.goal_joint_configuration = target
    goal.maximum_joint_velocities = [PTP_RAD_S] * len(target)
    goal.goal_tolerance = PTP_GOAL_RAD
    return arm.driver.send(PTPMotion, 'action_server/ptp_motion', goal).ended(SLACK_S)
