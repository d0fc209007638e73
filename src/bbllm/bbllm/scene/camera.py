"""
The pinhole camera, and a picture with depth as every part of bbllm passes it on.

The optical frame is that of ROS (REP 103): x to the right of the picture, y down, z into the
scene.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""Shape (height, width, 3), red, green, blue, row 0 on top."""
DepthMap = NDArray[np.float32]
"""Shape (height, width): distance along the optical axis, 0 where it is not known [m]."""
Mask = NDArray[np.bool_]
"""Shape (height, width): which pixels are meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intrinsics:
    """A rectified pinhole camera: (u, v) = (fx x / z + cx, fy y / z + cy), pixel centres whole."""

    width_px: int
    height_px: int
    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RgbdImage:
    """A colour picture with the depth of each of its pixels."""

    rgb: Pixels
    depth_m: DepthMap
    """Registered to the colour picture: the same shape, the same optical frame [m]."""
    intrinsics: Intrinsics
    stamp_s: float
    """When it was taken, on the world's clock [s]."""
    frame: str
    """Name of the optical frame."""
