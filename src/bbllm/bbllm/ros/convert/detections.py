"""
What detectors send, as records; pure functions, nothing here decides anything.

`vision_msgs` is not imported: its messages are read by the names of their fields, so that this
module works where that package is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bbllm_interfaces.msg import Detections
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from bbllm.core.types import Pose
from bbllm.ros.convert.records import stamp_from_msg, vector_from_msg
from bbllm.worlds.perception.detections import Detection


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The detections of one picture as they were sent."""

    source: str
    """Topic that they came on."""
    frame: str
    stamp_s: float
    """When the picture was taken, on the world's clock [s]."""
    detections: tuple[Detection, ...]


def look_from_detections(msg: Detections, source: str) -> Look:
    """Read this project's own message."""
    return Look(
        source=source,
        frame=msg.header.frame_id,
        stamp_s=stamp_from_msg(msg.header.stamp),
        detections=tuple(
            Detection(
                name=item.name,
                confidence=item.confidence,
                kind=item.kind,
                color=item.color,
                size_m=vector_from_msg(item.size),
                **_pose(item.pose),
            )
            for item in msg.detections
        ),
    )


def look_from_vision(msg: Any, source: str) -> Look:
    """
    Read a vision_msgs/Detection3DArray.

    Of each detection the hypothesis with the best score names the class. The pose is that of the
    bounding box where it has a size, else that of the hypothesis. Detections that nobody could
    name are left out.
    """
    found = []
    for item in msg.detections:
        best = max(item.results, key=lambda result: result.hypothesis.score, default=None)
        if best is None:
            continue
        box = item.bbox
        boxed = any((box.size.x, box.size.y, box.size.z))
        found.append(
            Detection(
                name=best.hypothesis.class_id,
                confidence=best.hypothesis.score,
                # The kind is not told, and a box around a thing is no measure of it: the
                # catalogue says what the thing is.
                **_pose(box.center if boxed else best.pose.pose),
            )
        )
    return Look(
        source=source,
        frame=msg.header.frame_id,
        stamp_s=stamp_from_msg(msg.header.stamp),
        detections=tuple(found),
    )


def transforms_from_msg(msg: TFMessage) -> Iterator[tuple[str, str, Pose, float]]:
    """Read transforms as parent, child, pose of the child and stamp [s]."""
    for item in msg.transforms:
        yield (
            item.header.frame_id,
            item.child_frame_id,
            _transform(item),
            stamp_from_msg(item.header.stamp),
        )


def _transform(item: TransformStamped) -> Pose:
    p, q = item.transform.translation, item.transform.rotation
    return Pose(position_m=(p.x, p.y, p.z), quat_xyzw=(q.x, q.y, q.z, q.w))


def _pose(msg: PoseMsg) -> dict[str, Any]:
    p, q = msg.position, msg.orientation
    return {'position_m': (p.x, p.y, p.z), 'quat_xyzw': (q.x, q.y, q.z, q.w)}
