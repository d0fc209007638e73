"""The transforms on /tf and /tf_static, and the AprilTags among them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from bbllm.ros.convert.detections import Look, transforms_from_msg
from bbllm.ros.rclpy_support.fast_subscription import Poller
from bbllm.worlds.perception.detections import Detection, Doubts
from bbllm.worlds.scene.transforms import FrameError, TransformTree, plain_frame

DEPTH = 100
STATIC_QOS = QoSProfile(depth=DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SOURCE = '/tf'


class TfFeed:
    """
    Keeps a tree of transforms; tells of tags as detections in the frame of their camera.

    Args:
        poller: Reads the topics.
        tree: Where transforms go.
        doubts: Where those go that cannot be used.
        tags: Frames of tags, which are no part of the tree: each camera has its own view of them.
        on_look: Called with the tags of one picture of one camera.
    """

    def __init__(
        self,
        poller: Poller,
        tree: TransformTree,
        doubts: Doubts,
        tags: Collection[str],
        on_look: Callable[[Look], None],
    ):
        self._tree = tree
        self._doubts = doubts
        self._tags = frozenset(tags)
        self._on_look = on_look
        poller.subscribe(TFMessage, '/tf', lambda msg: self._hear(msg, False), DEPTH)
        poller.subscribe(TFMessage, '/tf_static', lambda msg: self._hear(msg, True), STATIC_QOS)

    def _hear(self, msg: TFMessage, static: bool) -> None:
        seen: dict[tuple[str, float], list[Detection]] = {}
        for parent, child, pose, stamp_s in transforms_from_msg(msg):
            if plain_frame(child) in self._tags:
                seen.setdefault((parent, stamp_s), []).append(
                    Detection(
                        name=plain_frame(child),
                        position_m=pose.position_m,
                        quat_xyzw=pose.quat_xyzw,
                    )
                )
                continue
            try:
                self._tree.add(parent, child, pose, stamp_s, static)
            except FrameError as error:
                self._doubts.note('transform', f'{parent} {child}', str(error))
        for (frame, stamp_s), detections in seen.items():
            self._on_look(
                Look(source=SOURCE, frame=frame, stamp_s=stamp_s, detections=tuple(detections))
            )
