"""Containers and everyday things of plain shapes: they stand as files describe them."""

import math

import pytest

from bbllm.core.errors import SceneFileError
from bbllm.scene.object_models import OBJECT_MODELS
from bbllm.scene.scene_file import SceneFile, make_scene
from bbllm.sim.simulation import Simulation


def alone(kind: str, **more: object) -> SceneFile:
    return make_scene({'objects': [{'name': 'it', 'kind': kind, 'xy': [0.5, 0.0], **more}]})


@pytest.mark.parametrize('kind', sorted(OBJECT_MODELS))
def test_an_object_stays_as_its_file_describes_it(kind: str) -> None:
    sim = Simulation(alone(kind, yaw_deg=30))
    before = sim.object_poses()['it']

    sim.step(1500)

    after = sim.object_poses()['it']
    assert math.dist(after.position_m, before.position_m) < 0.002
    assert sum(a * b for a, b in zip(after.quat_xyzw, before.quat_xyzw, strict=True)) > 0.9995


def test_a_container_keeps_what_is_dropped_into_it() -> None:
    scene = make_scene(
        {
            'objects': [
                {'name': 'bowl', 'kind': 'bowl', 'xy': [0.5, 0.0]},
                {'name': 'orange', 'kind': 'orange', 'xy': [0.3, 0.4]},
            ]
        }
    )
    sim = Simulation(scene)
    above = sim.object_poses()['bowl']
    x, y, _ = above.position_m
    sim.set_object_pose('orange', type(above)(position_m=(x + 0.03, y, 0.12)))

    sim.step(3000)

    poses = sim.object_poses()
    (bx, by, _), (ox, oy, oz) = poses['bowl'].position_m, poses['orange'].position_m
    assert math.hypot(ox - bx, oy - by) < 0.06
    assert oz == pytest.approx(0.036, abs=0.004)


def test_a_size_for_an_object_with_its_own_is_refused_with_the_reason() -> None:
    with pytest.raises(SceneFileError, match='leave size out: a bowl has a size of its own'):
        alone('bowl', size=[0.3, 0.3, 0.1])
    with pytest.raises(SceneFileError, match='leave size out'):
        alone('pear', size=0.05)
