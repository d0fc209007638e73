"""The seam of detectors: a picture with depth in, detections in the camera's frame out."""

from typing import Protocol

from bbllm.core.types import Pose
from bbllm.scene.camera import Mask, RgbdImage
from bbllm.scene.detections import Detection


class Detector(Protocol):
    """Finds the objects of a catalogue in a picture; it keeps nothing between two pictures."""

    name: str
    """As users choose it: `blocks`, `onnx` or `vlm`."""

    def detect(
        self, image: RgbdImage, T_world_camera: Pose, *, ignored: Mask | None = None
    ) -> tuple[Detection, ...]:
        """
        Return what the picture shows, each pose in the picture's optical frame.

        The name of a detection is the class of its object, which several may share: names that
        stay the same over time are given by `bbllm_vision.detectors.identities`.

        Args:
            image: The picture.
            T_world_camera: Pose of its optical frame.
            ignored: Pixels that show no object, such as those of the robot (`sight.PictureSight`).

        Raises:
            ModelError: A model that answers elsewhere could not be asked.
        """
        ...
