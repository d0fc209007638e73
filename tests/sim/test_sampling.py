"""Sampling in the simulator's step: at the right times, and without a trace in the states."""

from collections.abc import Callable

import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory, Tolerances
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import load_scene
from bbllm.sim.driver import SimDriver
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation
from bbllm_bench.demonstrations.sampling import MotionSampler

GOAL = FR3.home_rad + np.array([0.4, 0.3, -0.2, 0.3, 0.2, 0.3, -0.5])
RATE_HZ = 30.0
Motion = Callable[[Array, Array, float], JointTrajectory]


def sampled(motion: JointTrajectory, rate_hz: float | None) -> tuple[SimulatedRobot, list[Array]]:
    robot = SimulatedRobot(Simulation(load_scene('plus_sign'), seed=1))
    sampler = None if rate_hz is None else MotionSampler(robot, rate_hz)
    driver = SimDriver(robot)
    driver.follow(motion, Tolerances())
    driver.move_gripper(0.03, 0.1)
    driver.wait(0.123)
    if sampler is None:
        return robot, []
    return robot, [sampler.stamps_s, sampler.measured, sampler.set_points, sampler.poses]


def test_samples_are_at_most_half_a_step_off_their_times(rest_to_rest: Motion) -> None:
    robot, (stamps_s, measured, set_points, poses) = sampled(
        rest_to_rest(FR3.home_rad, GOAL, 1.0), RATE_HZ
    )

    due_s = np.arange(len(stamps_s)) / RATE_HZ
    assert len(stamps_s) == int(robot.time_s * RATE_HZ + 1e-9) + 1
    assert np.abs(stamps_s - due_s).max() <= robot.simulation.timestep_s / 2 + 1e-9
    assert measured[0] == pytest.approx([*FR3.home_rad, 0.08])
    assert measured[-1] == pytest.approx([*GOAL, 0.03], abs=0.002)
    assert np.abs(measured[:, :7] - set_points[:, :7]).max() < 0.002
    objects = robot.simulation.object_poses()
    assert poses.shape == (len(stamps_s), len(objects), 7)
    assert poses[-1, :, :3] == pytest.approx(np.array([p.position_m for p in objects.values()]))


@pytest.mark.parametrize('rate_hz', [30.0, 1000.0, 7.0])
def test_states_are_the_same_to_the_last_bit_with_and_without_sampling(
    rate_hz: float, rest_to_rest: Motion
) -> None:
    motion = rest_to_rest(FR3.home_rad, GOAL, 1.0)
    (with_it, _), (without, _) = sampled(motion, rate_hz), sampled(motion, None)

    assert with_it.time_s == without.time_s
    for name in ('qpos', 'qvel', 'qacc_warmstart', 'ctrl'):
        ours, theirs = (getattr(r.simulation.data, name) for r in (with_it, without))
        assert (ours == theirs).all(), name
    assert (with_it.flange_wrench() == without.flange_wrench()).all()
