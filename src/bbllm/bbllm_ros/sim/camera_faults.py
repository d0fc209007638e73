"""Faults of cameras, as a program that receives their pictures notices them."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from bbllm.scene.camera import RgbdImage


class CameraFault(StrEnum):
    """What a test can make happen to a camera; all last until they are cleared."""

    UNPLUGGED = 'unplugged'
    """There are no more pictures."""
    COVERED = 'covered'
    """Pictures are black and without depth."""
    FROZEN = 'frozen'
    """The last picture comes again and again, with its old stamp."""
    STUCK = 'stuck'
    """The last picture comes again and again, with new stamps."""
    OTHER_SIZE = 'other_size'
    """Pictures have half the width and height, and intrinsics those of before."""


class FaultyCamera:
    """What becomes of the pictures of one camera; thread-safe."""

    def __init__(self) -> None:
        self._faults: set[CameraFault] = set()
        self._last: RgbdImage | None = None
        self._lock = threading.Lock()

    def inject(self, fault: CameraFault) -> None:
        with self._lock:
            self._faults.add(fault)

    def clear(self, fault: CameraFault | None = None) -> None:
        """Take a fault back, or all."""
        with self._lock:
            self._faults -= {fault} if fault else set(CameraFault)

    @property
    def unplugged(self) -> bool:
        return CameraFault.UNPLUGGED in self._faults

    def pass_on(self, image: RgbdImage) -> RgbdImage:
        """Return what the camera sends in place of a picture that it took."""
        with self._lock:
            faults = frozenset(self._faults)
            if self._last is None or not faults & {CameraFault.FROZEN, CameraFault.STUCK}:
                self._last = image
            elif CameraFault.FROZEN in faults:
                image = self._last
            else:
                image = replace(self._last, stamp_s=image.stamp_s)
        if CameraFault.COVERED in faults:
            rgb, depth_m = np.zeros_like(image.rgb), np.zeros_like(image.depth_m)
            image = replace(image, rgb=rgb, depth_m=depth_m)
        if CameraFault.OTHER_SIZE in faults:
            image = replace(image, rgb=image.rgb[::2, ::2], depth_m=image.depth_m[::2, ::2])
        return image


def camera_faults(cameras: Sequence[str]) -> dict[str, tuple[str, CameraFault]]:
    """Return camera and fault by the name of the fault, `table_camera/unplugged`."""
    return {
        f'{camera}/{fault.value}': (camera, fault) for camera in cameras for fault in CameraFault
    }
