"""Objects of a scene as messages of standard packages; pure functions, one way only."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Transform, TransformStamped, Vector3
from shape_msgs.msg import SolidPrimitive
from tf2_msgs.msg import TFMessage

from bbllm.core.types import Kind, Scene, SceneObject
from bbllm.ros.convert.records import header, pose_to_msg, vector_to_msg

SOLID = frozenset(set(Kind) - {Kind.LOCATION, Kind.HAND})
"""Kinds that take up room; a location is a place, and the hand is part of the robot."""


def frames_of(scene: Scene, prefix: str) -> TFMessage:
    """Write one frame for each object, as the world frame sees it: `<prefix>/<object>`."""
    return TFMessage(
        transforms=[
            _frame(item, prefix, scene.stamp_s)
            for item in scene.objects
            if item.kind is not Kind.HAND
        ]
    )


def _frame(item: SceneObject, prefix: str, stamp_s: float) -> TransformStamped:
    pose = pose_to_msg(item.pose)
    at = pose.position
    return TransformStamped(
        header=header(stamp_s),
        child_frame_id=f'{prefix}/{item.name}',
        transform=Transform(
            translation=Vector3(x=at.x, y=at.y, z=at.z), rotation=pose.orientation
        ),
    )


def detections_of(scene: Scene) -> Any:
    """
    Write a vision_msgs/Detection3DArray: `id` is the name of an object, `class_id` its kind.

    Raises:
        ImportError: vision_msgs is not installed.
    """
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
    """
    Write a moveit_msgs/CollisionObject that adds an object, or replaces what has its name.

    Raises:
        ImportError: moveit_msgs is not installed.
    """
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
    """Write a moveit_msgs/CollisionObject that removes an object; see `collision_object_of`."""
    kind = importlib.import_module('moveit_msgs.msg').CollisionObject
    return kind(header=header(stamp_s), id=name, operation=kind.REMOVE)


def solids(scene: Scene) -> Iterable[SceneObject]:
    """Return the objects that take up room."""
    return (item for item in scene.objects if item.kind in SOLID and all(item.size_m))


def _solid(item: SceneObject) -> SolidPrimitive:
    """Return the shape of an object; a container is its bounding box."""
    x, y, z = (float(value) for value in item.size_m)
    if item.kind is Kind.CYLINDER:
        return SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[z, max(x, y) / 2])
    return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[x, y, z])
