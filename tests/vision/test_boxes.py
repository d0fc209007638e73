"""From boxes in pictures with depth to poses."""

import math

import numpy as np
import pytest

from bbllm.core.types import Pose, SceneObject
from bbllm.scene.camera import RgbdImage
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import compose, difference
from bbllm_vision.detectors.boxes import PictureBox, locate
from tests.vision.drawn_tables import (
    BRICK,
    CAN,
    CATALOGUE,
    RED,
    T_WORLD_CAMERA,
    box_px,
    draw,
    placed,
)


def box_of(item: SceneObject, *, grown_px: float = 0.0, moved_px: float = 0.0) -> PictureBox:
    left, top, right, bottom = box_px(item)
    entry = CATALOGUE.named(item.name)
    assert entry is not None
    return PictureBox(
        entry=entry,
        left_px=left - grown_px + moved_px,
        top_px=top - grown_px,
        right_px=right + grown_px + moved_px,
        bottom_px=bottom + grown_px,
        confidence=0.9,
    )


def in_world(found: Detection | None) -> Pose:
    assert found is not None
    pose = Pose(position_m=found.position_m, quat_xyzw=found.quat_xyzw)
    return compose(T_WORLD_CAMERA, pose)


@pytest.mark.parametrize('noise_m', [0.0, 0.004])
@pytest.mark.parametrize(
    'item',
    [
        placed(RED, x_m=0.45, y_m=0.2, yaw_rad=0.4),
        placed(BRICK, x_m=0.6, y_m=-0.1, yaw_rad=1.2),
        placed(BRICK, x_m=0.6, y_m=-0.1, yaw_rad=-0.5),
        placed(CAN, x_m=0.4, y_m=0.0),
        placed(RED, x_m=0.5, y_m=0.1, yaw_rad=0.2, base_m=0.06),
    ],
)
def test_size_and_depth_give_the_pose_of_an_object_in_a_box(
    item: SceneObject, noise_m: float
) -> None:
    image = draw(item, noise_m=noise_m)
    for box in (box_of(item), box_of(item, grown_px=6), box_of(item, grown_px=-2, moved_px=2)):
        found = locate(box, image, T_WORLD_CAMERA)
        pose = in_world(found)

        assert math.dist(pose.position_m, item.pose.position_m) < 0.003
        turned_rad = difference(pose.quat_xyzw, item.pose.quat_xyzw, item.kind, item.size_m)
        assert turned_rad < math.radians(4.0)


def test_a_neighbour_that_reaches_into_the_box_is_left_out() -> None:
    item = placed(RED, x_m=0.45, y_m=0.2)
    beside = placed(RED, x_m=0.45, y_m=0.147)

    pose = in_world(locate(box_of(item, grown_px=12), draw(item, beside), T_WORLD_CAMERA))

    assert pose.position_m[:2] == pytest.approx((0.45, 0.2), abs=0.003)


@pytest.mark.parametrize('empty', [True, False])
def test_a_box_without_an_object_is_none(empty: bool) -> None:
    item = placed(RED, x_m=0.45, y_m=0.2)
    image = draw() if empty else without_depth(draw(item))

    assert locate(box_of(item), image, T_WORLD_CAMERA) is None


def test_a_strip_of_the_top_without_depth_is_found_by_its_colour() -> None:
    item = placed(CAN, x_m=0.45, y_m=0.2)
    image = draw(item)
    left = int(box_px(item)[0])
    image.depth_m[:, left : left + 4] = 0.0
    strip = image.rgb[:, left : left + 4]

    found = in_world(locate(box_of(item), image, T_WORLD_CAMERA)).position_m
    strip[:] = 0
    without_color = in_world(locate(box_of(item), image, T_WORLD_CAMERA)).position_m

    truth = (0.45, 0.2, 0.05)
    assert math.dist(found, truth) < 0.0015 < math.dist(without_color, truth)


def test_a_box_beyond_the_edge_of_the_picture_is_cut() -> None:
    item = placed(RED, x_m=0.45, y_m=0.2)
    box = box_of(item, moved_px=-5000.0)

    assert locate(box, draw(item), T_WORLD_CAMERA) is None


def without_depth(image: RgbdImage) -> RgbdImage:
    return RgbdImage(
        rgb=image.rgb,
        depth_m=np.zeros_like(image.depth_m),
        intrinsics=image.intrinsics,
        stamp_s=image.stamp_s,
        frame=image.frame,
    )


def test_pixels_of_the_robot_have_no_part_in_where_an_object_is() -> None:
    item = placed(RED, x_m=0.45, y_m=0.2)
    image = draw(item)
    left, _, right, _ = box_px(item)
    finger = np.zeros(image.depth_m.shape, bool)
    finger[:, round((left + right) / 2) :] = True
    image.depth_m[finger] -= 0.05  # it is nearer to the camera than the object

    beside = in_world(locate(box_of(item), image, T_WORLD_CAMERA, ignored=finger))
    assert beside.position_m[2] == pytest.approx(0.02, abs=0.003)
    finger[:] = True
    assert locate(box_of(item), image, T_WORLD_CAMERA, ignored=finger) is None
