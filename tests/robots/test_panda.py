"""A second robot of the same chain: its own limits are obeyed, and a task is done with it."""

from contextlib import closing

import numpy as np
import pytest

from bbllm import run_episode
from bbllm.arm.driver import ArmDriver, JointTrajectory
from bbllm.arm.motion.trajectory import sample
from bbllm.core.errors import SceneFileError
from bbllm.core.events import Ending
from bbllm.robots.panda import PANDA
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.recording import RecordingDriver
from bbllm_bench.scorers.patterns import check_plus

# Franka Control Interface, "Robot and interface specifications", limits of the Panda in joint
# space: lower, upper [rad], velocity [rad/s], acceleration [rad/s^2], jerk [rad/s^3].
PUBLISHED = np.array(
    [
        (-2.8973, 2.8973, 2.1750, 15.0, 7500.0),
        (-1.7628, 1.7628, 2.1750, 7.5, 3750.0),
        (-2.8973, 2.8973, 2.1750, 10.0, 5000.0),
        (-3.0718, -0.0698, 2.1750, 12.5, 6250.0),
        (-2.8973, 2.8973, 2.6100, 15.0, 7500.0),
        (-0.0175, 3.7525, 2.6100, 20.0, 10000.0),
        (-2.8973, 2.8973, 2.6100, 20.0, 10000.0),
    ]
).T
LOWER, UPPER, VELOCITY, ACCELERATION, JERK = PUBLISHED
ROUNDING = 1.0 + 1e-6


def assert_legal(move: JointTrajectory) -> None:
    """Check a motion against the published numbers, by differences at 1 kHz."""
    q, dq, ddq = sample(move, np.arange(0.0, move.duration_s, 1e-3))
    assert (q >= LOWER).all() and (q <= UPPER).all()
    assert (np.abs(dq) <= VELOCITY * ROUNDING).all()
    assert (np.abs(ddq) <= ACCELERATION * ROUNDING).all()
    assert (np.abs(np.diff(ddq, axis=0)) * 1e3 <= JERK * ROUNDING).all()


def test_the_limits_are_the_published_ones() -> None:
    limits = PANDA.limits

    np.testing.assert_array_equal(limits.lower_rad, LOWER)
    np.testing.assert_array_equal(limits.upper_rad, UPPER)
    np.testing.assert_array_equal(limits.velocity_rad_s, VELOCITY)
    np.testing.assert_array_equal(limits.acceleration_rad_s2, ACCELERATION)
    np.testing.assert_array_equal(limits.jerk_rad_s3, JERK)


def test_the_links_have_the_identified_masses() -> None:
    model = PANDA.spec().compile()
    masses = [float(model.body(name).mass[0]) for name in PANDA.links[1:]]

    # C. Gaz et al. (2019), table II.
    assert masses == pytest.approx(
        [4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522]
    )
    assert [model.body(i).name for i in range(1, model.nbody)] == list(PANDA.bodies)


def test_the_panda_builds_the_plus_sign_within_its_limits() -> None:
    scene = load_scene('plus_sign').model_copy(update={'robot': 'panda'})
    recorders: list[RecordingDriver] = []

    def recorded(driver: ArmDriver) -> ArmDriver:
        recorders.append(RecordingDriver(driver))
        return recorders[0]

    with closing(TabletopWorld(scene, wrap_driver=recorded)) as world:
        task = 'create a plus sign in the working space using the cubes'
        episode = run_episode(task, 'brain_body', world, brain='offline', body='offline')
        cubes = {name: pose for name, pose in world.settled().items() if 'cube' in name}

    assert episode.ending is Ending.FINISHED, episode.message
    reason, fit = check_plus(cubes, 0.04)
    assert fit is not None and not reason, reason
    assert len(recorders[0].trajectories) > 20
    for move in recorders[0].trajectories:
        assert_legal(move)


def test_names_of_the_bodies_of_the_panda_are_reserved_in_its_own_scenes_alone() -> None:
    objects = [{'name': 'panda_link3', 'kind': 'cube', 'xy': [0.5, 0.0]}]

    assert make_scene({'objects': objects}).movables[0].name == 'panda_link3'
    with pytest.raises(SceneFileError, match='panda_link3 belongs to the robot'):
        make_scene({'robot': 'panda', 'objects': objects})
