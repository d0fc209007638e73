"""The noise of a depth camera: what it does to an exact picture and its exact depth."""

from statistics import NormalDist

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.scene.camera import DepthMap, Pixels
from bbllm.sim.camera_settings import CameraSettings

Floats = NDArray[np.float32]


def depth_noise_m(depth_m: float, settings: CameraSettings) -> float:
    """Return the rms of the depth at a distance [m]."""
    focal_m = settings.depth_focal_px * settings.baseline_m
    return depth_m**2 * settings.subpixel_px / focal_m


def noisy_depth(
    exact_m: DepthMap, settings: CameraSettings, dice: np.random.Generator
) -> DepthMap:
    """
    Return the depth as the camera measures it, in whole steps, 0 where it has none.

    The error of the disparity is normal, the same share of a pixel everywhere, and correlated
    over the window that is matched.
    """
    scale = settings.focal_px / settings.depth_focal_px
    window = max(1, round(settings.window_px * scale))
    height, width = exact_m.shape
    # larger by the window: at a border there would be fewer values in each mean
    mean = cv2.blur(_normal((height + window, width + window), dice), (window, window))
    error = mean * np.float32(window * depth_noise_m(1.0, settings))
    inner = window // 2
    depth = exact_m + exact_m * exact_m * error[inner : inner + height, inner : inner + width]
    step = settings.depth_step_m
    depth = np.rint(depth / step) * np.float32(step)
    valid = (exact_m >= settings.least_depth_m) & (exact_m <= settings.most_depth_m)
    if settings.edge_m > 0.0:
        near, far = cv2.erode(exact_m, _AROUND), cv2.dilate(exact_m, _AROUND)
        valid &= far - near <= settings.edge_m
    return np.asarray(np.where(valid, depth, 0.0), np.float32)


def noisy_colors(exact: Pixels, settings: CameraSettings, dice: np.random.Generator) -> Pixels:
    """Return the colours with noise of each pixel, shape (height, width, 3)."""
    if settings.color_noise == 0.0:
        return exact
    noise = _normal(exact.shape, dice)
    noise *= np.float32(settings.color_noise)
    return np.asarray(cv2.add(exact, noise, dtype=cv2.CV_8U), np.uint8)  # rounds and saturates


_AROUND = np.ones((3, 3), np.uint8)


def _normal(shape: tuple[int, ...], dice: np.random.Generator) -> Floats:
    """Return normal values of deviation 1, of 256 different ones, which is quicker than exact."""
    return np.asarray(cv2.LUT(dice.integers(0, 256, shape, np.uint8), _QUANTILES), np.float32)


def _quantiles() -> Floats:
    values = np.array([NormalDist().inv_cdf((n + 0.5) / 256) for n in range(256)])
    return np.asarray(values / values.std(), np.float32)


_QUANTILES = _quantiles()
