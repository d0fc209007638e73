"""The thread in which simulated time passes: its pace, its scene, and what it reads."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from builtin_interfaces.msg import Time

from bbllm.core.errors import SceneFileError
from bbllm.core.types import SkillCall
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.parameters.node_params import MujocoSimParams
from bbllm_ros.sim.loop import CHUNK_S, LONGEST_WAIT_S, REST_S, SimLoop
from bbllm_ros.stack.stack import AWAITED
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros


def test_time_is_never_ahead_of_the_wall_clock_at_rest_and_after_short_goals() -> None:
    loop = SimLoop('tabletop', speed=1.0, seed=0)
    first_s, begun_s = loop.robot.time_s, time.monotonic()
    ahead_s: list[float] = []
    loop.on_advance = lambda _: ahead_s.append(
        loop.robot.time_s - first_s - (time.monotonic() - begun_s)
    )
    loop.start()
    try:
        for rests_s in (0.0, 1.5 * REST_S, 0.5 * REST_S):  # the second goal comes to a batch
            time.sleep(rests_s)
            with loop.goal():
                pass
    finally:
        loop.end()
    assert len(ahead_s) > 2
    assert max(ahead_s) < 2 * CHUNK_S  # it begins with one piece


def test_a_scene_with_another_robot_is_refused_since_the_driver_is_that_of_the_fr3(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'of_a_panda.yaml'
    path.write_text('robot: panda\n')

    with pytest.raises(SceneFileError, match=r'has the robot panda; mujoco_sim plays .* fr3'):
        SimLoop(str(path), speed=0.0, seed=0)


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


WAIT_S = 3.0


@pytest.fixture
def loop() -> Iterator[SimLoop]:
    loop = SimLoop('plus_sign', speed=0.0, seed=0)
    yield loop
    loop.end()


def test_time_hurries_until_the_moment_that_is_waited_for_and_no_longer(loop: SimLoop) -> None:
    begun_s = loop.now_s
    assert not loop.hurries
    loop.hurry_until(begun_s + WAIT_S)
    loop.hurry_until(begun_s)  # an earlier one does not end it
    assert loop.hurries
    assert not loop.busy

    loop.start()

    until(lambda: not loop.hurries, 'the end of the hurry')
    assert loop.now_s >= begun_s + WAIT_S


def test_a_moment_that_is_far_away_does_not_keep_a_core_busy(loop: SimLoop) -> None:
    begun_s = loop.now_s
    loop.hurry_until(begun_s + 1e9)
    loop.start()

    until(lambda: not loop.hurries, 'the end of the hurry')

    assert loop.now_s >= begun_s + LONGEST_WAIT_S


def test_an_executor_publishes_what_it_waits_for(ros_domain: int) -> None:
    nodes = ('mujoco_sim', 'state_estimator', 'fr3_executor')
    with started(nodes) as running:
        awaited = awaited_times(running)
        before_s = running.client.scene().stamp_s

        assert running.client.execute(SkillCall('wait', (f'{WAIT_S:g}',))).succeeded

        until(lambda: awaited, 'the moment that is waited for')
        assert awaited[0] >= before_s + WAIT_S


def awaited_times(running: Running) -> list[float]:
    """Return the moments that are published from now on, on the world's clock [s]."""
    node, awaited = running.client.node, list[float]()
    node.create_subscription(
        Time,
        AWAITED,
        lambda stamp: awaited.append(stamp_from_msg(stamp)),
        10,
        callback_group=running.client.group,
    )
    until(lambda: node.count_publishers(node.resolve_topic_name(AWAITED)), 'the executor')
    return awaited
