"""The simulated driver seen through DDS: what the real one does is what this one does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from bbllm_interfaces.msg import SimGoal
from control_msgs.srv import QueryTrajectoryState
from controller_manager_msgs.srv import ListControllers, ListHardwareComponents, SwitchController
from trajectory_msgs.msg import JointTrajectory

from bbllm.arm.driver import (
    FingerMove,
    FollowError,
    GoalStatus,
    GraspGoal,
    GripperResult,
    RecoveryError,
    RobotMode,
    Tolerances,
)
from bbllm.arm.execution.recovery import Recovery
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.arm.stop_causes import StopCause
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError, SceneError
from bbllm_ros.convert.records import stamp_to_msg
from bbllm_ros.driver.ros_driver import RosDriver
from bbllm_ros.sim.topics import GOALS
from tests.ros.drivers import move, recover
from tests.ros.stacks import PATIENCE_S, Background, Running, inject, until

pytestmark = pytest.mark.ros

SMALL_RAD = 0.2
LONG = (2.0, 20.0)
"""A motion that lasts until it is stopped, also where a test is kept waiting [rad, s]."""
CREEP_M_S = 0.004
"""The speed of fingers that close for 20 s, unless they are stopped [m/s]."""
UNDER_WAY_S = 0.05
"""How much later than the result of a motion its last states may be received [s]."""


def test_cancel_ends_the_goal_and_holds(driver: RosDriver) -> None:
    running = Background(lambda: driver.follow(move(driver, *LONG), Tolerances()))
    until(lambda: abs(driver.joint_state().velocity_rad_s[0]) > 0.1, 'motion')

    driver.stop()

    assert running.result().status is GoalStatus.CANCELED
    driver.wait(0.3)
    held = driver.joint_state()
    driver.wait(0.3)
    np.testing.assert_allclose(driver.joint_state().position_rad, held.position_rad, atol=2e-3)


def test_the_motion_after_a_stop_begins_at_the_set_point_at_which_the_arm_rests(
    sim: Running, driver: RosDriver
) -> None:
    running = Background(lambda: driver.follow(move(driver, *LONG), Tolerances()))
    until(lambda: abs(driver.joint_state().velocity_rad_s[0]) > 0.1, 'motion')
    driver.stop()
    assert running.result().status is GoalStatus.CANCELED

    begin = TrajectoryExecutor(driver).q_start()

    shown = sim.ask(
        QueryTrajectoryState, 'fr3_arm_controller/query_state', time=stamp_to_msg(driver.now_s())
    )
    assert not any(shown.velocity)
    np.testing.assert_allclose(begin, shown.position, rtol=0, atol=1e-12)
    assert (begin != driver.joint_state().position_rad).any()


def test_stop_between_two_motions_ends_the_next_unless_a_new_call_begins(
    driver: RosDriver,
) -> None:
    driver.stop()

    assert driver.follow(move(driver, 0.3, 2.0), Tolerances()).status is GoalStatus.CANCELED
    driver.stop()
    driver.begin()
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_goal_that_never_ends_is_cancelled(sim: Running, driver: RosDriver) -> None:
    inject(sim, 'endless_goal')

    result = driver.follow(move(driver, 0.05, 0.3), Tolerances(goal_time_s=0.1))

    assert result.status is GoalStatus.TIMED_OUT
    assert 'gave no result within' in result.error_string
    inject(sim, 'endless_goal', clear=True)
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_wait_lasts_on_the_clock_of_the_world_and_ends_with_stop(driver: RosDriver) -> None:
    begun_s = driver.now_s()
    driver.wait(0.2)
    assert driver.now_s() - begun_s >= 0.2

    threading.Timer(0.2, driver.stop).start()
    driver.wait(30.0)
    assert driver.now_s() - begun_s < 20.0


def test_frozen_joint_states_are_an_error_that_names_the_node(
    sim: Running, driver: RosDriver
) -> None:
    # The driver of a robot that has gone: its process is stopped, not its connection.
    process = sim.stack.processes['mujoco_sim']
    process.send_signal(19)
    try:
        with pytest.raises(LostNodeError, match='mujoco_sim has gone: no joint states'):
            driver.wait(60.0)
    finally:
        process.send_signal(18)
    until(lambda: driver.feed.fresh, 'joint states')


def test_cancelled_hand_stays_where_it_is(driver: RosDriver) -> None:
    until(lambda: driver.joint_state().width_m > 0.078, 'open fingers')
    running = Background(lambda: driver.move_gripper(0.0, CREEP_M_S))
    until(lambda: driver.joint_state().width_m < 0.075, 'motion of the fingers')

    driver.stop()

    result = running.result()
    assert result.status is GoalStatus.CANCELED
    assert driver.joint_state().width_m == pytest.approx(result.width_m, abs=0.004)


@pytest.mark.parametrize('grips', [False, True])
def test_fingers_that_cross_a_user_stop_go_no_further(
    sim: Running, driver: RosDriver, grips: bool
) -> None:
    def close() -> GripperResult:
        if grips:
            return driver.grasp(GraspGoal(0.0, CREEP_M_S, 20.0, 0.08, 0.08))
        return driver.move_gripper(0.0, CREEP_M_S)

    until(lambda: driver.joint_state().width_m > 0.078, 'open fingers')
    running = Background(close)
    until(lambda: driver.joint_state().width_m < 0.075, 'motion of the fingers')

    inject(sim, 'user_stop')

    result = running.result()
    assert result.status is GoalStatus.CANCELED
    assert result.width_m > 0.01


def test_fingers_and_arm_arrive_by_one_motion(driver: RosDriver) -> None:
    trajectory, begun_s = move(driver, SMALL_RAD, 1.2), driver.now_s()
    fingers = FingerMove(width_m=0.03, speed_m_s=0.1)

    followed, moved = driver.move_both(trajectory, Tolerances(), fingers)

    assert (followed.status, moved.success) == (GoalStatus.SUCCEEDED, True)
    assert moved.width_m == pytest.approx(0.03, abs=0.002)
    assert driver.now_s() - begun_s >= 1.2 - 1e-6
    np.testing.assert_allclose(
        driver.joint_state().position_rad, trajectory.position_rad[-1], atol=0.01
    )


def test_fingers_arrive_while_the_arm_is_under_way(driver: RosDriver) -> None:
    fingers = FingerMove(width_m=0.05, speed_m_s=0.1)
    running = Background(lambda: driver.move_both(move(driver, *LONG), Tolerances(), fingers))
    until(lambda: abs(driver.joint_state().width_m - 0.05) < 0.001, 'arrival of the fingers')

    driver.stop()

    followed, _ = running.result()
    assert followed.status is GoalStatus.CANCELED


@pytest.mark.parametrize('fault', [None, 'reflex', 'user_stop'])
def test_stop_of_either_kind_ends_both_motions(
    sim: Running, driver: RosDriver, fault: str | None
) -> None:
    until(lambda: driver.joint_state().width_m > 0.078, 'open fingers')
    fingers = FingerMove(width_m=0.0, speed_m_s=CREEP_M_S)
    motion = move(driver, *LONG)
    running = Background(lambda: driver.move_both(motion, Tolerances(), fingers))
    until(lambda: driver.joint_state().width_m < 0.075, 'motion of the fingers')

    if fault is None:
        driver.stop()
    else:
        inject(sim, fault)

    followed, moved = running.result()
    assert followed.status is (GoalStatus.CANCELED if fault is None else GoalStatus.ABORTED)
    assert moved.status is GoalStatus.CANCELED
    assert moved.width_m > 0.01


def test_arm_is_stopped_where_the_fingers_fail_before_they_are_due(
    sim: Running, driver: RosDriver
) -> None:
    inject(sim, 'gripper_fail')
    fingers = FingerMove(width_m=0.03, speed_m_s=0.1, due_s=0.5)
    motion = move(driver, *LONG)

    followed, moved = driver.move_both(motion, Tolerances(), fingers)

    assert followed.status is GoalStatus.CANCELED
    assert (moved.status, moved.success) == (GoalStatus.ABORTED, False)
    assert abs(driver.joint_state().position_rad - motion.position_rad[-1]).max() > 0.1


SILENCE_S = 0.5
"""No state that comes later than this was sent before [s]."""


def stop_in_mid_motion(sim: Running, driver: RosDriver, fault: str) -> None:
    """Make the arm move, stop it by a fault, and see that its goal ends as the driver ends it."""
    running = Background(lambda: driver.follow(move(driver, *LONG), Tolerances()))
    until(lambda: running.ended or abs(driver.joint_state().velocity_rad_s[0]) > 0.1, 'motion')
    inject(sim, fault)
    result = running.result()
    assert (result.status, result.error_code) == (GoalStatus.ABORTED, FollowError.INVALID_GOAL)
    assert result.error_string == 'Current goal cancelled during deactivate transition.'


def states_of(sim: Running) -> dict[str, str]:
    listed = sim.ask(ListControllers, 'controller_manager/list_controllers')
    return {item.name: item.state for item in listed.controller}


def test_reflex_takes_the_controllers_down_until_recovered(
    sim: Running, driver: RosDriver
) -> None:
    stop_in_mid_motion(sim, driver, 'reflex')

    assert not driver.condition(PATIENCE_S).able
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.REJECTED
    (part,) = sim.ask(
        ListHardwareComponents, 'controller_manager/list_hardware_components'
    ).component
    assert (part.name, part.state.label) == ('FrankaHardwareInterface', 'unconfigured')

    stop = recover(driver)

    assert (stop.cause, stop.errors, stop.asked) == (
        StopCause.REFLEX, ('cartesian_reflex',), False,
    )  # fmt: skip
    assert states_of(sim)['fr3_arm_controller'] == 'active'
    assert driver.condition().able
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_clock_and_state_survive_a_stop_however_long_it_takes(
    sim: Running, driver: RosDriver
) -> None:
    stop_in_mid_motion(sim, driver, 'reflex')
    assert not driver.condition(PATIENCE_S).able
    until(lambda: driver.feed.stopped, 'silence of the arm')
    held = driver.joint_state()
    until(lambda: not driver.feed.fresh, 'age of the newest state')

    assert driver.now_s() == held.stamp_s == driver.joint_state().stamp_s
    driver.wait(60.0)  # ends at once, as the clock stands
    with pytest.raises(SceneError, match='the robot is stopped'):
        driver.feed.hand(held.stamp_s)

    recover(driver)

    assert driver.now_s() > held.stamp_s
    assert driver.feed.fresh


@pytest.mark.parametrize(
    ('fault', 'cause', 'reported'),
    [
        ('user_stop', StopCause.USER_STOP, 'the user stop of the robot was pressed'),
        ('communication_loss', StopCause.COMMUNICATION_LOSS, 'reported no reason'),
        ('joint_limit', StopCause.JOINT_LIMIT, 'a joint passed its limit'),
    ],
)
def test_what_needs_a_person_is_recovered_from_only_when_it_is_over(
    sim: Running, driver: RosDriver, fault: str, cause: StopCause, reported: str
) -> None:
    stop_in_mid_motion(sim, driver, fault)
    assert not driver.condition(PATIENCE_S).able
    with pytest.raises(RecoveryError, match='refused'):
        driver.clear_errors()

    with pytest.raises(SkillError, match=reported):
        recover(driver)

    assert states_of(sim)['fr3_arm_controller'] == 'inactive'

    def take_back() -> bool:
        inject(sim, fault, clear=True)
        return True

    stop = recover(driver, take_back)

    assert (stop.cause, stop.asked) == (cause, True)
    assert driver.condition().mode is not RobotMode.USER_STOPPED
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_a_user_stop_that_ended_before_a_check_still_needs_a_person(
    sim: Running, driver: RosDriver
) -> None:
    stop_in_mid_motion(sim, driver, 'user_stop')
    inject(sim, 'user_stop', clear=True)
    assert not driver.condition(PATIENCE_S).able

    answers = [False, True]
    recovery = Recovery(driver, lambda what, cancel: answers.pop(0), lambda _: None)

    with pytest.raises(SkillError, match='user stop'):
        recovery.run('testing', CancelToken())

    assert states_of(sim)['fr3_arm_controller'] == 'inactive'
    assert recovery.run('testing', CancelToken()).cause is StopCause.USER_STOP


def test_a_controller_that_was_taken_down_by_hand_is_brought_back_without_asking(
    sim: Running, driver: RosDriver
) -> None:
    arm = ['fr3_arm_controller']
    switch = 'controller_manager/switch_controller'
    assert sim.ask(SwitchController, switch, deactivate_controllers=arm).ok
    assert not driver.condition(PATIENCE_S).able

    assert not recover(driver).asked

    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_a_driver_that_hangs_is_named_while_it_is_waited_for(
    sim: Running, driver: RosDriver
) -> None:
    running = Background(lambda: driver.follow(move(driver, 0.8, 30.0), Tolerances()))
    until(lambda: abs(driver.joint_state().velocity_rad_s[0]) > 0.01, 'motion')

    inject(sim, 'driver_hang')

    with pytest.raises(LostNodeError, match=r'mujoco_sim (hangs|has gone)'):
        running.result()
    inject(sim, 'driver_hang', clear=True)
    driver.wait_fresh(PATIENCE_S)
    assert driver.condition().able


@contextmanager
def received_goals(sim: Running) -> Iterator[list[str]]:
    """
    Yield the names of the goals of arm and hand that arrive at the simulator.

    A publisher that is in the graph may not have found its subscriber yet: trajectories without
    points are sent until the simulator's report of one is received.
    """
    probe, reported = 'fr3_arm_controller/joint_trajectory', threading.Event()
    output: list[str] = []
    node, group = sim.client.node, sim.client.group

    def receive(goal: SimGoal) -> None:
        if goal.name == probe:
            reported.set()
        else:
            output.append(goal.name)

    listener = node.create_subscription(SimGoal, 'sim/goals', receive, GOALS, callback_group=group)
    prober = node.create_publisher(JointTrajectory, probe, 10)

    def is_reported() -> bool:
        prober.publish(JointTrajectory())
        return reported.wait(0.1)

    try:
        until(is_reported, 'report of a goal')
        yield output
    finally:
        node.destroy_publisher(prober)
        node.destroy_subscription(listener)


def test_no_goal_is_sent_to_a_robot_that_was_stopped(sim: Running, driver: RosDriver) -> None:
    with received_goals(sim) as output:
        motion = move(driver, 0.1, 0.5)
        assert driver.follow(motion, Tolerances()).status is GoalStatus.SUCCEEDED
        until(lambda: output, 'the goal before the stop')
        for fault in ('user_stop', 'joint_limit'):
            inject(sim, fault)
            # A state from before the stop may still be on its way, and a goal cross the stop.
            until(lambda: not driver.feed.wait_for_news(SILENCE_S), 'silence')
            assert driver.move_gripper(0.03, 0.1).status is GoalStatus.REJECTED
            assert (
                driver.grasp(GraspGoal(0.03, 0.1, 20.0, 0.08, 0.08)).status is GoalStatus.REJECTED
            )
            assert driver.follow(motion, Tolerances()).status is GoalStatus.REJECTED
            inject(sim, fault, clear=True)
            recover(driver, lambda: True)
        assert driver.move_gripper(0.05, 0.1).success
        until(lambda: len(output) > 1, 'the goal after the stops')

    assert output == ['fr3_arm_controller/follow_joint_trajectory', 'franka_gripper/move']


def test_no_goal_is_sent_after_a_stop_during_the_check_of_the_robot(
    sim: Running, driver: RosDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_able = driver._is_able_now

    def is_able_but_stopped() -> bool:
        able = is_able()
        driver.stop()
        return able

    with received_goals(sim) as output:
        motion = move(driver, 0.1, 0.5)
        with monkeypatch.context() as patch:
            patch.setattr(driver, '_is_able_now', is_able_but_stopped)
            followed = driver.follow(motion, Tolerances())
            moved = driver.move_gripper(0.03, 0.1)
        assert driver.follow(motion, Tolerances()).status is GoalStatus.SUCCEEDED
        until(lambda: output, 'the goal that is sent')

    assert followed.status is moved.status is GoalStatus.CANCELED
    assert followed.error_string == 'The trajectory was stopped before it was sent.'
    assert moved.error == 'The motion of the fingers was stopped before it was sent.'
    assert not moved.begun
    assert output == ['fr3_arm_controller/follow_joint_trajectory']
