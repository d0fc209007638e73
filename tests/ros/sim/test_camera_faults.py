"""Faults of cameras: what a receiver gets instead of the pictures that are taken."""

from collections.abc import Callable

import numpy as np
import pytest

from bbllm.core.errors import UnknownNameError
from bbllm.scene.camera import RgbdImage
from bbllm.sim.camera_settings import d435, d435_of
from bbllm.sim.faults import fault_named
from bbllm_ros.sim.camera_faults import CameraFault, FaultyCamera, camera_faults

Picture = Callable[[float], RgbdImage]


@pytest.fixture
def picture() -> Picture:
    def taken(stamp_s: float) -> RgbdImage:
        dice = np.random.default_rng(round(stamp_s))
        return RgbdImage(
            rgb=dice.integers(1, 256, (480, 640, 3), np.uint8),
            depth_m=dice.uniform(0.5, 2.0, (480, 640)).astype(np.float32),
            intrinsics=d435(640, 480).intrinsics,
            stamp_s=stamp_s,
            frame='table_camera_color_optical_frame',
        )

    return taken


def test_without_a_fault_pictures_pass(picture: Picture) -> None:
    image = picture(1.0)
    assert FaultyCamera().pass_on(image) is image


def test_a_covered_camera_is_black_and_has_no_depth(picture: Picture) -> None:
    camera = FaultyCamera()
    camera.inject(CameraFault.COVERED)
    image = camera.pass_on(picture(1.0))
    assert not image.rgb.any()
    assert not image.depth_m.any()
    assert image.stamp_s == 1.0
    camera.clear(CameraFault.COVERED)
    assert camera.pass_on(picture(2.0)).rgb.any()


@pytest.mark.parametrize(('fault', 'stamp_s'), [('frozen', 1.0), ('stuck', 3.0)])
def test_the_last_picture_comes_again(fault: str, stamp_s: float, picture: Picture) -> None:
    camera = FaultyCamera()
    last = camera.pass_on(picture(1.0))
    camera.inject(CameraFault(fault))
    camera.pass_on(picture(2.0))
    image = camera.pass_on(picture(3.0))
    assert (image.rgb == last.rgb).all()
    assert (image.depth_m == last.depth_m).all()
    assert image.stamp_s == stamp_s
    camera.clear()
    assert (camera.pass_on(picture(4.0)).rgb != last.rgb).any()


def test_pictures_of_another_size_do_not_agree_with_their_intrinsics(picture: Picture) -> None:
    camera = FaultyCamera()
    camera.inject(CameraFault.OTHER_SIZE)
    image = camera.pass_on(picture(1.0))
    assert image.rgb.shape == (240, 320, 3)
    assert image.depth_m.shape == (240, 320)
    assert (image.intrinsics.width_px, image.intrinsics.height_px) == (640, 480)


def test_an_unplugged_camera_is_distinguished_from_one_with_bad_pictures() -> None:
    camera = FaultyCamera()
    camera.inject(CameraFault.COVERED)
    assert not camera.unplugged
    camera.inject(CameraFault.UNPLUGGED)
    assert camera.unplugged
    camera.clear()
    assert not camera.unplugged


def test_a_fault_that_does_not_exist_lists_those_of_cameras_too() -> None:
    faults = camera_faults(['table_camera'])
    assert faults['table_camera/covered'] == ('table_camera', CameraFault.COVERED)
    with pytest.raises(UnknownNameError, match=r"Did you mean 'table_camera/covered'\?.*reflex"):
        fault_named('table_camera/coverd', faults)


def test_a_size_that_the_camera_does_not_have_lists_those_it_has() -> None:
    assert d435_of('640x480') == d435(640, 480)
    with pytest.raises(UnknownNameError, match='Known: 1280x720, 640x480, 848x480'):
        d435_of('800x600')
