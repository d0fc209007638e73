"""From a picture and what is known of robot and table to named detections."""

from bbllm.worlds.tabletop.object_source import Known, ReadPicture, TakenPicture
from bbllm_vision.detectors.detector import Detector
from bbllm_vision.detectors.identities import Identities
from bbllm_vision.detectors.sight import PictureSight


def read_picture(
    detector: Detector, identities: Identities, picture: TakenPicture, known: Known
) -> ReadPicture:
    """Find the objects in a picture, and name them."""
    image, T_world_camera = picture.image, picture.T_world_camera
    sight = PictureSight.of(image, T_world_camera, known.robot)
    named = identities.named(
        detector.detect(image, T_world_camera, ignored=sight.robot),
        T_world_camera,
        known=known.positions_m,
        held=known.carried,
        hidden=sight.hides,
    )
    return ReadPicture(detections=named, sees=sight.shows)
