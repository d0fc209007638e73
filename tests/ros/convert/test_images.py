"""Images and camera_info to arrays and back; what cannot be read is refused with what would do."""

from array import array
from typing import Any

import numpy as np
import pytest
from sensor_msgs.msg import CameraInfo, Image

from bbllm.scene.camera import Intrinsics
from bbllm_ros.convert.images import (
    ImageError,
    depth_from_msg,
    depth_to_msg,
    info_to_msg,
    intrinsics_from_msg,
    rgb_from_msg,
    rgb_to_msg,
)

pytestmark = pytest.mark.ros

RGB = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
DEPTH_M = np.array([[0.0, 0.5, 1.234], [2.0, 65.535, 0.001]], np.float32)
CAMERA = Intrinsics(width_px=5, height_px=4, fx_px=6.0, fy_px=6.5, cx_px=2.0, cy_px=1.5)


def image(encoding: str, pixels: np.ndarray, **fields: Any) -> Image:
    height, width = pixels.shape[:2]
    msg = Image(
        encoding=encoding, height=height, width=width, step=pixels.nbytes // height, **fields
    )
    msg.data = array('B', pixels.tobytes())
    return msg


def padded(msg: Image, more: int) -> Image:
    """Return an image whose rows are filled up with some bytes."""
    rows = np.frombuffer(msg.data, np.uint8).reshape(msg.height, msg.step)
    rows = np.pad(rows, ((0, 0), (0, more)), constant_values=255)
    msg.step += more
    msg.data = array('B', rows.tobytes())
    return msg


def test_colour_survives_a_message() -> None:
    msg = rgb_to_msg(RGB, 12.5, 'left')

    assert (msg.encoding, msg.width, msg.height, msg.step) == ('rgb8', 5, 4, 15)
    assert (msg.header.stamp.sec, msg.header.frame_id) == (12, 'left')
    np.testing.assert_array_equal(rgb_from_msg(msg), RGB)


def test_blue_green_red_becomes_red_green_blue() -> None:
    found = rgb_from_msg(image('bgr8', RGB))

    np.testing.assert_array_equal(found, RGB[..., ::-1])
    assert found.flags.c_contiguous


def test_depth_survives_a_message_to_a_millimetre() -> None:
    msg = depth_to_msg(DEPTH_M, 1.0, 'left')

    assert (msg.encoding, msg.step) == ('16UC1', 6)
    np.testing.assert_allclose(depth_from_msg(msg), DEPTH_M, atol=0.0005)


def test_what_is_unknown_is_written_as_zero() -> None:
    unknown = np.array([[np.nan, np.inf, -1.0, 70.0]], np.float32)

    np.testing.assert_array_equal(depth_from_msg(depth_to_msg(unknown, 1.0, 'left')), [[0] * 4])


@pytest.mark.parametrize('order', ['<', '>'])
@pytest.mark.parametrize(('encoding', 'kind', 'unit'), [('16UC1', 'u2', 1000), ('32FC1', 'f4', 1)])
def test_depth_is_read_in_both_encodings_and_byte_orders(
    encoding: str, kind: str, unit: int, order: str
) -> None:
    written = np.rint(DEPTH_M * 1000) / 1000 * unit
    msg = image(encoding, written.astype(order + kind), is_bigendian=int(order == '>'))

    found = depth_from_msg(padded(msg, 8))

    assert found.dtype == np.float32
    np.testing.assert_allclose(found, DEPTH_M, atol=0.0006)


def test_depth_that_is_no_number_is_unknown() -> None:
    depth_m = np.array([[np.nan, np.inf, -np.inf, -0.5, 0.7]], np.float32)

    np.testing.assert_allclose(depth_from_msg(image('32FC1', depth_m)), [[0, 0, 0, 0, 0.7]])


def test_rows_that_are_filled_up_are_read() -> None:
    np.testing.assert_array_equal(rgb_from_msg(padded(image('rgb8', RGB), 1)), RGB)


@pytest.mark.parametrize(
    ('encoding', 'change', 'expected'),
    [
        ('mono8', {}, "encoding 'mono8'; rgb8 and bgr8 can be read"),
        ('16UC1', {}, "encoding '16UC1'; rgb8 and bgr8"),
        ('rgb8', {'step': 14}, 'rows of 14 bytes; a row needs at least 15'),
        ('rgb8', {'height': 5}, 'has 60 bytes; 5 rows of 15 bytes are 75'),
        ('rgb8', {'height': 0}, 'has no pixels'),
    ],
)
def test_colour_that_cannot_be_read_is_refused(
    encoding: str, change: dict[str, int], expected: str
) -> None:
    msg = image(encoding, RGB)
    for name, value in change.items():
        setattr(msg, name, value)

    with pytest.raises(ImageError) as error:
        rgb_from_msg(msg)

    assert expected in str(error.value)


@pytest.mark.parametrize('encoding', ['rgb8', '64FC1', 'mono16'])
def test_depth_in_another_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(ImageError, match='16UC1 and 32FC1 can be read'):
        depth_from_msg(image(encoding, RGB))


def test_camera_info_survives() -> None:
    msg = info_to_msg(CAMERA, 1.0, 'left')

    assert intrinsics_from_msg(msg) == CAMERA
    assert list(msg.p[:3]) == list(msg.k[:3])


def test_camera_that_is_not_calibrated_is_refused() -> None:
    with pytest.raises(ImageError, match='not calibrated'):
        intrinsics_from_msg(CameraInfo(width=5, height=4))


def test_pictures_that_are_not_rectified_are_refused() -> None:
    msg = info_to_msg(CAMERA, 1.0, 'left')
    msg.d = [0.1, -0.2, 0.0, 0.0, 0.0]

    with pytest.raises(ImageError, match='image_proc'):
        intrinsics_from_msg(msg)
