"""Pictures of a camera with the pose of the hand, while a person guides the arm; listens only."""

import os
import threading
import time
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState
from tf2_msgs.msg import TFMessage

from bbllm.arm.driver import Array
from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.errors import WorldError
from bbllm.scene.transforms import plain_frame
from bbllm_ros.convert.arm import arm_from_msg
from bbllm_ros.convert.images import intrinsics_from_msg, rgb_from_msg
from bbllm_ros.convert.records import transforms_from_msg
from bbllm_ros.driver.joint_feed import ARM_TOPIC
from bbllm_ros.rclpy_support.own_nodes import join_stack
from bbllm_vision.calibration.calibration_file import FixedFrame
from bbllm_vision.calibration.collecting import ArmPicture, hand_pose

FIRST_S = 10.0
"""How long the first message of each topic may take, wall clock [s]."""
NEWS_S = 5.0
"""How long later ones may take [s]."""
NEWER = 3
"""The picture that is used is the third that comes: the first was taken before it was asked for,
and the second may have been."""
STILL_RAD = 2e-3
"""How far a joint may move between both ends of the wait for a picture: 2 mm at the hand [rad]."""
STATIC_QOS = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
PICTURES = QoSProfile(depth=2)


class ArmCamera(AbstractContextManager['ArmCamera']):
    """
    Listens to a driver's joint states and a camera; close it, or use it with `with`.

    Topics are those of realsense2_camera: *camera*`/color/image_raw` and `/color/camera_info`,
    in the namespace unless the name of the camera begins with a slash.
    """

    def __init__(self, namespace: str, camera: str):
        self._own = join_stack(namespace)
        node = self._own.join(f'bbllm_calibrate_{os.getpid()}', f'/{namespace}'.rstrip('/') or '/')
        self._news = threading.Condition()
        self._newest: dict[str, Any] = {}
        self._counts: dict[str, int] = {}
        self._frames: dict[str, FixedFrame] = {}
        topics = (f'{camera}/color/image_raw', f'{camera}/color/camera_info', ARM_TOPIC)
        self._image, self._info, self._joints = map(node.resolve_topic_name, topics)

        def listen(kind: Any, topic: str, qos: QoSProfile) -> None:
            node.create_subscription(kind, topic, lambda msg: self._receive(topic, msg), qos)

        listen(Image, self._image, PICTURES)
        listen(CameraInfo, self._info, PICTURES)
        listen(JointState, self._joints, NEWEST)
        for topic in ('/tf_static', 'tf_static'):  # a simulated stack has its own
            node.create_subscription(TFMessage, topic, self._receive_frames, STATIC_QOS)
        self._own.spin(node, 'arm camera')

    def __exit__(self, *_: object) -> None:
        self._own.close()

    @property
    def frames(self) -> dict[str, FixedFrame]:
        """Return the static transforms that came so far, by the name of their child."""
        with self._news:
            return dict(self._frames)

    def wait_for_frame(self) -> str:
        """Return the frame of a picture; raises WorldError where none comes."""
        return plain_frame(self._wait(self._image, 1, FIRST_S).header.frame_id)

    def take(self) -> ArmPicture:
        """
        Return the next picture, with where the hand was.

        Raises:
            WorldError: A topic is silent, or the arm moved meanwhile.
            ImageError: The picture, or camera_info, cannot be used.
        """
        info = self._wait(self._info, 1, FIRST_S)
        before = self._position_rad(0)
        image = self._wait(self._image, self._count(self._image) + NEWER, NEWS_S)
        after = self._position_rad(self._count(self._joints))
        moved_rad = float(np.abs(after - before).max())
        if moved_rad > STILL_RAD:
            raise WorldError(
                f'The arm moved while the picture was taken: a joint by {moved_rad * 1e3:.1f} '
                f'mrad, and at most {STILL_RAD * 1e3:g} are allowed. Let go of the arm, and take '
                'the picture again.'
            )
        return ArmPicture(
            rgb=rgb_from_msg(image),
            intrinsics=intrinsics_from_msg(info),
            T_base_hand=hand_pose(after),
        )

    def _position_rad(self, count: int) -> Array:
        msg = self._wait(self._joints, count + 1, FIRST_S)
        measured = arm_from_msg(msg)
        if measured is None:
            raise WorldError(
                f'{self._joints} has the joints {", ".join(msg.name) or "of nothing"}, and not '
                'the seven of the arm with positions and velocities.'
            )
        return measured[0]

    def _count(self, topic: str) -> int:
        with self._news:
            return self._counts.get(topic, 0)

    def _wait(self, topic: str, count: int, timeout_s: float) -> Any:
        """Return the newest message of a topic once so many have come."""
        begun_s = time.monotonic()
        with self._news:
            if self._news.wait_for(lambda: self._counts.get(topic, 0) >= count, timeout_s):
                return self._newest[topic]
        raise WorldError(
            f'No message came on {topic} within {time.monotonic() - begun_s:.0f} s. Check with '
            f'`ros2 topic hz {topic}` that it is published, and give --camera or --namespace if '
            'it has another name.'
        )

    def _receive(self, topic: str, msg: Any) -> None:
        with self._news:
            self._newest[topic] = msg
            self._counts[topic] = self._counts.get(topic, 0) + 1
            self._news.notify_all()

    def _receive_frames(self, msg: TFMessage) -> None:
        with self._news:
            for parent, child, pose, _ in transforms_from_msg(msg):
                self._frames[plain_frame(child)] = FixedFrame(
                    parent=plain_frame(parent), T_parent_child=matrix_from_pose(pose)
                )
