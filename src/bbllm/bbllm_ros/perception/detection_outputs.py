"""
Detections of a picture as messages: bbllm_interfaces/Detections, and vision_msgs beside it.

`vision_msgs` is imported only where it is used: it need not be installed.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

from bbllm_interfaces.msg import Detection as DetectionMsg
from bbllm_interfaces.msg import Detections
from rclpy.node import Node
from rclpy.publisher import Publisher

from bbllm.core.types import Pose
from bbllm.scene.detections import Detection
from bbllm_ros.convert.records import header, pose_to_msg, vector_to_msg
from bbllm_ros.estimator.detection_feed import TOPICS
from bbllm_ros.parameters.scene_sources import SceneSource


class DetectionOutputs:
    """Publishes the detections of each picture on `detections`, and on `detections_3d`."""

    def __init__(self, node: Node) -> None:
        self._own = node.create_publisher(Detections, TOPICS[SceneSource.DETECTIONS], 10)
        self._vision: Publisher | None = None
        if importlib.util.find_spec('vision_msgs') is not None:
            kind = importlib.import_module('vision_msgs.msg').Detection3DArray
            self._vision = node.create_publisher(kind, TOPICS[SceneSource.VISION_MSGS], 10)

    @property
    def wanted(self) -> bool:
        """Whether there is a subscriber."""
        there = [self._own] if self._vision is None else [self._own, self._vision]
        return any(publisher.get_subscription_count() for publisher in there)

    def publish(self, found: Sequence[Detection], frame: str, stamp_s: float) -> None:
        """Publish what a picture shows, poses in *frame*, taken at a time [s]."""
        self._own.publish(detections_to_msg(found, frame, stamp_s))
        if self._vision is not None and self._vision.get_subscription_count():
            self._vision.publish(vision_to_msg(found, frame, stamp_s))


def detections_to_msg(found: Sequence[Detection], frame: str, stamp_s: float) -> Detections:
    """Write the detections of a picture; their poses are in *frame*."""
    return Detections(
        header=header(stamp_s, frame),
        detections=[
            DetectionMsg(
                name=item.name,
                kind=item.kind,
                color=item.color,
                size=vector_to_msg(item.size_m),
                pose=pose_to_msg(_pose(item)),
                confidence=float(item.confidence),
            )
            for item in found
        ],
    )


def vision_to_msg(found: Sequence[Detection], frame: str, stamp_s: float) -> Any:
    """
    Write a vision_msgs/Detection3DArray; `class_id` and `id` are both the name of an object.

    The box is the object's own: its centre, its axes, its full extent.
    """
    kinds = importlib.import_module('vision_msgs.msg')
    head = header(stamp_s, frame)
    array = kinds.Detection3DArray(header=head)
    for item in found:
        result, pose = kinds.ObjectHypothesisWithPose(), pose_to_msg(_pose(item))
        result.hypothesis.class_id, result.hypothesis.score = item.name, float(item.confidence)
        result.pose.pose = pose
        box = kinds.BoundingBox3D(center=pose, size=vector_to_msg(item.size_m))
        array.detections.append(
            kinds.Detection3D(header=head, results=[result], bbox=box, id=item.name)
        )
    return array


def _pose(item: Detection) -> Pose:
    return Pose(position_m=item.position_m, quat_xyzw=item.quat_xyzw)
