"""The detector `blocks`, on drawn pictures."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import compose, difference
from bbllm_vision.detectors.blocks import BlocksDetector
from tests.vision.drawn_tables import (
    T_WORLD_CAMERA,
    TABLE,
    all_hidden,
    cube,
    draw,
)


def detected(
    items: Sequence[SceneObject],
    known: Sequence[SceneObject] | None = None,
    light: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> list[tuple[str, Pose]]:
    """Return names and world poses of what is detected in a picture of some objects."""
    catalogue = Catalogue.of_objects(items if known is None else known)
    found = BlocksDetector(catalogue, (TABLE,)).detect(draw(*items, light=light), T_WORLD_CAMERA)
    return [(item.name, world_pose(item)) for item in found]


def world_pose(item: Detection) -> Pose:
    return compose(T_WORLD_CAMERA, Pose(position_m=item.position_m, quat_xyzw=item.quat_xyzw))


def check(items: Sequence[SceneObject], found: Sequence[tuple[str, Pose]]) -> None:
    """Fail unless just these objects were found, within a millimetre and 1.5 degrees."""
    assert sorted(name for name, _ in found) == sorted(item.name for item in items)
    poses = dict(found)
    for item in items:
        pose = poses[item.name]
        assert math.dist(pose.position_m, item.pose.position_m) < 1e-3, item.name
        turned = difference(pose.quat_xyzw, item.pose.quat_xyzw, item.kind, item.size_m)
        assert turned < math.radians(1.5), item.name


def test_cubes_of_many_colors_are_found_where_they_are() -> None:
    items = [
        cube('red_cube', 0.45, 0.10, 20, color='red'),
        cube('navy_cube', 0.60, -0.12, -37, color='navy'),
        cube('white_cube', 0.40, -0.15, 44, color='white'),
        cube('lime_cube', 0.55, 0.02, 3, color='lime'),
        cube('green_cube', 0.62, 0.15, -10, color='green'),
    ]

    check(items, detected(items))


@pytest.mark.parametrize('colors', [('red', 'blue'), ('red', 'red')])
def test_neighbours_with_a_gap_of_half_a_centimetre_are_two(colors: tuple[str, str]) -> None:
    turn = math.radians(25)
    step = (0.045 * math.cos(turn), 0.045 * math.sin(turn))
    one = cube('one', 0.45, 0.05, 25, color=colors[0])
    other = cube('other', 0.45 + step[0], 0.05 + step[1], 25, color=colors[1])

    found = detected([one, other])

    assert len(found) == 2
    for item in (one, other):
        nearest = min(math.dist(pose.position_m, item.pose.position_m) for _, pose in found)
        assert nearest < 1e-3


def test_the_top_of_a_tower_is_at_its_height() -> None:
    below = cube('blue_cube', 0.5, 0.05, 10, color='blue')
    top = cube('red_cube', 0.501, 0.051, 35, color='red', z_m=0.06)

    found = dict(detected([below, top]))

    assert math.dist(found['red_cube'].position_m, top.pose.position_m) < 1e-3


def test_a_cylinder_is_not_taken_for_a_cube_of_its_color() -> None:
    size = (0.04, 0.04, 0.04)
    items = [
        cube('can', 0.45, 0.1, color='white', size_m=size, kind=Kind.CYLINDER),
        cube('cube', 0.55, -0.1, 15, color='white', size_m=size),
        cube('black_can', 0.40, -0.12, color='black', size_m=size, kind=Kind.CYLINDER),
    ]

    check(items, detected(items))


def test_a_cuboid_has_the_yaw_of_its_longer_side() -> None:
    items = [cube('plank', 0.47, 0.07, 65, color='red', size_m=(0.03, 0.056, 0.04))]

    check(items, detected(items))


def test_a_cuboid_on_its_side_is_found_so() -> None:
    lying = cube('plank', 0.5, 0.0, color='red', size_m=(0.056, 0.04, 0.03), z_m=0.015)
    known = [cube('plank', 0.0, 0.0, color='red', size_m=(0.03, 0.04, 0.056))]

    ((name, pose),) = detected([lying], known)

    assert name == 'plank'
    assert math.dist(pose.position_m, lying.pose.position_m) < 1e-3
    quarter = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
    assert difference(pose.quat_xyzw, quarter, Kind.CUBE, known[0].size_m) < math.radians(1.0)


@pytest.mark.parametrize(
    'unknown',
    [
        cube('u', 0.5, 0.0, color='magenta'),
        cube('u', 0.5, 0.0, color='red', size_m=(0.07, 0.07, 0.04)),
        cube('u', 0.5, 0.0, color='red', size_m=(0.15, 0.012, 0.012), z_m=0.006),
        cube('u', 0.5, 0.0, color='red', size_m=(0.08, 0.08, 0.09), kind=Kind.CYLINDER, z_m=0.045),
        cube('u', 0.5, 0.0, color='red', size_m=(0.04, 0.04, 0.001), z_m=0.0005),
    ],
    ids=['color', 'size', 'stick', 'mug', 'marker'],
)
def test_what_is_in_no_catalogue_is_not_reported(unknown: SceneObject) -> None:
    known = cube('red_cube', 0.4, 0.1, 10, color='red')

    found = detected([known, unknown], [known, cube('blue_cube', 0, 0, color='blue')])

    check([known], found)


def test_a_marker_on_the_table_is_no_object_where_depth_is_off() -> None:
    item = cube('grey_cube', 0.5, 0.0, color='grey')
    detector = BlocksDetector(Catalogue.of_objects([item]), (TABLE,))
    marker = cube('marker', 0.5, 0.0, color='grey', z_m=0.0, size_m=(0.04, 0.04, 0.001))
    flat, standing = draw(marker), draw(item)

    for off_m in (0.008, 0.012):  # two and three times the rms of the mean depth of a face
        nearer = replace(flat, depth_m=flat.depth_m - np.float32(off_m))
        assert not detector.detect(nearer, T_WORLD_CAMERA)
        farther = replace(standing, depth_m=standing.depth_m + np.float32(off_m))
        assert detector.detect(farther, T_WORLD_CAMERA)


def test_what_is_ignored_is_not_reported() -> None:
    item = cube('red_cube', 0.5, 0.0, color='red')
    image = draw(item)
    detector = BlocksDetector(Catalogue.of_objects([item]), (TABLE,))

    assert detector.detect(image, T_WORLD_CAMERA)
    assert not detector.detect(image, T_WORLD_CAMERA, ignored=all_hidden(image))


def test_a_cube_under_the_hand_is_where_it_is_or_not_reported() -> None:
    item = cube('red_cube', 0.5, 0.0, 20, color='red')
    image = draw(item)
    detector = BlocksDetector(Catalogue.of_objects([item]), (TABLE,))
    middle = image.depth_m.shape[1] // 2
    reported = 0
    for covered_px in range(middle - 12, middle + 13, 2):
        ignored = np.zeros(image.depth_m.shape, bool)
        ignored[:, :covered_px] = True
        for found in detector.detect(image, T_WORLD_CAMERA, ignored=ignored):
            reported += 1
            pose = world_pose(found)
            assert math.dist(pose.position_m, item.pose.position_m) < 0.003, covered_px
    assert 1 <= reported < 13


@pytest.mark.parametrize('light', [(0.5, 0.5, 0.5), (1.0, 0.85, 0.65), (0.7, 0.8, 1.0)])
def test_the_light_is_measured_from_the_table(light: tuple[float, float, float]) -> None:
    items = [
        cube('red_cube', 0.45, 0.10, 20, color='red'),
        cube('orange_cube', 0.60, -0.12, -37, color='orange'),
        cube('white_cube', 0.40, -0.15, 44, color='white'),
        cube('grey_cube', 0.55, 0.02, 3, color='grey'),
    ]

    check(items, detected(items, light=light))


def test_objects_of_equal_appearance_are_of_one_class() -> None:
    items = [cube(f'cube_{n}', 0.4 + 0.1 * n, 0.05, 10 * n, color='red') for n in range(3)]

    assert [name for name, _ in detected(items)] == ['cube_0'] * 3
