"""Goals of the arm's controller that are accepted: what happens, and how they end."""

from __future__ import annotations

import re

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.driver_checks.check import (
    CheckFailedError,
    Evidence,
    Need,
    Theme,
    expect,
    expect_close,
    expect_equal,
    rounded,
)
from bbllm.nodes.driver_checks.motions import (
    GOAL_RAD,
    LONG_S,
    SLOW_S,
    Arm,
    in_order,
    length_s,
    seconds,
)
from bbllm.ros.convert.arm import duration_to_msg
from bbllm.ros.convert.records import stamp_to_msg

GOALS = Theme(title='trajectories', need=Need.MOTION, subject=lambda session: session.arm)

Result = FollowJointTrajectory.Result
SUCCESSFUL, INVALID_GOAL = Result.SUCCESSFUL, Result.INVALID_GOAL
SUCCESS_TEXT = 'Goal successfully reached!'
PREEMPTED_TEXT = 'Current goal preempted by new incoming action.'
DEACTIVATED_TEXT = 'Current goal cancelled during deactivate transition.'
PATH_TEXT = 'Aborted due to path tolerance violation'
GOAL_TIME_TEXT = r'Aborted due to goal_time_tolerance exceeding by (\d+\.\d+) seconds'
NEVER_RAD = 1e-9
"""A tolerance that no arm meets [rad]."""
REST_RAD = 0.01
"""How far an arm that rests may sag or settle [rad]."""
LEAD_S = 3.0
"""How far in the future a trajectory is asked to begin [s]."""


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp update')
def reached_goal_succeeds(arm: Arm) -> Evidence:
    """A reached goal is SUCCEEDED, with SUCCESSFUL and "Goal successfully reached!"."""
    ended = arm.follow(arm.swing())
    seen = (ended.status, ended.result.error_code, ended.result.error_string)
    expect_equal('the end', seen, ('SUCCEEDED', SUCCESSFUL, SUCCESS_TEXT))
    return {'text': ended.result.error_string}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp update')
def reached_goal_is_where_the_arm_is(arm: Arm) -> Evidence:
    """When a goal has succeeded, every joint is within its goal tolerance of the last point."""
    goal = arm.swing()
    arm.must_reach(goal)
    wanted = goal.trajectory.points[-1].positions
    seen = arm.positions()
    expect_close('the positions', seen, wanted, GOAL_RAD)
    worst = max(abs(a - b) for a, b in zip(seen, wanted, strict=True))
    return {'worst_error_rad': round(worst, 5)}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp sort_to_local_joint_order')
def joints_may_come_in_any_order(arm: Arm) -> Evidence:
    """A goal with its joints in another order is the same goal."""
    goal = arm.swing()
    wanted = list(goal.trajectory.points[-1].positions)
    goal.trajectory.joint_names = goal.trajectory.joint_names[::-1]
    for point in goal.trajectory.points:
        for field in ('positions', 'velocities', 'accelerations'):
            setattr(point, field, list(getattr(point, field))[::-1])
    arm.must_reach(goal)
    expect_close('the positions', arm.positions(), wanted, GOAL_RAD)
    return {}


@GOALS.check('fr 1.7; trajectory.cpp (interpolation of positions only)')
def positions_alone_are_enough(arm: Arm) -> Evidence:
    """A goal without velocities and accelerations is accepted and reached."""
    goal = arm.swing(SLOW_S)
    for point in goal.trajectory.points:
        point.velocities = point.accelerations = []
    arm.must_reach(goal)
    return {}


@GOALS.check('joint_trajectory_controller.cpp validate_trajectory_msg')
def efforts_are_taken(arm: Arm) -> Evidence:
    """A controller of efforts takes goals with efforts, here zeros, which add nothing."""
    goal = arm.stay()
    for point in goal.trajectory.points:
        point.effort = [0.0] * 7
    arm.must_reach(goal)
    return {}


@GOALS.check('fr 0.3, 1.7; joint_trajectory_controller.cpp update')
def goal_without_tolerances_ends_with_its_time(arm: Arm) -> Evidence:
    """A goal without any tolerance succeeds when its time is over."""
    goal = arm.swing()
    goal.goal_tolerance = []
    goal.goal_time_tolerance = duration_to_msg(0.0)
    arm.must_reach(goal)
    return {}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp goal_cancelled_callback')
def cancelled_goal_says_nothing(arm: Arm) -> Evidence:
    """A cancelled goal ends CANCELED with error code 0 and no text."""
    with arm.moving() as sent:
        expect_equal('the answer to the cancel', sent.cancel(), 0)
        ended = sent.ended(arm.driver.patience_s)
    seen = (ended.status, ended.result.error_code, ended.result.error_string)
    expect_equal('the end', seen, ('CANCELED', 0, ''))
    return {}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp set_hold_position')
def cancelled_arm_stays(arm: Arm) -> Evidence:
    """After a cancel the arm rests on its way, and stays there."""
    with arm.moving(arm.swing(SLOW_S)) as sent:
        sent.cancel()
        sent.ended(arm.driver.patience_s)
    rest = arm.measured()
    end_s = seconds(rest.header.stamp) + SLOW_S
    with arm.driver.listen(JointState, 'franka/joint_states') as ear:
        later = ear.wait_for(
            lambda state: seconds(state.header.stamp) > end_s,
            'the end of the motion that was cancelled',
            SLOW_S + arm.driver.patience_s,
        )
    expect_close('the positions', in_order(later).position, rest.position, REST_RAD)
    return {}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp preempt_active_goal')
def new_goal_preempts_the_old(arm: Arm) -> Evidence:
    """A new goal is accepted at once; the old one ends ABORTED, INVALID_GOAL, with its text."""
    with arm.moving() as old:
        new = arm.send(arm.stay()).need_accepted()
        ended = old.ended(arm.driver.patience_s)
        seen = (ended.status, ended.result.error_code, ended.result.error_string)
        expect_equal('the end', seen, ('ABORTED', INVALID_GOAL, PREEMPTED_TEXT))
        expect_equal('the new goal', new.ended(SLOW_S + arm.driver.patience_s).status, 'SUCCEEDED')
    return {'text': ended.result.error_string}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp update')
def left_path_aborts(arm: Arm) -> Evidence:
    """Leaving the path tolerance ends ABORTED, PATH_TOLERANCE_VIOLATED, and the arm stops."""
    goal = arm.swing(SLOW_S)
    goal.path_tolerance = [JointTolerance(name=ARM_JOINTS[6], position=NEVER_RAD)]
    ended = arm.follow(goal)
    seen = (ended.status, ended.result.error_code, ended.result.error_string)
    expect_equal('the end', seen, ('ABORTED', Result.PATH_TOLERANCE_VIOLATED, PATH_TEXT))
    arm.must_reach(arm.stay())
    return {'text': ended.result.error_string}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp update')
def late_goal_aborts(arm: Arm) -> Evidence:
    """A goal tolerance not met in time ends ABORTED, GOAL_TOLERANCE_VIOLATED, telling how late."""
    allowed_s = 0.3
    goal = arm.swing()
    goal.goal_tolerance = [JointTolerance(name=name, position=NEVER_RAD) for name in ARM_JOINTS]
    goal.goal_time_tolerance = duration_to_msg(allowed_s)
    ended = arm.follow(goal)
    code = Result.GOAL_TOLERANCE_VIOLATED
    expect_equal('the end', (ended.status, ended.result.error_code), ('ABORTED', code))
    text = ended.result.error_string
    match = re.fullmatch(GOAL_TIME_TEXT, text)
    if match is None:
        raise CheckFailedError(f'a text like {GOAL_TIME_TEXT!r}', text)
    # All the time since the last point, not what of it was too much.
    expect(float(match[1]) >= allowed_s, f'at least {allowed_s} seconds in the text', text)
    return {'text': text}


@GOALS.check('fr 1.6, 1.7; joint_trajectory_controller.cpp update')
def feedback_tells_desired_actual_and_error(arm: Arm) -> Evidence:
    """Feedback names the joints, and its error is the desired less the actual positions."""
    with arm.moving() as sent:
        feedback = sent.wait_feedback(3)[-1]
        sent.cancel()
        sent.ended(arm.driver.patience_s)
    expect_equal('the joints', list(feedback.joint_names), list(ARM_JOINTS))
    desired, actual = feedback.desired.positions, feedback.actual.positions
    expect_equal('the numbers of positions', (len(desired), len(actual)), (7, 7))
    wanted = [a - b for a, b in zip(desired, actual, strict=True)]
    expect_close('the errors', feedback.error.positions, wanted, 1e-6)
    return {}


@GOALS.check('fr 1.7; joint_trajectory_controller.cpp update')
def feedback_goes_on(arm: Arm) -> Evidence:
    """While a goal is followed, feedback comes again and again, stamped later each time."""
    with arm.moving() as sent:
        stamps = [seconds(feedback.header.stamp) for feedback in sent.wait_feedback(4)]
        sent.cancel()
        sent.ended(arm.driver.patience_s)
    steps = [after - before for before, after in zip(stamps, stamps[1:], strict=False)]
    expect(min(steps) > 0, 'growing stamps', rounded(steps))
    return {}


@GOALS.check('fr 1.5; joint_trajectory_controller.cpp topic_callback')
def trajectory_on_the_topic_moves_the_arm(arm: Arm) -> Evidence:
    """A trajectory on the topic joint_trajectory is followed, without goal and result."""
    trajectory = arm.swing().trajectory
    wanted = trajectory.points[-1].positions[6]
    arm.driver.publish(JointTrajectory, f'{arm.driver.controller}/joint_trajectory', trajectory)
    arm.driver.wait_until(
        lambda: abs(arm.positions()[6] - wanted) < GOAL_RAD,
        f'an arm whose joint 7 is at {wanted:.3f} rad',
    )
    return {}


@GOALS.check('fr 1.7; trajectory.cpp (time_from_start)')
def stamp_in_the_future_ends_later(arm: Arm) -> Evidence:
    """A trajectory with a stamp in the future ends at stamp and duration, not before."""
    goal = arm.swing()
    begin_s = seconds(arm.measured().header.stamp) + LEAD_S
    goal.trajectory.header.stamp = stamp_to_msg(begin_s)
    arm.must_reach(goal)
    ended_s = seconds(arm.measured().header.stamp)
    expect(
        ended_s >= begin_s + length_s(goal),
        f'an end {LEAD_S + length_s(goal):g} s after it was sent',
        f'{ended_s - begin_s + LEAD_S:.2f} s',
    )
    return {}


@GOALS.check('joint_trajectory_controller.cpp query_state_service')
def trajectory_can_be_asked_where_it_will_be(arm: Arm) -> Evidence:
    """While a goal is followed, query_state tells where the arm will be before its end."""
    goal = arm.swing(LONG_S)
    with arm.moving(goal) as sent:
        first = sent.feedback[0]
        time_s = seconds(first.header.stamp) + LONG_S / 2
        answer = _query(arm, time_s)
        sent.cancel()
        sent.ended(arm.driver.patience_s)
    expect(answer.success, 'an answer', answer.message or 'success false')
    expect_equal('the joints', list(answer.name), list(ARM_JOINTS))
    lengths = (len(answer.position), len(answer.velocity))
    expect_equal('the numbers of positions and velocities', lengths, (7, 7))
    ends = sorted([first.actual.positions[6], goal.trajectory.points[-1].positions[6]])
    between = ends[0] - 0.005 <= answer.position[6] <= ends[1] + 0.005
    expect(between, f'joint 7 between {rounded(ends)}', answer.position[6])
    return {}


@GOALS.check('joint_trajectory_controller.cpp query_state_service')
def nothing_is_known_of_later(arm: Arm) -> Evidence:
    """Between goals query_state has no answer: success is false."""
    answer = _query(arm, seconds(arm.measured().header.stamp) + 1.0)
    expect(not answer.success, 'no success', 'success')
    return {}


@GOALS.check('joint_trajectory_controller.cpp update, publish_state')
def controller_state_follows_the_goal(arm: Arm) -> Evidence:
    """While a goal is followed, the reference in controller_state moves."""
    topic = f'{arm.driver.controller}/controller_state'
    with arm.driver.listen(JointTrajectoryControllerState, topic) as ear, arm.moving() as sent:
        ear.drain()
        start = ear.next(arm.driver.patience_s).reference.positions[6]
        ear.wait_for(
            lambda state: abs(state.reference.positions[6] - start) > 1e-4,
            'a reference that moves',
            arm.driver.patience_s,
        )
        sent.cancel()
        sent.ended(arm.driver.patience_s)
    return {}


def _query(arm: Arm, time_s: float) -> QueryTrajectoryState.Response:
    return arm.driver.call(
        QueryTrajectoryState,
        f'{arm.driver.controller}/query_state',
        QueryTrajectoryState.Request(time=stamp_to_msg(time_s)),
    )
