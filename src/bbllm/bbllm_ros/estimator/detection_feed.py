"""
What detectors send, as records: detections on their topics, and AprilTags among the transforms.

`vision_msgs` is imported only where it is used: it need not be installed.
"""

import importlib
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

from bbllm_interfaces.msg import Detections
from geometry_msgs.msg import Quaternion
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage

from bbllm.core.errors import ConfigError
from bbllm.scene.detections import Detection, DetectionBatch, Doubts
from bbllm.scene.transforms import FrameError, TransformTree, plain_frame
from bbllm_ros.convert.records import stamp_from_msg, transforms_from_msg, vector_from_msg
from bbllm_ros.parameters.scene_sources import SceneSource
from bbllm_ros.rclpy_support.fast_subscription import Poller


def batch_from_detections(msg: Detections, source: str) -> DetectionBatch:
    return _batch(
        msg,
        source,
        [
            Detection(
                name=item.name,
                confidence=item.confidence,
                kind=item.kind,
                color=item.color,
                size_m=vector_from_msg(item.size),
                **_pose(item.pose.position, item.pose.orientation),
            )
            for item in msg.detections
        ],
    )


def batch_from_vision(msg: Any, source: str) -> DetectionBatch:
    """
    Read a vision_msgs/Detection3DArray.

    Of each detection the hypothesis with the best score names the class; without one it is left
    out. The pose is that of the bounding box where it has a size, else that of the hypothesis.
    """
    found = []
    for item in msg.detections:
        best = max(item.results, key=lambda result: result.hypothesis.score, default=None)
        if best is None:
            continue
        box = item.bbox
        boxed = any((box.size.x, box.size.y, box.size.z))
        pose = box.center if boxed else best.pose.pose
        found.append(
            Detection(
                name=best.hypothesis.class_id,
                confidence=best.hypothesis.score,
                # The kind is not told, and a box around a thing is no measure of it: the
                # catalogue says what the thing is.
                **_pose(pose.position, pose.orientation),
            )
        )
    return _batch(msg, source, found)


def _batch(msg: Any, source: str, found: list[Detection]) -> DetectionBatch:
    return DetectionBatch(
        source=source,
        frame=msg.header.frame_id,
        stamp_s=stamp_from_msg(msg.header.stamp),
        detections=tuple(found),
    )


def _pose(p: Any, q: Quaternion) -> dict[str, Any]:
    return {'position_m': (p.x, p.y, p.z), 'quat_xyzw': (q.x, q.y, q.z, q.w)}


TOPICS = {
    SceneSource.DETECTIONS: 'detections',
    SceneSource.CAMERA: 'detections',
    SceneSource.VISION_MSGS: 'detections_3d',
}
QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Matches reliable publishers and those of sensor data."""


def subscribe_detections(
    poller: Poller, sources: Collection[SceneSource], callback: Callable[[DetectionBatch], None]
) -> None:
    """Subscribe to the detectors among the sources; raises ConfigError without their package."""
    if not {SceneSource.DETECTIONS, SceneSource.CAMERA}.isdisjoint(sources):
        own = TOPICS[SceneSource.DETECTIONS]
        poller.subscribe(
            Detections, own, lambda msg: callback(batch_from_detections(msg, own)), QOS
        )
    if SceneSource.VISION_MSGS in sources:
        topic = TOPICS[SceneSource.VISION_MSGS]
        kind = _vision_msgs().Detection3DArray
        poller.subscribe(kind, topic, lambda msg: callback(batch_from_vision(msg, topic)), QOS)


def _vision_msgs() -> ModuleType:
    try:
        return importlib.import_module('vision_msgs.msg')
    except ImportError as error:
        raise ConfigError(
            "The source 'vision_msgs' needs the ROS package vision_msgs, which is not installed "
            '(in a checkout: make extras; on Ubuntu: apt install ros-jazzy-vision-msgs). The '
            'sources detections and apriltag work without it.'
        ) from error


DEPTH = 100
STATIC_QOS = QoSProfile(depth=DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SOURCE = '/tf'


class TfFeed:
    """
    Keeps a tree of transforms; reports tags as detections in the frame of their camera.

    *tags* are no part of the tree: each camera has its own view of them. *on_batch* gets the tags
    of one picture of one camera.
    """

    def __init__(
        self,
        poller: Poller,
        tree: TransformTree,
        doubts: Doubts,
        tags: Collection[str],
        on_batch: Callable[[DetectionBatch], None],
    ):
        self._tree = tree
        self._doubts = doubts
        self._tags = frozenset(tags)
        self._on_batch = on_batch
        poller.subscribe(TFMessage, '/tf', lambda msg: self._receive(msg, False), DEPTH)
        poller.subscribe(TFMessage, '/tf_static', lambda msg: self._receive(msg, True), STATIC_QOS)

    def _receive(self, msg: TFMessage, static: bool) -> None:
        seen: dict[tuple[str, float], list[Detection]] = {}
        for parent, child, pose, stamp_s in transforms_from_msg(msg):
            if (name := plain_frame(child)) in self._tags:
                found = Detection(name=name, position_m=pose.position_m, quat_xyzw=pose.quat_xyzw)
                seen.setdefault((parent, stamp_s), []).append(found)
                continue
            try:
                self._tree.add(parent, child, pose, stamp_s, static)
            except FrameError as error:
                self._doubts.note('transform', f'{parent} {child}', str(error))
        for (frame, stamp_s), detections in seen.items():
            self._on_batch(
                DetectionBatch(
                    source=SOURCE, frame=frame, stamp_s=stamp_s, detections=tuple(detections)
                )
            )
