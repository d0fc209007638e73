"""Heights of detected objects: those of the surfaces that they stand on."""

import math
from dataclasses import replace

import pytest

from bbllm.core.types import Kind, SceneObject
from bbllm.skills.shapes import yaw_pose
from bbllm.worlds.perception.grasp_tracker import set_on_supports
from tests.worlds.tracked_tables import TABLE, cube


def heights(*items: SceneObject) -> dict[str, float]:
    return {item.name: item.pose.position_m[2] for item in set_on_supports(items, (TABLE,))}


def test_what_stands_in_a_tower_has_the_height_of_its_storey() -> None:
    tower = (
        cube('top', 0.4, 0.1, 0.103),
        cube('low', 0.4, 0.1, 0.017),
        cube('mid', 0.4, 0.1, 0.066),
    )

    assert heights(*tower) == pytest.approx({'low': 0.02, 'mid': 0.06, 'top': 0.10})


def test_what_is_far_above_every_surface_stays_there() -> None:
    assert heights(cube('up', 0.4, 0.1, 0.045)) == {'up': 0.045}
    assert heights(cube('beside', 0.4, 0.1, 0.02), cube('alone', 0.5, 0.1, 0.062)) == (
        pytest.approx({'beside': 0.02, 'alone': 0.062})
    )


def test_what_leans_stays_and_what_almost_stands_stands() -> None:
    def leaning(degrees: float) -> SceneObject:
        half = math.radians(degrees) / 2
        quat = (math.sin(half), 0.0, 0.0, math.cos(half))
        item = cube('a', 0.4, 0.1, 0.024)
        return replace(item, pose=replace(item.pose, quat_xyzw=quat))

    assert heights(leaning(30.0)) == {'a': 0.024}
    (stood,) = set_on_supports([leaning(2.0)], (TABLE,))
    assert stood.pose.position_m[2] == pytest.approx(0.02)
    assert stood.pose.quat_xyzw == pytest.approx((0.0, 0.0, 0.0, 1.0), abs=1e-6)


BOWL = SceneObject(
    name='bowl',
    kind=Kind.CONTAINER,
    pose=yaw_pose((0.4, 0.1, 0.033), 0.0),
    size_m=(0.16, 0.16, 0.06),
)


def test_what_is_in_a_container_stands_on_its_floor() -> None:
    found = heights(cube('inside', 0.4, 0.1, 0.021), BOWL)

    assert found == pytest.approx({'bowl': 0.03, 'inside': 0.026})


def test_what_lies_across_a_rim_keeps_its_height() -> None:
    assert heights(BOWL, cube('across', 0.485, 0.1, 0.024))['across'] == 0.024
