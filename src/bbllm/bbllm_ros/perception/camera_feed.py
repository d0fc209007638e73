"""The streams of one camera: subscriptions, pairs of colour and depth, and what is wrong."""

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image

from bbllm.scene.camera import RgbdImage
from bbllm_ros.convert.images import depth_from_msg, intrinsics_from_msg, rgb_from_msg
from bbllm_ros.convert.serialized import StampedMessage
from bbllm_ros.rclpy_support.diagnostics import Rate
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_vision.frame_pairs import FramePair, FramePairs
from bbllm_vision.picture_health import PictureFault
from bbllm_vision.stream_health import Stream, StreamHealth

DEPTH = 2
"""Messages of a stream that may wait for a thread; older ones are dropped."""
KINDS: dict[Stream, Any] = {Stream.COLOR: Image, Stream.DEPTH: Image, Stream.INFO: CameraInfo}

Pair = FramePair[StampedMessage[Image], StampedMessage[Image]]


class CameraFeed:
    """
    Subscribes to a camera between `open` and `close`; keeps its newest pair of pictures.

    Args:
        node: The node that subscribes.
        name: Of the camera: the part of the topics' names before `/color/image_raw`.
        tolerance_s: How far apart the stamps of colour and depth may be [s].
        silent_after_s: From what time without a message a stream is missing [s].
        on_pair: Called when there is a new pair, in a thread of the executor.
    """

    def __init__(
        self,
        node: StackNode,
        name: str,
        *,
        tolerance_s: float,
        silent_after_s: float,
        on_pair: Callable[[], None],
    ) -> None:
        self.name = name
        self.rate = Rate()
        """How often pairs are complete."""
        self._node = node
        self._on_pair = on_pair
        self._lock = threading.Lock()
        self._group = MutuallyExclusiveCallbackGroup()
        self._subscriptions: dict[Stream, tuple[Any, ReliabilityPolicy]] = {}
        topics = {s: node.resolve_topic_name(f'{name}/{s.value}') for s in Stream}
        self._topics = topics
        self._health = StreamHealth(topics, silent_after_s, tolerance_s)
        self._pairs = FramePairs[StampedMessage[Image], StampedMessage[Image]](tolerance_s)
        self._paired_s = -math.inf
        self._info: StampedMessage[CameraInfo] | None = None

    @property
    def dropped(self) -> int:
        """How many pairs were replaced by a newer one before they were taken."""
        return self._pairs.dropped

    def open(self) -> None:
        """Subscribe, in the reliability that the camera publishes with."""
        for stream, topic in self._topics.items():
            wanted = reliability_of(self._node, topic)
            subscription, used = self._subscriptions.get(stream, (None, None))
            if used is wanted:
                continue
            if subscription is not None:
                self._node.destroy_subscription(subscription)
            made = self._node.create_subscription(
                KINDS[stream],
                topic,
                partial(self._take, stream),
                QoSProfile(depth=DEPTH, reliability=wanted),
                callback_group=self._group,
                raw=True,
            )
            self._subscriptions[stream] = (made, wanted)

    def close(self) -> None:
        """End the subscriptions, so that the camera need not publish."""
        for subscription, _ in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def take(self) -> Pair | None:
        """Return the newest pair of pictures that was not taken yet, if there is one."""
        with self._lock:
            return self._pairs.take() if self._info is not None else None

    def read(self, pair: Pair) -> RgbdImage:
        """Return a pair as arrays; raises ImageError where it, or camera_info, cannot be used."""
        info = self._info
        assert info is not None  # `take` gives no pair before
        color = pair.color.message
        return RgbdImage(
            rgb=rgb_from_msg(color),
            depth_m=depth_from_msg(pair.depth.message),
            intrinsics=intrinsics_from_msg(info.message),
            stamp_s=pair.stamp_s,
            frame=color.header.frame_id,
        )

    def fault(self) -> PictureFault | None:
        """Return which stream is missing, if one is."""
        with self._lock:
            return self._health.judge(time.monotonic(), self._paired_s)

    def _take(self, stream: Stream, data: bytes) -> None:
        now_s = time.monotonic()
        with self._lock:
            if stream is Stream.INFO:
                self._info = StampedMessage(CameraInfo, data)
                self._health.take(stream, self._info.stamp_s, now_s)
                return
            frame = StampedMessage(Image, data)
            self._health.take(stream, frame.stamp_s, now_s)
            add = self._pairs.add_color if stream is Stream.COLOR else self._pairs.add_depth
            if not add(frame.stamp_s, frame):
                return
            self._paired_s = now_s
            self.rate.count()
        self._on_pair()


def reliability_of(node: Node, topic: str) -> ReliabilityPolicy:
    """
    Return best effort where a publisher has that, which a reliable subscriber never matches.

    Reliable otherwise: Fast DDS has 512 kB of shared memory for a process, less than a picture of
    640 x 480, and drops parts of what is sent as best effort.
    """
    infos = node.get_publishers_info_by_topic(topic)
    best_effort = any(
        info.qos_profile.reliability is ReliabilityPolicy.BEST_EFFORT for info in infos
    )
    return ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE
