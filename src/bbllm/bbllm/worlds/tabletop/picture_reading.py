"""From a picture and what is known of robot and table to named detections."""

import numpy as np

from bbllm.skills.shapes import Vector
from bbllm.vision.detectors.arm_mask import arm_mask
from bbllm.vision.detectors.blocks import BlocksDetector
from bbllm.vision.detectors.identities import Identities
from bbllm.vision.detectors.views import CameraView
from bbllm.worlds.tabletop.object_source import Known, ReadPicture, TakenPicture

RIM_PX = 40
"""An object nearer to the rim of a picture may be cut off by it: 9 cm at 1.4 m [px]."""
BEFORE_M = 0.06
"""What is nearer to the camera than a place by more than this hides an object there: more than
half of an object, and of the noise of depth [m]."""


def read_picture(
    detector: BlocksDetector, identities: Identities, picture: TakenPicture, known: Known
) -> ReadPicture:
    """Find the objects in a picture, and name them."""
    image, T_world_camera, robot = picture.image, picture.T_world_camera, known.robot
    arm_px = arm_mask(robot.position_rad, robot.width_m, image.intrinsics, T_world_camera)
    view = CameraView.of(image.intrinsics, T_world_camera)

    def sees(place_m: Vector) -> bool:
        across, down, depth_m = view.project(np.array([place_m]))[0].tolist()
        column, row = round(across), round(down)
        height_px, width_px = arm_px.shape
        inside = RIM_PX <= column < width_px - RIM_PX and RIM_PX <= row < height_px - RIM_PX
        if not inside or arm_px[row, column]:
            return False
        return bool(image.depth_m[row, column] >= depth_m - BEFORE_M)

    named = identities.named(
        detector.detect(image, T_world_camera, ignored=arm_px),
        T_world_camera,
        known=known.positions_m,
        held=known.carried,
        hidden=lambda place_m: not sees(place_m),
    )
    return ReadPicture(detections=named, sees=sees)
