"""A camera with depth for tests: publishes noisy pictures as realsense2_camera does, or faults."""

import os
from contextlib import AbstractContextManager

import numpy as np
from bbllm_interfaces.msg import ObjectStates
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from bbllm.core.types import Pose
from bbllm.scene.camera import Intrinsics
from bbllm_ros.convert.images import depth_to_msg, info_to_msg, rgb_to_msg
from bbllm_ros.convert.records import LATCHED, WORLD_FRAME, stamp_from_msg, transform_to_msg
from bbllm_ros.rclpy_support.entities import now_s
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_vision.stream_health import Stream

MOUNT = Pose(position_m=(0.5, 0.0, 1.0), quat_xyzw=(1.0, 0.0, 0.0, 0.0))
"""The optical frame over the table, looking straight down."""
SIZE = (64, 48)


class PictureCamera(AbstractContextManager['PictureCamera']):
    """
    Publishes pictures of an empty table; a node in a thread of the test.

    With *simulated*, stamps are on the clock of a simulator's `objects`, without which it is
    silent; otherwise they are on the wall clock.
    """

    def __init__(
        self,
        name: str = 'table_camera',
        *,
        namespace: str = 'bbllm',
        rate_hz: float = 15.0,
        simulated: bool = False,
        reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
        mounted: bool = True,
    ) -> None:
        self.silent: set[Stream] = set()
        """Streams that do not come."""
        self.deep = True
        """Whether there is depth at all."""
        self.color_encoding = 'rgb8'
        self.depth_late_s = 0.0
        """By how much the stamps of depth are later than those of colour [s]."""
        self.frame = f'{name}_color_optical_frame'
        self._rng = np.random.default_rng(7)
        self.stamps_s: list[float] = []
        """Of the pictures so far."""
        self._taken_s = 0.0
        self._period_s = 1.0 / rate_hz
        self._world_s: float | None = None
        self._simulated = simulated
        self._own = OwnNodes(args=[], domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = self._own.join(f'{name}_driver', f'/{namespace}')
        qos = QoSProfile(depth=2, reliability=reliability)
        kinds = {Stream.COLOR: Image, Stream.DEPTH: Image, Stream.INFO: CameraInfo}
        self.publishers = {
            stream: self.node.create_publisher(kind, f'{name}/{stream.value}', qos)
            for stream, kind in kinds.items()
        }
        self._static = self.node.create_publisher(TFMessage, 'tf_static', LATCHED)
        if mounted:
            link = transform_to_msg(WORLD_FRAME, self.frame, MOUNT, 0.0)
            self._static.publish(TFMessage(transforms=[link]))
        if simulated:
            self.node.create_subscription(ObjectStates, 'objects', self._receive, 1)
        self.node.create_timer(self._period_s, self._publish)
        self._own.spin(self.node, name)

    def __exit__(self, *_: object) -> None:
        self._own.close()

    @property
    def watched(self) -> bool:
        """Whether anybody subscribes to its pictures."""
        return any(x.get_subscription_count() for x in self.publishers.values())

    def mend(self) -> None:
        """End all faults."""
        self.silent, self.deep = set(), True
        self.color_encoding, self.depth_late_s = 'rgb8', 0.0

    def _receive(self, msg: ObjectStates) -> None:
        self._world_s = stamp_from_msg(msg.header.stamp)

    def _publish(self) -> None:
        time_s = self._world_s if self._simulated else now_s(self.node)
        if time_s is None:
            return
        if not self._simulated:
            # As from a camera, also where this process was kept waiting: two frames that were
            # nearer to each other could make a pair of colour and depth.
            time_s = self._taken_s = max(time_s, self._taken_s + self._period_s)
        self.stamps_s.append(time_s)
        width, height = SIZE
        rgb = 150 + self._rng.integers(0, 8, (height, width, 3))
        depth_m = np.where(self.deep, self._rng.normal(1.0, 0.002, (height, width)), 0.0)
        camera = Intrinsics(
            width_px=width,
            height_px=height,
            fx_px=60.0,
            fy_px=60.0,
            cx_px=(width - 1) / 2,
            cy_px=(height - 1) / 2,
        )
        color = rgb_to_msg(rgb.astype(np.uint8), time_s, self.frame)
        color.encoding = self.color_encoding
        depth = depth_to_msg(depth_m.astype(np.float32), time_s + self.depth_late_s, self.frame)
        info = info_to_msg(camera, time_s, self.frame)
        messages = {Stream.INFO: info, Stream.COLOR: color, Stream.DEPTH: depth}
        for stream, message in messages.items():
            if stream not in self.silent:
                self.publishers[stream].publish(message)
