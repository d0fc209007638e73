"""The objects of scenes on standard topics: /tf, vision_msgs and MoveIt collision objects."""

import importlib
import importlib.util
import math
from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import Pose as PoseMsg
from rclpy.node import Node
from rclpy.publisher import Publisher
from shape_msgs.msg import SolidPrimitive
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from bbllm.core.errors import ConfigError
from bbllm.core.types import Kind, Scene, SceneObject
from bbllm_ros.convert.records import (
    LATCHED,
    WORLD_FRAME,
    header,
    pose_to_msg,
    transform_to_msg,
    vector_to_msg,
)
from bbllm_ros.rviz.markers import scene_markers

TF = '/tf'
DETECTIONS = 'scene_detections'
"""Not `detections_3d`, which is the input of the source vision_msgs."""
COLLISION_OBJECT = 'collision_object'
"""Where MoveIt's planning scene monitor subscribes; relative, for remapping."""
ROOT_PREFIX = 'objects'
MOVED_M = 0.001
"""Objects that moved less are not sent to MoveIt again, and so are turns in radians."""


class SceneOutputs:
    """Publishes what a scene shows to its subscribers; ConfigError without moveit_msgs."""

    def __init__(self, node: Node, *, collision_objects: bool):
        self._node = node
        self._prefix = node.get_namespace().strip('/') or ROOT_PREFIX
        self._markers = node.create_publisher(MarkerArray, 'markers', LATCHED)
        self._tf = node.create_publisher(TFMessage, TF, 10)
        self._detections: Publisher | None = None
        if importlib.util.find_spec('vision_msgs') is not None:
            kind = importlib.import_module('vision_msgs.msg').Detection3DArray
            self._detections = node.create_publisher(kind, DETECTIONS, 10)
        self._collisions = _CollisionObjects(node) if collision_objects else None

    def publish(self, scene: Scene) -> None:
        if self._markers.get_subscription_count():
            self._markers.publish(scene_markers(scene))
        if self._tf_listeners():
            self._tf.publish(frames_of(scene, self._prefix))
        if self._detections is not None and self._detections.get_subscription_count():
            self._detections.publish(detections_of(scene))
        if self._collisions is not None:
            self._collisions.publish(scene)

    def _tf_listeners(self) -> int:
        """Count the subscriptions of others: this node's own camera sources use /tf too."""
        own = sum(item.topic_name == self._tf.topic_name for item in self._node.subscriptions)
        return int(self._tf.get_subscription_count()) - own


class _CollisionObjects:
    """Sends MoveIt what changed since the last scene; all of it when a subscriber joins."""

    def __init__(self, node: Node):
        try:
            kind = importlib.import_module('moveit_msgs.msg').CollisionObject
        except ImportError as error:
            raise ConfigError(
                'collision_objects:=true needs the ROS package moveit_msgs, which is not '
                'installed (in a checkout: make extras; on Ubuntu: apt install '
                'ros-jazzy-moveit-msgs). All other topics work without it.'
            ) from error
        self._publisher = node.create_publisher(kind, COLLISION_OBJECT, 100)
        self._listeners = 0
        self._sent: dict[str, SceneObject] = {}

    def publish(self, scene: Scene) -> None:
        listeners = self._publisher.get_subscription_count()
        if listeners > self._listeners:
            self._sent = {}
        self._listeners = listeners
        if not listeners:
            return
        # What is held moves with the hand: whoever plans attaches it to the robot.
        now = {item.name: item for item in solids(scene) if item.name != scene.held}
        for name in self._sent.keys() - now.keys():
            self._publisher.publish(removal_of(name, scene.stamp_s))
            del self._sent[name]
        for name, item in now.items():
            if name not in self._sent or _differs(item, self._sent[name]):
                self._publisher.publish(collision_object_of(item, scene.stamp_s))
                self._sent[name] = item


def _differs(item: SceneObject, other: SceneObject) -> bool:
    if (item.kind, item.size_m) != (other.kind, other.size_m):
        return True
    if math.dist(item.pose.position_m, other.pose.position_m) > MOVED_M:
        return True
    dot = sum(a * b for a, b in zip(item.pose.quat_xyzw, other.pose.quat_xyzw, strict=True))
    return 2 * math.acos(min(1.0, abs(dot))) > MOVED_M


SOLID = frozenset(set(Kind) - {Kind.LOCATION, Kind.HAND})
"""Kinds that take up room."""


def frames_of(scene: Scene, prefix: str) -> TFMessage:
    """Write one frame for each object, as the world frame sees it: `<prefix>/<object>`."""
    return TFMessage(
        transforms=[
            transform_to_msg(WORLD_FRAME, f'{prefix}/{item.name}', item.pose, scene.stamp_s)
            for item in scene.objects
            if item.kind is not Kind.HAND
        ]
    )


def detections_of(scene: Scene) -> Any:
    """Write a vision_msgs/Detection3DArray: `id` is the name of an object, `class_id` its kind."""
    kinds = importlib.import_module('vision_msgs.msg')
    head = header(scene.stamp_s)
    array = kinds.Detection3DArray(header=head)
    for item in solids(scene):
        found = kinds.ObjectHypothesisWithPose()
        found.hypothesis.class_id, found.hypothesis.score = item.kind.value, 1.0
        found.pose.pose = pose_to_msg(item.pose)
        box = kinds.BoundingBox3D(center=pose_to_msg(item.pose), size=vector_to_msg(item.size_m))
        array.detections.append(
            kinds.Detection3D(header=head, results=[found], bbox=box, id=item.name)
        )
    return array


def collision_object_of(item: SceneObject, stamp_s: float) -> Any:
    """Write a moveit_msgs/CollisionObject that adds an object, or replaces what has its name."""
    kind = importlib.import_module('moveit_msgs.msg').CollisionObject
    return kind(
        header=header(stamp_s),
        pose=pose_to_msg(item.pose),
        id=item.name,
        primitives=[_solid(item)],
        primitive_poses=[PoseMsg()],  # relative to the pose of the object
        operation=kind.ADD,
    )


def removal_of(name: str, stamp_s: float) -> Any:
    kind = importlib.import_module('moveit_msgs.msg').CollisionObject
    return kind(header=header(stamp_s), id=name, operation=kind.REMOVE)


def solids(scene: Scene) -> Iterable[SceneObject]:
    return (item for item in scene.objects if item.kind in SOLID and all(item.size_m))


def _solid(item: SceneObject) -> SolidPrimitive:
    x, y, z = (float(value) for value in item.size_m)
    if item.kind is Kind.CYLINDER:
        return SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[z, max(x, y) / 2])
    return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[x, y, z])
