"""The hand: four actions and a service, with nothing between the fingers."""

from typing import Any

import pytest
from control_msgs.action import GripperCommand
from franka_msgs.action import Grasp, Homing, Move
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from franka_driver_conformance.client import DriverClient, Ended, SentGoal
from franka_driver_conformance.expectations import Record, close

pytestmark = [pytest.mark.moves_hand, pytest.mark.hand]
ABORTED_TEXT = 'libfranka gripper: Command aborted!'
OPEN_M, HALF_M = 0.07, 0.04
SPEED_M_S, SLOW_M_S = 0.05, 0.02
FORCE_N = 20.0
SAME_M = 0.005
ENDS_S = 30.0
NOISE_M = 1e-3


def test_homing_succeeds(driver: DriverClient, record_property: Record) -> None:
    ended = send(driver, 'homing', Homing, Homing.Goal()).ended(ENDS_S)
    assert end_of(ended) == ('SUCCEEDED', True, '')
    width_m = width(driver)
    assert width_m > OPEN_M
    record_property('width', round(width_m, 3))


def test_move_reaches_its_width(driver: DriverClient, record_property: Record) -> None:
    for width_m in (HALF_M, OPEN_M):
        assert end_of(move(driver, width_m).ended(ENDS_S)) == ('SUCCEEDED', True, '')
        seen_m = width(driver)
        assert [seen_m] == close([width_m], SAME_M)
        record_property(str(width_m), round(seen_m, 4))


def test_feedback_is_the_width(driver: DriverClient) -> None:
    open_hand(driver)
    sent = move(driver, HALF_M, SLOW_M_S)
    sent.wait_feedback(2)
    assert end_of(sent.ended(ENDS_S)) == ('SUCCEEDED', True, '')
    widths = [feedback.current_width for feedback in sent.feedback]
    assert min(widths) > HALF_M - SAME_M
    assert max(widths) < OPEN_M + SAME_M
    assert max(b - a for a, b in zip(widths, widths[1:], strict=False)) < NOISE_M
    assert widths[-1] < widths[0]


def test_empty_grasp_aborts_without_a_text(driver: DriverClient) -> None:
    open_hand(driver)
    assert end_of(grasp(driver, HALF_M, 0.005)) == ('ABORTED', False, '')


def test_wide_window_grasps_nothing(driver: DriverClient, record_property: Record) -> None:
    open_hand(driver)
    assert end_of(grasp(driver, HALF_M, 0.08)) == ('SUCCEEDED', True, '')
    record_property('width', round(width(driver), 3))
    open_hand(driver)


def test_impossible_widths_are_accepted_and_abort(
    driver: DriverClient, record_property: Record
) -> None:
    ended = move(driver, 0.2).ended(ENDS_S)
    assert (ended.status, ended.result.success) == ('ABORTED', False)
    record_property('error', ended.result.error)


def test_cancelled_move_stops(driver: DriverClient) -> None:
    open_hand(driver)
    sent = move(driver, 0.0, SLOW_M_S)
    sent.wait_feedback()
    assert sent.cancel() == 0
    assert end_of(sent.ended(ENDS_S)) == ('CANCELED', False, ABORTED_TEXT)
    assert width(driver) > SAME_M


def test_stop_aborts_a_move(driver: DriverClient) -> None:
    open_hand(driver)
    sent = move(driver, 0.0, SLOW_M_S)
    sent.wait_feedback()
    assert stop(driver) == (True, '')
    assert end_of(sent.ended(ENDS_S)) == ('ABORTED', False, ABORTED_TEXT)


def test_idle_hand_can_be_stopped(driver: DriverClient) -> None:
    assert stop(driver) == (True, '')


def test_second_goal_aborts_the_first(driver: DriverClient) -> None:
    open_hand(driver)
    first = move(driver, 0.0, SLOW_M_S)
    first.wait_feedback()
    second = move(driver, OPEN_M)
    assert end_of(first.ended(ENDS_S)) == ('ABORTED', False, ABORTED_TEXT)
    assert end_of(second.ended(ENDS_S)) == ('SUCCEEDED', True, '')


def test_moveit_position_is_that_of_one_finger(driver: DriverClient) -> None:
    assert end_of(move(driver, HALF_M).ended(ENDS_S)) == ('SUCCEEDED', True, '')
    ended = command(driver, OPEN_M / 2)
    assert (ended.status, ended.result.reached_goal) == ('SUCCEEDED', True)
    assert [width(driver)] == close([OPEN_M], SAME_M)
    assert [ended.result.position] == close([OPEN_M], 2 * SAME_M)
    assert (ended.result.effort, ended.result.stalled) == (0.0, False)


def test_moveit_goal_that_is_met_succeeds_at_once(driver: DriverClient) -> None:
    open_hand(driver)
    ended = command(driver, width(driver) / 2)
    assert (ended.status, ended.result.reached_goal) == ('SUCCEEDED', True)
    assert [ended.result.position] == close([width(driver)], 1e-3)


def test_moveit_goal_out_of_range_has_an_empty_result(driver: DriverClient) -> None:
    for position_m in (0.1, -0.01):
        ended = command(driver, position_m)
        result = ended.result
        seen = (ended.status, result.position, result.effort, result.stalled, result.reached_goal)
        assert seen == ('ABORTED', 0.0, 0.0, False, False), position_m


def test_moveit_closing_is_a_grasp(driver: DriverClient) -> None:
    open_hand(driver)
    ended = command(driver, HALF_M / 2)
    assert (ended.status, ended.result.reached_goal) == ('ABORTED', False)
    open_hand(driver)


def send(driver: DriverClient, name: str, kind: Any, goal: Any) -> SentGoal:
    return driver.send(kind, f'{driver.gripper}/{name}', goal).need_accepted()


def move(driver: DriverClient, width_m: float, speed_m_s: float = SPEED_M_S) -> SentGoal:
    return send(driver, 'move', Move, Move.Goal(width=width_m, speed=speed_m_s))


def open_hand(driver: DriverClient) -> None:
    assert end_of(move(driver, OPEN_M).ended(ENDS_S)) == ('SUCCEEDED', True, '')


def grasp(driver: DriverClient, width_m: float, window_m: float) -> Ended:
    goal = Grasp.Goal(width=width_m, speed=SPEED_M_S, force=FORCE_N)
    goal.epsilon.inner = goal.epsilon.outer = window_m
    return send(driver, 'grasp', Grasp, goal).ended(ENDS_S)


def command(driver: DriverClient, position_m: float) -> Ended:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = position_m, FORCE_N
    return send(driver, 'gripper_action', GripperCommand, goal).ended(ENDS_S)


def stop(driver: DriverClient) -> tuple[bool, str]:
    answer = driver.call(Trigger, f'{driver.gripper}/stop', Trigger.Request())
    return answer.success, answer.message


def width(driver: DriverClient) -> float:
    """Return the width that the hand publishes, measured after any goal that has ended."""
    with driver.probe(JointState, f'{driver.gripper}/joint_states') as probe:
        probe.next(driver.patience_s)  # may have been measured before
        return float(sum(probe.next(driver.patience_s).position))


def end_of(ended: Ended) -> tuple[str, bool, str]:
    return ended.status, ended.result.success, ended.result.error
