"""From a picture and what is known of robot and table to named detections."""

import numpy as np

from bbllm.skills.shapes import Vector
from bbllm.vision.detectors.arm_mask import arm_mask
from bbllm.vision.detectors.blocks import BlocksDetector
from bbllm.vision.detectors.identities import Identities
from bbllm.vision.detectors.views import CameraView
from bbllm.worlds.perception.detections import Detection
from bbllm.worlds.tabletop.object_source import Known, TakenPicture

BEFORE_M = 0.06
"""What is nearer to the camera than a place by more than this hides an object there: more than
half of an object, and of the noise of depth [m]."""


def read_picture(
    detector: BlocksDetector, identities: Identities, picture: TakenPicture, known: Known
) -> tuple[Detection, ...]:
    """Return the objects in a picture, in its optical frame, with names that stay the same."""
    image, T_world_camera, robot = picture.image, picture.T_world_camera, known.robot
    arm_px = arm_mask(robot.position_rad, robot.width_m, image.intrinsics, T_world_camera)
    view = CameraView.of(image.intrinsics, T_world_camera)

    def is_hidden(place_m: Vector) -> bool:
        across, down, depth_m = view.project(np.array([place_m]))[0].tolist()
        column, row = round(across), round(down)
        height_px, width_px = arm_px.shape
        if not (0 <= column < width_px and 0 <= row < height_px) or arm_px[row, column]:
            return True
        return bool(0.0 < float(image.depth_m[row, column]) < depth_m - BEFORE_M)

    return identities.named(
        detector.detect(image, T_world_camera, ignored=arm_px),
        T_world_camera,
        known=known.positions_m,
        held=known.carried,
        hidden=is_hidden,
    )
