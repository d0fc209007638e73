"""The hand: four actions and a service, and nothing between the fingers."""

from __future__ import annotations

from typing import Any

from control_msgs.action import GripperCommand
from franka_msgs.action import Grasp, Homing, Move
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from bbllm.nodes.driver_checks.check import (
    Evidence,
    Need,
    Theme,
    expect,
    expect_close,
    expect_equal,
    rounded,
)
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.goal import Ended, SentGoal

HAND = Theme(title='the hand', need=Need.HAND, hand=True)
ABORTED_TEXT = 'libfranka gripper: Command aborted!'
OPEN_M, HALF_M = 0.07, 0.04
SPEED_M_S, SLOW_M_S = 0.05, 0.02
FORCE_N = 20.0
SAME_M = 0.005
"""Widths agree within this: the hand's own accuracy [m]."""
ENDS_S = 30.0
"""How long anything that the hand does may take [s]."""
NOISE_M = 1e-3
"""What the measured width of fingers that close may grow by [m]."""


@HAND.check('fr 1.7; gripper_action_server.cpp executeCommand')
def homing_succeeds(driver: DriverClient) -> Evidence:
    """Homing ends SUCCEEDED with success and no error, and leaves the hand open."""
    ended = _send(driver, 'homing', Homing, Homing.Goal()).ended(ENDS_S)
    _expect_end(ended, 'SUCCEEDED', True, '')
    width_m = _width(driver)
    expect(width_m > OPEN_M, f'a hand wider than {OPEN_M} m', width_m)
    return {'width': round(width_m, 3)}


@HAND.check('fr 1.7; gripper_action_server.cpp executeMove, publishGripperState')
def move_reaches_its_width(driver: DriverClient) -> Evidence:
    """Move ends SUCCEEDED, and the fingers are as far apart as was asked."""
    evidence = {}
    for width_m in (HALF_M, OPEN_M):
        ended = _move(driver, width_m).ended(ENDS_S)
        _expect_end(ended, 'SUCCEEDED', True, '')
        seen_m = _width(driver)
        expect_close('the width', [seen_m], [width_m], SAME_M)
        evidence[str(width_m)] = round(seen_m, 4)
    return evidence


@HAND.check('fr 1.7; gripper_action_server.cpp publishGripperWidthFeedback')
def feedback_is_the_width(driver: DriverClient) -> Evidence:
    """While the fingers close, current_width of the feedback shrinks."""
    _open(driver)
    sent = _move(driver, HALF_M, SLOW_M_S)
    sent.wait_feedback(2)
    _expect_end(sent.ended(ENDS_S), 'SUCCEEDED', True, '')
    widths = [feedback.current_width for feedback in sent.feedback]
    inside = min(widths) > HALF_M - SAME_M and max(widths) < OPEN_M + SAME_M
    expect(inside, f'widths from {OPEN_M} to {HALF_M} m', rounded([max(widths), min(widths)]))
    grown = max(after - before for before, after in zip(widths, widths[1:], strict=False))
    expect(grown < NOISE_M, 'widths that shrink', f'one that grew by {grown:.4f} m')
    return {}


@HAND.check('fr 1.7, 5; gripper.cpp (kUnsuccessful)')
def empty_grasp_aborts_without_a_text(driver: DriverClient) -> Evidence:
    """A grasp that closes on nothing ends ABORTED, without success and with an empty error."""
    _open(driver)
    ended = _grasp(driver, HALF_M, 0.005, 0.005).ended(ENDS_S)
    _expect_end(ended, 'ABORTED', False, '')
    return {'error': ended.result.error}


@HAND.check('fr 1.7, 5; gripper.cpp grasp')
def wide_window_grasps_nothing(driver: DriverClient) -> Evidence:
    """Success of a grasp is a width inside its window, whatever is there: here, nothing."""
    _open(driver)
    ended = _grasp(driver, HALF_M, 0.08, 0.08).ended(ENDS_S)
    _expect_end(ended, 'SUCCEEDED', True, '')
    width_m = _width(driver)
    _open(driver)
    return {'width': round(width_m, 3)}


@HAND.check('fr 1.7; gripper_action_server.cpp handleGoal')
def impossible_widths_are_accepted_and_abort(driver: DriverClient) -> Evidence:
    """Every goal is accepted: one for a width of 0.2 m ends ABORTED."""
    ended = _move(driver, 0.2).ended(ENDS_S)
    expect_equal('the end', (ended.status, ended.result.success), ('ABORTED', False))
    return {'error': ended.result.error}


@HAND.check('fr 1.7; gripper_action_server.cpp executeCommand')
def cancelled_move_stops(driver: DriverClient) -> Evidence:
    """A cancelled move ends CANCELED without success, with the text of an aborted command."""
    _open(driver)
    sent = _move(driver, 0.0, SLOW_M_S)
    sent.wait_feedback()
    expect_equal('the answer to the cancel', sent.cancel(), 0)
    _expect_end(sent.ended(ENDS_S), 'CANCELED', False, ABORTED_TEXT)
    width_m = _width(driver)
    expect(width_m > SAME_M, 'a hand that has not closed', width_m)
    return {'text': ABORTED_TEXT}


@HAND.check('fr 1.7; gripper_action_server.cpp stopServiceCallback, gripper.cpp (kAborted)')
def stop_aborts_a_move(driver: DriverClient) -> Evidence:
    """Stop succeeds, and the move under way ends ABORTED as an aborted command."""
    _open(driver)
    sent = _move(driver, 0.0, SLOW_M_S)
    sent.wait_feedback()
    answer = _stop(driver)
    expect_equal('the answer', (answer.success, answer.message), (True, ''))
    _expect_end(sent.ended(ENDS_S), 'ABORTED', False, ABORTED_TEXT)
    return {'text': ABORTED_TEXT}


@HAND.check('fr 1.7; gripper_action_server.cpp stopServiceCallback')
def idle_hand_can_be_stopped(driver: DriverClient) -> Evidence:
    """Stop succeeds also when nothing moves."""
    answer = _stop(driver)
    expect_equal('the answer', (answer.success, answer.message), (True, ''))
    return {}


@HAND.check('fr 1.7, 5; gripper.cpp (kAborted)')
def second_goal_aborts_the_first(driver: DriverClient) -> Evidence:
    """A move that comes during a move is accepted and reached; the first ends ABORTED."""
    _open(driver)
    first = _move(driver, 0.0, SLOW_M_S)
    first.wait_feedback()
    second = _move(driver, OPEN_M)
    _expect_end(first.ended(ENDS_S), 'ABORTED', False, ABORTED_TEXT)
    _expect_end(second.ended(ENDS_S), 'SUCCEEDED', True, '')
    return {}


@HAND.check('fr 1.7; gripper_action_server.cpp onExecuteGripperCommand')
def moveit_position_is_that_of_one_finger(driver: DriverClient) -> Evidence:
    """gripper_action opens to twice its position; its result carries the whole width."""
    _expect_end(_move(driver, HALF_M).ended(ENDS_S), 'SUCCEEDED', True, '')
    ended = _command(driver, OPEN_M / 2)
    expect_equal('the end', (ended.status, ended.result.reached_goal), ('SUCCEEDED', True))
    expect_close('the width', [_width(driver)], [OPEN_M], SAME_M)
    expect_close('the position of the result', [ended.result.position], [OPEN_M], 2 * SAME_M)
    expect_equal('effort and stalled', (ended.result.effort, ended.result.stalled), (0.0, False))
    return {'position': round(ended.result.position, 3)}


@HAND.check('fr 1.7; gripper_action_server.cpp onExecuteGripperCommand')
def moveit_goal_that_is_met_succeeds_at_once(driver: DriverClient) -> Evidence:
    """gripper_action to where the hand is succeeds, without feedback."""
    _open(driver)
    ended = _command(driver, _width(driver) / 2)
    expect_equal('the end', (ended.status, ended.result.reached_goal), ('SUCCEEDED', True))
    expect_close('the position', [ended.result.position], [_width(driver)], 1e-3)
    return {}


@HAND.check('fr 1.7; gripper_action_server.cpp onExecuteGripperCommand')
def moveit_goal_out_of_range_has_an_empty_result(driver: DriverClient) -> Evidence:
    """gripper_action beyond the widest opening ends ABORTED with an empty result."""
    for position_m in (0.1, -0.01):
        ended = _command(driver, position_m)
        result = ended.result
        seen = (ended.status, result.position, result.effort, result.stalled, result.reached_goal)
        expect_equal(f'the end at {position_m}', seen, ('ABORTED', 0.0, 0.0, False, False))
    return {}


@HAND.check('fr 1.7; gripper_action_server.cpp onExecuteGripperCommand')
def moveit_closing_is_a_grasp(driver: DriverClient) -> Evidence:
    """gripper_action that closes is a grasp of 5 mm window: on nothing it ends ABORTED."""
    _open(driver)
    ended = _command(driver, HALF_M / 2)
    expect_equal('the end', (ended.status, ended.result.reached_goal), ('ABORTED', False))
    _open(driver)
    return {}


def _send(driver: DriverClient, name: str, kind: Any, goal: Any) -> SentGoal:
    return driver.send(kind, f'{driver.gripper}/{name}', goal).need_accepted()


def _move(driver: DriverClient, width_m: float, speed_m_s: float = SPEED_M_S) -> SentGoal:
    return _send(driver, 'move', Move, Move.Goal(width=width_m, speed=speed_m_s))


def _open(driver: DriverClient) -> None:
    _expect_end(_move(driver, OPEN_M).ended(ENDS_S), 'SUCCEEDED', True, '')


def _grasp(driver: DriverClient, width_m: float, inner_m: float, outer_m: float) -> SentGoal:
    goal = Grasp.Goal(width=width_m, speed=SPEED_M_S, force=FORCE_N)
    goal.epsilon.inner, goal.epsilon.outer = inner_m, outer_m
    return _send(driver, 'grasp', Grasp, goal)


def _command(driver: DriverClient, position_m: float) -> Ended:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = position_m, FORCE_N
    return _send(driver, 'gripper_action', GripperCommand, goal).ended(ENDS_S)


def _stop(driver: DriverClient) -> Any:
    return driver.call(Trigger, f'{driver.gripper}/stop', Trigger.Request())


def _width(driver: DriverClient) -> float:
    """Return the width as the hand tells it, measured after anything that has ended."""
    with driver.listen(JointState, f'{driver.gripper}/joint_states') as ear:
        ear.next(driver.patience_s)  # may have been measured before
        return float(sum(ear.next(driver.patience_s).position))


def _expect_end(ended: Ended, status: str, success: bool, error: str) -> None:
    seen = (ended.status, ended.result.success, ended.result.error)
    expect_equal('the end', seen, (status, success, error))
