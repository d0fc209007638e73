"""Which places of the world a picture shows, and which pixels the robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import JointState
from bbllm.core.types import Pose
from bbllm.scene.camera import DepthMap, Mask, RgbdImage
from bbllm.scene.detections import Detection
from bbllm.skills.shapes import Vector
from bbllm_vision.detectors.arm_mask import arm_mask
from bbllm_vision.detectors.detector import Detector
from bbllm_vision.detectors.views import CameraView

RIM_PX = 40
"""An object nearer to the rim of a picture may be cut off by it: 9 cm at 1.4 m [px]."""
BEFORE_M = 0.06
"""What is nearer to the camera than a place by more than this hides an object there: more than
half of an object, and of the noise of depth [m]."""

Hidden = Callable[[Vector], bool]
"""Whether a picture does not show a place, world frame [m]."""
Naming = Callable[[tuple[Detection, ...], Pose, Hidden], tuple[Detection, ...]]
"""
Gives detections of one picture their lasting names: detections in the camera's frame,
T_world_camera, and which places the picture does not show.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSight:
    """What a picture shows, given where the robot is in it."""

    view: CameraView
    depth_m: DepthMap
    robot: Mask | None
    """Pixels that show the robot, or are next to it; None where its joints are not known."""

    @classmethod
    def of(cls, image: RgbdImage, T_world_camera: Pose, robot: JointState | None) -> PictureSight:
        """Return the sight of a picture; *robot* is its state then, None where not known."""
        return cls(
            view=CameraView.of(image.intrinsics, T_world_camera),
            depth_m=image.depth_m,
            robot=None
            if robot is None
            else arm_mask(robot.position_rad, robot.width_m, image.intrinsics, T_world_camera),
        )

    def shows(self, place_m: Vector) -> bool:
        """Return whether a place, world frame, is in view with nothing before it [m]."""
        across, down, depth_m = self.view.project(np.array([place_m]))[0].tolist()
        column, row = round(across), round(down)
        height_px, width_px = self.depth_m.shape
        inside = RIM_PX <= column < width_px - RIM_PX and RIM_PX <= row < height_px - RIM_PX
        if not inside or (self.robot is not None and self.robot[row, column]):
            return False
        return bool(self.depth_m[row, column] >= depth_m - BEFORE_M)

    def hides(self, place_m: Vector) -> bool:
        """Return whether a place, world frame, is out of view or behind something [m]."""
        return not self.shows(place_m)


def find_named(
    detector: Detector,
    name_objects: Naming,
    image: RgbdImage,
    T_world_camera: Pose,
    robot: JointState | None,
) -> tuple[tuple[Detection, ...], PictureSight]:
    """
    Return the objects of a picture by name, in its optical frame, and what the picture shows.

    Raises:
        BbllmError: The detector cannot use the picture.
    """
    sight = PictureSight.of(image, T_world_camera, robot)
    found = detector.detect(image, T_world_camera, ignored=sight.robot)
    return name_objects(found, T_world_camera, sight.hides), sight
