"""From pixels to the world and back, for one picture and one pose of its camera."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Pose
from bbllm.scene.camera import Intrinsics
from bbllm.skills.shapes import rotation_of

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraView:
    """A camera at a place: R_world_camera, shape (3, 3), and its position in the world [m]."""

    intrinsics: Intrinsics
    rotation: Array
    position_m: Array

    @classmethod
    def of(cls, intrinsics: Intrinsics, T_world_camera: Pose) -> CameraView:
        """Return the view of a camera whose pose is that of its optical frame."""
        return cls(
            intrinsics=intrinsics,
            rotation=np.array(rotation_of(T_world_camera)),
            position_m=np.array(T_world_camera.position_m),
        )

    def rays(self, pixels: Array) -> Array:
        """Return world directions with optical depth 1, shape (..., 3), of pixels (..., 2)."""
        k = self.intrinsics
        x = (pixels[..., 0] - k.cx_px) / k.fx_px
        y = (pixels[..., 1] - k.cy_px) / k.fy_px
        right, down, ahead = self.rotation.T
        return np.asarray(x[..., None] * right + y[..., None] * down + ahead)

    def on_plane(self, pixels: Array, z_m: float) -> Array:
        """Return x and y where the rays of pixels meet a horizontal plane, shape (..., 2) [m]."""
        rays = self.rays(pixels)
        depth = (z_m - self.position_m[2]) / rays[..., 2]
        return np.asarray(self.position_m[:2] + depth[..., None] * rays[..., :2])

    def project(self, points_m: Array) -> Array:
        """Return pixels and depth, shape (..., 3), of points of the world (..., 3) [px, px, m]."""
        k = self.intrinsics
        pixels = (points_m - self.position_m) @ self.rotation
        depth = np.maximum(pixels[..., 2:], 1e-6)
        pixels[..., :2] = pixels[..., :2] / depth * (k.fx_px, k.fy_px) + (k.cx_px, k.cy_px)
        pixels[..., 2:] = depth
        return np.asarray(pixels)

    def heights(self, depth_m: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the z of each pixel of a depth map, shape (height, width); nan where unknown."""
        k = self.intrinsics
        x = (np.arange(k.width_px, dtype=np.float32) - k.cx_px) / k.fx_px
        y = (np.arange(k.height_px, dtype=np.float32) - k.cy_px) / k.fy_px
        right, down, ahead = self.rotation[2]
        slope = np.float32(right) * x[None, :] + np.float32(down) * y[:, None] + np.float32(ahead)
        z = np.float32(self.position_m[2]) + depth_m * slope
        z[depth_m <= 0.0] = np.nan
        return np.asarray(z)
