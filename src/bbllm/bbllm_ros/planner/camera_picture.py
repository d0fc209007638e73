"""A picture of the scene from a camera, whose topic is subscribed to only while one is taken."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image
from tf2_msgs.msg import TFMessage

from bbllm.core.errors import WorldError
from bbllm.core.protocols import ScenePicture
from bbllm.core.types import Pose
from bbllm.scene.picture_files import jpeg_of
from bbllm.scene.transforms import FrameError, TransformTree
from bbllm.scene.views import view_of
from bbllm_ros.convert.images import ImageError, rgb_from_msg
from bbllm_ros.convert.records import WORLD_FRAME, stamp_from_msg, transforms_from_msg
from bbllm_ros.rclpy_support.calls import POLL_S

PICTURE_S = 5.0
"""How long a picture is waited for, wall clock [s]."""
POSE_S = 1.0
"""How long the pose of its camera is waited for after that, wall clock [s]."""
QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Matches reliable publishers and those of sensor data."""
MOVING = QoSProfile(depth=100)
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
COLOR = ('_color_optical_frame', '_optical_frame')
"""Ends of the names of frames, without which they name the camera."""


class CameraPicture:
    """Takes pictures from a topic of sensor_msgs/Image; its node is spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup, topic: str):
        self._node, self._group, self._topic = node, group, topic

    def take(self, newer_s: float, check: Callable[[], None]) -> ScenePicture:
        """
        Return a picture that was taken after a time on the world's clock [s].

        *check* is called while it is waited for. Raises WorldError where none comes, or of an
        encoding that is not read.
        """
        changed = threading.Condition()
        images: list[Image] = []
        tree = TransformTree()

        def receive(msg: Image) -> None:
            if stamp_from_msg(msg.header.stamp) >= newer_s:
                with changed:
                    images[:] = [msg]
                    changed.notify()

        def receive_tf(msg: TFMessage, static: bool) -> None:
            with changed:
                _add(tree, msg, static)
                changed.notify()

        subscriptions = [
            self._node.create_subscription(kind, topic, callback, qos, callback_group=self._group)
            for kind, topic, callback, qos in (
                (Image, self._topic, receive, QOS),
                (TFMessage, '/tf', lambda msg: receive_tf(msg, False), MOVING),
                (TFMessage, '/tf_static', lambda msg: receive_tf(msg, True), STATIC),
            )
        ]
        try:
            until_s = time.monotonic() + PICTURE_S
            with changed:
                while not images:
                    check()
                    if time.monotonic() > until_s:
                        raise self._silent(newer_s)
                    changed.wait(POLL_S)
                image = images[-1]
                until_s = time.monotonic() + POSE_S
                while (pose := _pose_of(tree, image)) is None and time.monotonic() < until_s:
                    check()
                    changed.wait(POLL_S)
        finally:
            for subscription in subscriptions:
                self._node.destroy_subscription(subscription)
        name = image.header.frame_id
        for end in COLOR:
            name = name.removesuffix(end)
        try:
            return ScenePicture(data=jpeg_of(rgb_from_msg(image)), view=view_of(name, pose))
        except ImageError as error:
            raise WorldError(f'{error} Set the colour format of the camera.') from error

    def _silent(self, newer_s: float) -> WorldError:
        topic = self._node.resolve_topic_name(self._topic)
        n = self._node.count_publishers(topic)
        why = 'no node publishes it' if not n else f'nothing newer than {newer_s:.2f} s came'
        return WorldError(
            f'There was no picture on {topic} within {PICTURE_S:g} s: {why}. Start the camera, '
            'set the parameter `picture_topic` of brain_planner to its colour topic, or use '
            '`image=none` in the planner.'
        )


def taker(
    node: Node, group: CallbackGroup, topic: str
) -> Callable[[float, Callable[[], None]], ScenePicture] | None:
    """Return what takes pictures of a topic, None where it is empty."""
    return CameraPicture(node, group, topic).take if topic else None


def _add(tree: TransformTree, msg: TFMessage, static: bool) -> None:
    for parent, child, pose, stamp_s in transforms_from_msg(msg):
        with suppress(FrameError):  # of another program, which the pose of the camera may not need
            tree.add(parent, child, pose, stamp_s, static)


def _pose_of(tree: TransformTree, image: Image) -> Pose | None:
    """Return T_world_camera; None while no transforms give it."""
    try:
        header = image.header
        return tree.lookup(WORLD_FRAME, header.frame_id, stamp_from_msg(header.stamp))
    except FrameError:
        return None
