"""What `mujoco_sim` reads: the noise of the force on the hand, and the poses of the tool."""

from pathlib import Path

import numpy as np
import pytest

from bbllm.robots.fr3 import FR3
from bbllm.sim.reading import tool_load
from bbllm_ros.parameters.node_params import MujocoSimParams
from bbllm_ros.sim.loop import SimLoop
from bbllm_ros.sim.state import state_of, wrenches_of

pytestmark = pytest.mark.ros

COARSE = 1.0
"""Noise in the scene file of these tests [N]."""


@pytest.fixture
def scene(tmp_path: Path) -> str:
    file = tmp_path / 'coarse.yaml'
    file.write_text(
        'objects:\n  - {name: red_cube, kind: cube, xy: [0.5, 0.1], color: red}\n'
        f'force_noise_n: {{sd: {COARSE}, bias: 0.0}}\n'
    )
    return str(file)


def readings(loop: SimLoop, count: int = 400) -> np.ndarray:
    """Read the force at one moment again and again, shape (count, 3) [N]."""
    with loop.robot.paused() as simulation:
        return np.array([simulation.flange_wrench()[:3] for _ in range(count)])


def made(scene: str, **given: object) -> SimLoop:
    params = MujocoSimParams().model_dump(include={'seed', 'force_noise_n'})
    return SimLoop(scene, speed=1.0, **{**params, **given})


def test_forces_have_the_noise_of_the_scene_by_default(scene: str) -> None:
    assert readings(made(scene)).std(axis=0) == pytest.approx(COARSE, rel=0.2)
    assert readings(made('tabletop')).std(axis=0) == pytest.approx(0.2, rel=0.2)


def test_a_parameter_wins_over_the_noise_of_the_scene(scene: str) -> None:
    noisy = [readings(made(scene, force_noise_n=0.5)) for _ in range(2)]

    assert noisy[0].std(axis=0) == pytest.approx(0.5, rel=0.2)
    assert (noisy[0] == noisy[1]).all()
    assert (readings(made(scene, force_noise_n=0.5, seed=1)) != noisy[0]).all()
    assert (np.ptp(readings(made(scene, force_noise_n=0.0)), axis=0) == 0.0).all()


def test_a_reset_changes_scene_and_seed_but_not_how_noisy_it_is(scene: str) -> None:
    loop = made('tabletop', force_noise_n=0.5, seed=1)

    loop.reset(scene, 0)
    reported = readings(loop)

    assert (reported == readings(made(scene, force_noise_n=0.5, seed=1))).all()
    loop.reset('', 2)
    assert (readings(loop) == readings(made(scene, force_noise_n=0.5, seed=2))).all()


def test_the_tool_is_where_the_joints_put_it(scene: str) -> None:
    robot = made(scene).robot
    state = state_of(robot, tool_load(robot.simulation), 1.0, wrenches_of(robot, 1.0))

    for pose, joints in (
        (state.o_t_ee, state.measured_joint_state),
        (state.o_t_ee_d, state.desired_joint_state),
    ):
        place = pose.pose.position
        assert (place.x, place.y, place.z) == pytest.approx(
            FR3.kinematics.forward(joints.position)[:3, 3]
        )
    assert state.f_t_ee.pose.position.z == pytest.approx(0.1034)
