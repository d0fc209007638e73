"""The physics: does the arm stand, does it follow, are its senses right."""

from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory, Tolerances
from bbllm.core.errors import WorldError
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.sim.driver import SimDriver
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import MOST_SKIPPED_S, Simulation

CUBE = {'name': 'cube', 'kind': 'cube', 'xy': [0.5, 0.0]}


def test_the_arm_holds_its_pose_against_gravity() -> None:
    robot = SimulatedRobot(Simulation(load_scene('empty_table')))
    robot.advance(3.0)
    assert np.abs(robot.joint_state().position_rad - FR3.home_rad).max() < 1e-3
    assert np.abs(robot.joint_state().velocity_rad_s).max() < 1e-6


def test_the_arm_follows_a_fast_motion_to_a_milliradian(
    rest_to_rest: Callable[[Array, Array, float], JointTrajectory],
) -> None:
    robot = SimulatedRobot(Simulation(load_scene('empty_table')))
    motion = rest_to_rest(
        FR3.home_rad, FR3.home_rad + np.array([0.8, 0.5, -0.4, 0.5, 0.3, 0.6, -0.9]), 1.0
    )
    errors = []

    def compare() -> None:
        state = robot.joint_state()
        due = np.interp(state.stamp_s, motion.time_s, range(len(motion.time_s)))
        if due == int(due):  # at the motion's own points, where it is given exactly
            errors.append(np.abs(state.position_rad - motion.position_rad[int(due)]).max())

    driver = SimDriver(robot, on_advance=compare)
    result = driver.follow(motion, Tolerances(path_rad=1e-3, goal_rad=1e-3, goal_time_s=0.1))
    assert result.error_string == 'Goal successfully reached!'
    assert len(errors) >= 5
    assert max(errors) < 1e-3


def test_the_wrench_leaves_out_the_hand_s_own_weight_in_any_pose() -> None:
    simulation = Simulation(load_scene('empty_table'))
    robot = SimulatedRobot(simulation)
    robot.advance(0.5)
    assert np.abs(robot.flange_wrench()).max() < 1e-3
    tilted = FR3.home_rad + np.array([0.3, -0.2, 0.4, 0.2, 0.5, 0.4, -0.6])
    simulation.data.qpos[:7] = tilted
    simulation.hold(np.append(tilted, 0.08))
    simulation.data.qvel[:] = 0
    mujoco.mj_forward(simulation.model, simulation.data)
    acceleration = simulation.data.qacc[:7]
    assert np.isfinite(acceleration).all()
    simulation.step(1500)
    assert np.abs(simulation.flange_wrench()).max() < 0.02


def test_the_wrench_is_that_of_the_last_step_however_many_are_made_at_once() -> None:
    at_once, along, one_by_one = (Simulation(load_scene('plus_sign')) for _ in range(3))
    ctrl = np.tile(np.append(FR3.home_rad + 0.05, 0.03), (10, 1))
    at_once.hold(ctrl[0])

    at_once.step(10)
    along.step_along(ctrl)
    for row in ctrl:
        one_by_one.step_along(row[None])

    wrench = one_by_one.flange_wrench()
    assert np.abs(wrench[:3]).max() > 1.0  # the hand speeds up
    assert at_once.flange_wrench() == pytest.approx(wrench, abs=0)
    assert along.flange_wrench() == pytest.approx(wrench, abs=0)
    assert along.data.qpos == pytest.approx(one_by_one.data.qpos, abs=0)


def test_a_seed_makes_the_wrench_noisy_and_repeatable() -> None:
    scene = load_scene('empty_table')
    first, again, other = (Simulation(scene, seed=seed) for seed in (4, 4, 5))
    readings = [
        np.array([simulation.flange_wrench() for _ in range(200)])
        for simulation in (first, again, other)
    ]
    assert np.array_equal(readings[0], readings[1])
    assert not np.array_equal(readings[0], readings[2])
    assert 0.15 < readings[0][:, 0].std() < 0.25


def test_an_object_can_be_put_elsewhere_also_while_everything_sleeps() -> None:
    simulation = Simulation(make_scene({'objects': [CUBE]}))
    simulation.step(1500)
    simulation.set_object_pose('cube', Pose(position_m=(0.4, 0.2, 0.30)))
    assert simulation.object_poses()['cube'].position_m == pytest.approx((0.4, 0.2, 0.30))
    simulation.step(1000)
    x, y, z = simulation.object_poses()['cube'].position_m
    assert (x, y) == pytest.approx((0.4, 0.2), abs=1e-3)
    assert z == pytest.approx(0.02, abs=1e-3)


def test_a_tower_of_five_stands_straight() -> None:
    tower = [
        {'name': f'c{i}', 'kind': 'cube', 'xyz': [0.5, 0.0, 0.02 + 0.04 * i], 'yaw_deg': 9 * i}
        for i in range(5)
    ]
    simulation = Simulation(make_scene({'objects': tower}))
    simulation.step(2000)
    for i, pose in enumerate(simulation.object_poses().values()):
        assert pose.position_m == pytest.approx((0.5, 0.0, 0.02 + 0.04 * i), abs=5e-4)


def test_a_fixed_object_stays_where_it_is_whatever_hits_or_changes_it() -> None:
    falling = {'name': 'brick', 'kind': 'cube', 'xyz': [0.51, 0.01, 0.06], 'mass': 2.0}
    simulation = Simulation(make_scene({'objects': [{**CUBE, 'fixed': True}, falling]}))
    before = simulation.object_poses()['cube']
    simulation.set_object_pose('brick', Pose(position_m=(0.51, 0.01, 0.30)))
    simulation.step(1000)
    assert simulation.object_poses()['cube'] == before
    assert simulation.object_poses()['brick'].position_m[2] < 0.07
    for change in (
        lambda: simulation.set_object_pose('cube', Pose(position_m=(0.5, 0.3, 0.02))),
        lambda: simulation.set_object_mass('cube', 0.3),
    ):
        with pytest.raises(WorldError, match=r'cube is fixed to its table.* brick can be changed'):
            change()
    simulation.reset()
    assert simulation.object_poses()['cube'] == before


def test_reset_puts_everything_back_but_the_clock() -> None:
    simulation = Simulation(make_scene({'objects': [CUBE]}))
    simulation.set_object_pose('cube', Pose(position_m=(0.4, 0.2, 0.30)))
    simulation.set_object_mass('cube', 0.7)
    simulation.hold(np.append(FR3.home_rad + 0.2, 0.0))
    simulation.step(500)
    simulation.reset()
    assert simulation.model.body('cube').mass == pytest.approx(0.1)
    assert simulation.object_poses()['cube'].position_m == pytest.approx((0.5, 0.0, 0.02))
    assert simulation.joint_state().position_rad == pytest.approx(FR3.home_rad)
    assert simulation.width_m == pytest.approx(0.08)
    assert simulation.time_s == pytest.approx(0.5)


def test_physics_that_blows_up_is_an_error_and_not_a_silent_restart() -> None:
    simulation = Simulation(load_scene('empty_table'))
    simulation.data.qvel[0] = 1e9
    with pytest.raises(WorldError, match='unstable'):
        simulation.step(50)
    simulation.reset()
    simulation.step(50)
    assert np.isfinite(simulation.joint_state().position_rad).all()


def test_time_passes_at_rest_without_physics_until_something_may_move() -> None:
    robot = SimulatedRobot(Simulation(load_scene('tabletop')))
    simulation = robot.simulation
    robot.advance(1.0)
    steps, q = simulation.steps, simulation.data.qpos.copy()
    simulation.skips_rest = True

    robot.advance(0.1)
    assert simulation.steps == steps + 100
    assert (simulation.data.qpos == q).all()

    pose = simulation.object_poses()['red_cube']
    x, y, z = pose.position_m
    robot.set_object_pose('red_cube', replace(pose, position_m=(x, y, z + 0.05)))
    robot.advance(0.02)
    assert simulation.object_poses()['red_cube'].position_m[2] < z + 0.05

    robot.advance(1.0)
    simulation.data.xfrc_applied[simulation.model.body('red_cube').id, 0] = 1.0  # by nobody's word
    robot.advance(2 * MOST_SKIPPED_S)
    assert simulation.object_poses()['red_cube'].position_m[0] > x + 0.01
