"""
Whether the pictures of a camera can be used: faults of its stream, from the pictures alone.

A sensor is noisy, so two pictures of it are never the same, even of a scene in which nothing
moves; identical pictures come from a driver that repeats its last one. A lens that is covered
gives a black picture, or one without depth: a stereo camera measures nothing nearer than its
least distance.
"""

from dataclasses import dataclass

import numpy as np

from bbllm.scene.camera import RgbdImage


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLimits:
    """From when on pictures count as unusable."""

    frozen_after: int = 3
    """So many pictures in a row whose every pixel repeats the one before; 0: never."""
    least_depth_share: float = 0.3
    """A smaller share of pixels with a depth is a lens that is covered, from 0 to 1."""
    dark_level: int = 16
    """A picture whose pixels are all but 1 % darker is black, from 0 to 255."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFault:
    """Why a picture cannot be used."""

    reason: str
    """Short, for counts: `frozen`, `covered`, `size` and so on."""
    text: str
    """What follows the name of the camera: a verb, the facts, and what would do; no last stop."""


class PictureHealth:
    """Judges one picture of a camera after the other; a size that changes is a fault, too."""

    def __init__(self, limits: HealthLimits | None = None) -> None:
        self._limits = limits or HealthLimits()
        self._last: RgbdImage | None = None
        self._size: tuple[int, int] | None = None
        self._repeated = 0

    def judge(self, image: RgbdImage) -> PictureFault | None:
        """Return what makes this picture unusable, given those before; None for a good one."""
        fault = self._fault_of_size(image)
        if fault is not None:
            return fault
        last, self._last = self._last, image
        if last is not None:
            alike = np.array_equal(last.depth_m, image.depth_m) and np.array_equal(
                last.rgb, image.rgb
            )
            self._repeated = self._repeated + 1 if alike else 0
        return self._fault_of_content(image)

    def _fault_of_size(self, image: RgbdImage) -> PictureFault | None:
        height, width = image.rgb.shape[:2]
        depth_height, depth_width = image.depth_m.shape
        camera = image.intrinsics
        if (depth_width, depth_height) != (width, height):
            return PictureFault(
                reason='size',
                text=f'has colour of {width} x {height} and depth of {depth_width} x '
                f'{depth_height} pixels. Depth must be registered to colour: start its driver '
                'with align_depth.enable:=true',
            )
        if (camera.width_px, camera.height_px) != (width, height):
            return PictureFault(
                reason='size',
                text=f'sends pictures of {width} x {height} with a camera_info of '
                f'{camera.width_px} x {camera.height_px} pixels. Both must have one size: start '
                'its driver again',
            )
        first = self._size = self._size or (width, height)
        if first != (width, height):
            return PictureFault(
                reason='size',
                text=f'changed its size from {first[0]} x {first[1]} to {width} x {height} pixels '
                'while it was in use. Set the first size again, or start the node perception '
                'again',
            )
        return None

    def _fault_of_content(self, image: RgbdImage) -> PictureFault | None:
        limits = self._limits
        share = depth_share(image)
        bright = float(np.percentile(image.rgb[::4, ::4].max(axis=2), 99))
        if bright < limits.dark_level:
            return PictureFault(
                reason='covered',
                text=f'sends black pictures (99 % of the pixels are darker than '
                f'{limits.dark_level} of 255). Uncover the lens, or switch on the light',
            )
        if share < limits.least_depth_share:
            return PictureFault(
                reason='covered',
                text=f'measures depth at {share:.0%} of its pixels, and needs '
                f'{limits.least_depth_share:.0%} (least_depth_share). Uncover its lenses, or move '
                'it away from what is right in front of it',
            )
        if 0 < limits.frozen_after <= self._repeated:
            return PictureFault(
                reason='frozen',
                text=f'sent the same picture {self._repeated + 1} times, so it is frozen. Start '
                'its driver again; for a source without noise, set frozen_after:=0',
            )
        return None


def depth_share(image: RgbdImage) -> float:
    """Return the share of pixels whose depth is known, from 0 to 1."""
    return float(np.count_nonzero(image.depth_m)) / max(1, image.depth_m.size)
