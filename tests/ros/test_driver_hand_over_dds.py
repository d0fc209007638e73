"""The hand of the simulated driver, seen through DDS."""

from __future__ import annotations

import pytest
from drivers import inject
from stacks import Background, Running, until
from std_srvs.srv import Trigger

from bbllm.arm.driver import (
    GoalStatus,
    GraspGoal,
    GripperResult,
)
from bbllm.ros.driver.ros_driver import RosDriver

pytestmark = pytest.mark.ros


def test_the_hands_failures_are_told_as_the_driver_tells_them(
    sim: Running, driver: RosDriver
) -> None:
    inject(sim, 'gripper_fail')
    failed = driver.move_gripper(0.05, 0.1)
    inject(sim, 'gripper_miss')
    missed = driver.grasp(GraspGoal(0.0, 0.1, 20.0, 0.08, 0.08))

    assert (failed.status, failed.success) == (GoalStatus.ABORTED, False)
    assert 'Command failed' in failed.error
    assert (missed.status, missed.success, missed.error) == (GoalStatus.ABORTED, False, '')


def test_hand_moves_homes_and_misses(driver: RosDriver) -> None:
    closed = driver.move_gripper(0.03, 0.1)
    assert closed.success
    assert closed.width_m == pytest.approx(0.03, abs=0.002)

    missed = driver.grasp(GraspGoal(0.04, 0.1, 20.0, 0.005, 0.005))
    assert (missed.status, missed.success, missed.error) == (GoalStatus.ABORTED, False, '')

    assert driver.home_gripper().success
    assert driver.joint_state().width_m == pytest.approx(0.08, abs=0.002)

    impossible = driver.move_gripper(0.2, 0.1)
    assert impossible.status is GoalStatus.ABORTED
    assert 'Command failed' in impossible.error


def test_stop_aborts_what_the_hand_does(sim: Running, driver: RosDriver) -> None:
    until(lambda: driver.joint_state().width_m > 0.078, 'open fingers')
    running = Background(lambda: driver.move_gripper(0.0, 0.02))
    until(lambda: driver.joint_state().width_m < 0.075, 'motion of the fingers')

    assert sim.ask(Trigger, 'franka_gripper/stop').success

    result = running.result()
    assert (result.status, result.success) == (GoalStatus.ABORTED, False)
    assert 'aborted' in result.error
    assert result.width_m > 0.01


def test_cancelled_hand_stays_where_it_is(driver: RosDriver) -> None:
    until(lambda: driver.joint_state().width_m > 0.078, 'open fingers')
    running = Background(lambda: driver.move_gripper(0.0, 0.02))
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
            return driver.grasp(GraspGoal(0.0, 0.02, 20.0, 0.08, 0.08))
        return driver.move_gripper(0.0, 0.02)

    until(lambda: driver.joint_state().width_m > 0.078, 'open fingers')
    running = Background(close)
    until(lambda: driver.joint_state().width_m < 0.075, 'motion of the fingers')

    inject(sim, 'user_stop')

    result = running.result()
    assert result.status is GoalStatus.CANCELED
    assert result.width_m > 0.01
