"""A simulated detector for tests: sees what mujoco_sim's table holds, badly, from a camera."""

import math
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bbllm_interfaces.msg import Detection, Detections, ObjectStates
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.robots.fr3 import FR3
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.transforms import compose, inverse, multiply, normalized
from bbllm_ros.convert.arm import arm_from_msg
from bbllm_ros.convert.records import (
    LATCHED,
    WORLD_FRAME,
    objects_from_msg,
    pose_to_msg,
    transform_to_msg,
)
from bbllm_ros.driver.joint_feed import ARM_TOPIC
from bbllm_ros.rclpy_support.own_nodes import OwnNodes

MOUNT = Pose(position_m=(0.9, -0.6, 0.9), quat_xyzw=normalized((0.3, 0.8, -0.4, 0.2)))
"""The camera's housing in the world, turned any way: nothing may depend on it."""
LENS = Pose(position_m=(0.0, 0.03, 0.01), quat_xyzw=normalized((-0.5, 0.5, -0.5, 0.5)))
"""The optical frame in the housing."""
HOUSING, OPTICAL = 'camera_link', 'camera_color_optical_frame'
HAND_COVERS_M = 0.08
"""What is this near to the TCP, seen from above, the camera does not see [m]."""


class Camera:
    """Publishes detections, or tag frames, of what it sees; a node in a thread of the test."""

    def __init__(
        self,
        *,
        tags: Catalogue | None = None,
        rate_hz: float = 5.0,
        noise_m: float = 0.002,
        noise_rad: float = 0.02,
        dropout: float = 0.1,
        seed: int = 7,
    ):
        """
        Join the graph under the stack's namespace.

        Args:
            tags: Publish the tags of these things on /tf, instead of detections.
            rate_hz: Pictures per second, by the wall clock [Hz].
            noise_m: Standard deviation of each coordinate [m].
            noise_rad: The same of each axis of rotation [rad].
            dropout: Share of things that a picture does not show.
            seed: Of all that is random.
        """
        self.away: set[str] = set()
        """Names of things that somebody has taken off the table."""
        self.blind = False
        """Whether it sends no pictures."""
        self.truth: dict[str, SceneObject] = {}
        """Where things are."""
        self._tags = tags
        self._noise_m, self._noise_rad, self._dropout = noise_m, noise_rad, dropout
        self._random = random.Random(seed)
        self._objects: ObjectStates | None = None
        self._tcp: tuple[float, float] | None = None
        self._own = OwnNodes(args=[], domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = self._own.join('camera', '/bbllm')
        self._publish = self._publisher()
        static = self.node.create_publisher(TFMessage, 'tf_static', LATCHED)
        links = [(WORLD_FRAME, HOUSING, MOUNT), (HOUSING, OPTICAL, LENS)]
        static.publish(TFMessage(transforms=[transform_to_msg(*link, 0.0) for link in links]))
        self.node.create_subscription(ObjectStates, 'objects', self._receive, 1)
        self.node.create_subscription(JointState, ARM_TOPIC, self._receive_arm, 1)
        self.node.create_timer(1.0 / rate_hz, self._observe)
        self._own.spin(self.node, 'camera')

    def close(self) -> None:
        self._own.close()

    def _publisher(self) -> Callable[[Any], None]:
        kind, topic = (Detections, 'detections') if self._tags is None else (TFMessage, 'tf')
        publisher = self.node.create_publisher(kind, topic, 10)
        return publisher.publish

    def _receive(self, msg: ObjectStates) -> None:
        self._objects = msg
        self.truth = {item.name: item for item in objects_from_msg(msg)}

    def _receive_arm(self, msg: JointState) -> None:
        measured = arm_from_msg(msg)
        if measured is not None:
            x, y, _ = FR3.kinematics.forward(measured[0])[:3, 3].tolist()
            self._tcp = (x, y)

    def _observe(self) -> None:
        if self.blind or self._objects is None or self._tcp is None:
            return
        seen = [item for item in objects_from_msg(self._objects) if self._sees(item)]
        stamp = self._objects.header.stamp
        if self._tags is None:
            msg = Detections(detections=[self._detection(item) for item in seen])
            msg.header.stamp, msg.header.frame_id = stamp, OPTICAL
            self._publish(msg)
            return
        found = [self._tag(item) for item in seen]
        for item in found:
            item.header.stamp = stamp
        self._publish(TFMessage(transforms=found))

    def _sees(self, item: SceneObject) -> bool:
        if item.kind not in (Kind.CUBE, Kind.CYLINDER) or item.name in self.away:
            return False
        if self._tags is not None and self._tags.named(item.name) is None:
            return False
        assert self._tcp is not None  # says who calls
        covered = math.dist(item.pose.position_m[:2], self._tcp) < HAND_COVERS_M
        return not covered and self._random.random() >= self._dropout

    def _detection(self, item: SceneObject) -> Detection:
        # Name and pose alone: what it is, the catalogue or the scene file has to say.
        return Detection(name=item.name, pose=pose_to_msg(self._seen(item.pose)), confidence=0.9)

    def _tag(self, item: SceneObject) -> TransformStamped:
        assert self._tags is not None
        entry = self._tags.named(item.name)
        assert entry is not None and entry.tag is not None
        pose = compose(item.pose, inverse(entry.tag.T_tag_centre))
        return transform_to_msg(OPTICAL, entry.tag.frame, self._seen(pose), 0.0)

    def _seen(self, pose: Pose) -> Pose:
        """Return a pose of the world as the camera measures it."""
        noise = self._random.gauss
        x, y, z = (value + noise(0.0, self._noise_m) for value in pose.position_m)
        turn = normalized((*(noise(0.0, self._noise_rad) / 2 for _ in range(3)), 1.0))
        seen = Pose(position_m=(x, y, z), quat_xyzw=multiply(turn, pose.quat_xyzw))
        return compose(inverse(compose(MOUNT, LENS)), seen)


@contextmanager
def camera_running(**options: Any) -> Iterator[Camera]:
    camera = Camera(**options)
    try:
        yield camera
    finally:
        camera.close()


def is_on(camera: Camera, thing: str, place: str) -> bool:
    """Tell by the simulator's own truth, which the stack under test does not hear."""
    at, to = (camera.truth[name].pose.position_m for name in (thing, place))
    return math.dist(at[:2], to[:2]) < 0.02
