"""The hand's commands on physics: what they do, and in which words they fail."""

from typing import Any

import mujoco
import numpy as np
import pytest

from bbllm.arm.controllers.pending import ABORTED_TEXT
from bbllm.arm.driver import GoalStatus, GraspGoal
from bbllm.scene.scene_file import load_scene
from bbllm.sim.driver import SimDriver
from bbllm.sim.faults import Fault
from bbllm.sim.gripper import FAILED_TEXT
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation


@pytest.fixture
def driver(robot: SimulatedRobot) -> SimDriver:
    """Its driver."""
    return SimDriver(robot)


def at_cube(make_arm: Any, size: float = 0.04, mass: float = 0.1) -> Any:
    """Return an arm whose open hand is around a cube."""
    arm = make_arm({'name': 'cube', 'kind': 'cube', 'xy': [0.5, 0], 'size': size, 'mass': mass})
    arm.go(0.5, 0.0, 0.12)
    arm.go(0.5, 0.0, 0.02, duration_s=0.6)
    return arm


@pytest.mark.parametrize('width_m', [0.0, 0.03, 0.08])
def test_a_move_ends_at_its_width(driver: SimDriver, width_m: float) -> None:
    driver.move_gripper(0.05, 0.1)
    result = driver.move_gripper(width_m, 0.1)
    assert result.status is GoalStatus.SUCCEEDED
    assert result.success
    assert result.error == ''
    assert result.width_m == pytest.approx(width_m, abs=1e-3)
    assert driver.joint_state().width_m == pytest.approx(width_m, abs=1e-3)


@pytest.mark.parametrize(('width_m', 'speed_m_s'), [(-0.01, 0.1), (0.09, 0.1), (0.04, 0.0)])
def test_a_move_that_cannot_be_done_fails_at_once(
    driver: SimDriver, width_m: float, speed_m_s: float
) -> None:
    result = driver.move_gripper(width_m, speed_m_s)
    assert result.status is GoalStatus.ABORTED
    assert not result.success
    assert result.error == FAILED_TEXT
    assert driver.joint_state().width_m == pytest.approx(0.08, abs=1e-3)


def test_a_grasp_of_nothing_has_no_error_text_and_the_hand_opens_again(driver: SimDriver) -> None:
    result = driver.grasp(GraspGoal(0.04, 0.1, 40.0, 0.005, 0.005))
    assert result.status is GoalStatus.ABORTED
    assert not result.success
    assert result.error == ''
    assert result.width_m == pytest.approx(0.0, abs=1e-3)
    driver.wait(1.0)
    assert driver.joint_state().width_m == pytest.approx(0.08, abs=1e-3)


def test_a_grasp_of_a_cube_outside_the_window_releases_it(make_arm: Any) -> None:
    arm = at_cube(make_arm)
    result = arm.driver.grasp(GraspGoal(0.03, 0.1, 40.0, 0.005, 0.005))
    assert not result.success
    assert result.error == ''
    assert result.width_m == pytest.approx(0.04, abs=5e-4)
    arm.driver.wait(1.0)
    assert arm.driver.joint_state().width_m == pytest.approx(0.08, abs=1e-3)


@pytest.mark.parametrize('force_n', [10.0, 40.0, 70.0])
def test_the_grip_has_the_force_that_was_asked_for_and_keeps_it(
    make_arm: Any, force_n: float
) -> None:
    arm = at_cube(make_arm)
    arm.driver.grasp(GraspGoal(0.04, 0.1, force_n, 0.005, 0.005))
    for _ in range(2):
        arm.driver.wait(0.5)
        assert finger_force_n(arm.simulation) == pytest.approx(force_n, rel=0.05)


def finger_force_n(simulation: Simulation) -> float:
    model, data, force, pressed_n = simulation.model, simulation.data, np.zeros(6), 0.0
    for i in range(data.ncon):
        bodies = {model.body(model.geom_bodyid[geom]).name for geom in data.contact[i].geom}
        if bodies & {'fr3_leftfinger', 'fr3_rightfinger'}:
            mujoco.mj_contactForce(model, data, i, force)
            pressed_n += float(force[0])
    return pressed_n


def test_a_competing_command_aborts_the_old_one(robot: SimulatedRobot) -> None:
    old = robot.move_gripper(0.0, 0.05)
    robot.advance(0.3)
    new = robot.move_gripper(0.08, 0.1)
    assert old.result.status is GoalStatus.ABORTED
    assert old.result.error == ABORTED_TEXT
    assert 0.05 < old.result.width_m < 0.075
    robot.advance(2.0)
    assert new.result.success


def test_cancel_stops_and_the_goal_ends_as_canceled(robot: SimulatedRobot) -> None:
    pending = robot.move_gripper(0.0, 0.05)
    robot.advance(0.5)
    robot.cancel_gripper()
    assert pending.result.status is GoalStatus.CANCELED
    assert pending.result.error == ABORTED_TEXT
    width_m = robot.joint_state().width_m
    robot.advance(1.0)
    assert robot.joint_state().width_m == pytest.approx(width_m, abs=2e-3)


def test_stop_keeps_a_grip(make_arm: Any) -> None:
    arm = at_cube(make_arm)
    arm.driver.grasp(GraspGoal(0.04, 0.1, 40.0, 0.005, 0.005))
    arm.robot.stop_gripper()
    arm.go(0.5, 0.0, 0.12)
    assert arm.simulation.object_poses()['cube'].position_m[2] == pytest.approx(0.12, abs=1e-3)


def test_an_injected_failure_meets_the_next_command_only(
    robot: SimulatedRobot, driver: SimDriver
) -> None:
    robot.inject(Fault.GRIPPER_FAIL)
    assert driver.move_gripper(0.04, 0.1).error == FAILED_TEXT
    assert driver.move_gripper(0.04, 0.1).success


def test_a_hand_that_was_never_homed_knows_no_width() -> None:
    robot = SimulatedRobot(Simulation(load_scene('empty_table')), homed=False)
    driver = SimDriver(robot)
    assert robot.max_width_m == 0.0
    assert driver.move_gripper(0.04, 0.1).error == FAILED_TEXT

    assert driver.home_gripper().success

    assert robot.max_width_m == pytest.approx(0.08, abs=5e-4)
    assert driver.move_gripper(0.04, 0.1).success


def test_an_injected_miss_meets_the_next_grasp_only(make_arm: Any) -> None:
    arm = at_cube(make_arm)
    arm.robot.inject(Fault.GRIPPER_MISS)
    missed = arm.driver.grasp(GraspGoal(0.04, 0.1, 40.0, 0.005, 0.005))
    assert (missed.success, missed.error) == (False, '')
    arm.driver.wait(1.0)
    assert arm.driver.joint_state().width_m == pytest.approx(0.08, abs=1e-3)
    assert arm.driver.grasp(GraspGoal(0.04, 0.1, 40.0, 0.005, 0.005)).success


def test_the_hand_goes_on_while_the_arm_is_stopped(
    robot: SimulatedRobot, driver: SimDriver
) -> None:
    robot.inject(Fault.USER_STOP)
    goal = robot.move_gripper(0.04, 0.1)  # past the driver, which would cancel it
    driver.wait(1.0)
    driver.wait(1.0)
    assert goal.result.success
