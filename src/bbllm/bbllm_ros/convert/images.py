"""
Image messages to arrays and back, without cv_bridge.

Encodings are those of sensor_msgs/image_encodings.hpp that cameras with depth publish: rgb8 and
bgr8 for colour, 16UC1 [mm] and 32FC1 [m] for depth (REP 118).
"""

from array import array

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image

from bbllm.core.errors import BbllmError
from bbllm.scene.camera import DepthMap, Intrinsics, Pixels
from bbllm_ros.convert.records import header

COLOR_ENCODINGS = ('rgb8', 'bgr8')
DEPTH_ENCODINGS = ('16UC1', '32FC1')
MM_IN_M = 1000.0
STRAIGHT = 1e-6
"""Coefficients of distortion that are smaller are taken for 0: at 1 (an angle of 45 degrees from
the axis) they move a point by less than a thousandth of a pixel."""


class ImageError(BbllmError):
    """An image or camera_info that cannot be used; names the field and what would do."""


def rgb_from_msg(msg: Image) -> Pixels:
    """
    Return the pixels of a colour image, shape (height, width, 3), red, green, blue.

    Raises:
        ImageError: Another encoding, or sizes that contradict each other.
    """
    if msg.encoding not in COLOR_ENCODINGS:
        raise ImageError(_encoding('colour image', msg.encoding, COLOR_ENCODINGS))
    rows = _rows(msg, np.dtype(np.uint8), 3)
    pixels = rows.reshape(msg.height, msg.width, 3)
    return np.ascontiguousarray(pixels[..., ::-1] if msg.encoding == 'bgr8' else pixels)


def depth_from_msg(msg: Image) -> DepthMap:
    """
    Return a depth image in metres, shape (height, width); 0 where it is unknown.

    Raises:
        ImageError: Another encoding, or sizes that contradict each other.
    """
    if msg.encoding not in DEPTH_ENCODINGS:
        raise ImageError(_encoding('depth image', msg.encoding, DEPTH_ENCODINGS))
    kind = np.dtype(np.uint16 if msg.encoding == '16UC1' else np.float32)
    rows = _rows(msg, kind.newbyteorder('>' if msg.is_bigendian else '<'), 1)
    if msg.encoding == '16UC1':
        return rows.astype(np.float32) / np.float32(MM_IN_M)
    depth_m = rows.astype(np.float32)
    depth_m[~(np.isfinite(depth_m) & (depth_m > 0.0))] = 0.0
    return depth_m


def intrinsics_from_msg(msg: CameraInfo) -> Intrinsics:
    """
    Return the pinhole camera of a camera_info.

    Raises:
        ImageError: A camera that is not calibrated (fx or fy is 0), or whose pictures are not
            rectified (coefficients of distortion other than 0).
    """
    fx, skew, cx, _, fy, cy, *_ = (float(value) for value in msg.k)
    size = f'{msg.width} x {msg.height}'
    if not (msg.width and msg.height and fx > 0.0 and fy > 0.0 and np.isfinite(msg.k).all()):
        raise ImageError(
            f'camera_info has the size {size}, fx {fx:g} and fy {fy:g}: the camera is not '
            'calibrated. All four must be greater than 0.'
        )
    if any(abs(value) > STRAIGHT for value in (*msg.d, skew)):
        raise ImageError(
            f'camera_info has the distortion {", ".join(f"{value:g}" for value in msg.d)} '
            f'({msg.distortion_model}) and the skew {skew:g}, and only rectified pictures can be '
            'used. Publish those of image_proc, whose coefficients are 0, under these names.'
        )
    return Intrinsics(
        width_px=int(msg.width),
        height_px=int(msg.height),
        fx_px=fx,
        fy_px=fy,
        cx_px=cx,
        cy_px=cy,
    )


def rgb_to_msg(rgb: Pixels, stamp_s: float, frame: str) -> Image:
    """Write pixels, shape (height, width, 3), as an rgb8 image."""
    return _image(np.ascontiguousarray(rgb, np.uint8), 'rgb8', stamp_s, frame)


def depth_to_msg(depth_m: DepthMap, stamp_s: float, frame: str) -> Image:
    """
    Write a depth image, shape (height, width) [m], as 16UC1, the encoding of realsense2_camera.

    What is unknown, and more than 65.535 m, becomes 0.
    """
    depth_mm = np.rint(np.nan_to_num(depth_m, posinf=0.0, neginf=0.0) * MM_IN_M)
    fits = (depth_mm > 0.0) & (depth_mm <= np.iinfo(np.uint16).max)
    return _image(np.where(fits, depth_mm, 0.0).astype('<u2'), '16UC1', stamp_s, frame)


def info_to_msg(camera: Intrinsics, stamp_s: float, frame: str) -> CameraInfo:
    """Write a pinhole camera without distortion."""
    fx, fy, cx, cy = camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px
    return CameraInfo(
        header=header(stamp_s, frame),
        width=camera.width_px,
        height=camera.height_px,
        distortion_model='plumb_bob',
        d=[0.0] * 5,
        k=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def _image(pixels: NDArray[np.generic], encoding: str, stamp_s: float, frame: str) -> Image:
    height, width = pixels.shape[:2]
    msg = Image(
        header=header(stamp_s, frame),
        height=height,
        width=width,
        encoding=encoding,
        is_bigendian=0,
        step=pixels.nbytes // height,
    )
    # rclpy takes an array of bytes as it is, and checks each number of anything else.
    msg.data = array('B', pixels.tobytes())
    return msg


def _rows(msg: Image, kind: np.dtype, channels: int) -> NDArray[np.generic]:
    """Return the rows of an image without what fills them up, shape (height, width x channels)."""
    row = msg.width * channels * kind.itemsize
    size = f'{msg.width} x {msg.height} {msg.encoding}'
    if not msg.width or not msg.height:
        raise ImageError(f'An image of {size} has no pixels.')
    if msg.step < row:
        raise ImageError(
            f'An image of {size} has rows of {msg.step} bytes; a row needs at least {row}.'
        )
    if len(msg.data) != msg.step * msg.height:
        raise ImageError(
            f'An image of {size} has {len(msg.data)} bytes; {msg.height} rows of {msg.step} '
            f'bytes are {msg.step * msg.height}.'
        )
    rows = np.frombuffer(msg.data, np.uint8).reshape(msg.height, msg.step)[:, :row]
    return np.ascontiguousarray(rows).view(kind)


def _encoding(what: str, encoding: str, known: tuple[str, ...]) -> str:
    return f'A {what} has the encoding {encoding[:20]!r}; {" and ".join(known)} can be read.'
