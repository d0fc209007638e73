"""The thread in which simulated time passes, in real time."""

import time
from pathlib import Path

import pytest

from bbllm.core.errors import SceneFileError
from bbllm_ros.sim.loop import CHUNK_S, REST_S, SimLoop

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
