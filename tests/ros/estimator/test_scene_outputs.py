"""The objects of scenes for other programs: frames, vision_msgs and collision objects."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shape_msgs.msg import SolidPrimitive

from bbllm.core.errors import ConfigError
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject
from bbllm_ros.convert.records import pose_from_msg, stamp_from_msg, vector_from_msg
from bbllm_ros.estimator.detection_feed import batch_from_vision
from bbllm_ros.estimator.scene_outputs import (
    SceneOutputs,
    collision_object_of,
    detections_of,
    frames_of,
)
from tests.ros.any_records import objects

REASON = 'interfaces of add-ons are not built: make extras'
pytest.importorskip('vision_msgs.msg', reason=REASON)
CollisionObject = pytest.importorskip('moveit_msgs.msg', reason=REASON).CollisionObject

pytestmark = pytest.mark.ros


def scene_of(*items: SceneObject) -> Scene:
    return Scene(items, (), (), 12.5)


def cube(name: str = 'red_cube', x: float = 0.5, **fields: Any) -> SceneObject:
    values = {'kind': Kind.CUBE, 'size_m': (0.04, 0.05, 0.06), **fields}
    return SceneObject(name=name, pose=Pose(position_m=(x, 0.1, 0.03)), **values)


@given(st.lists(objects, max_size=4))
def test_every_object_but_the_hand_has_a_frame_in_the_world_frame(
    items: list[SceneObject],
) -> None:
    frames = frames_of(scene_of(*items), 'robot1').transforms

    wanted = [item for item in items if item.kind is not Kind.HAND]
    assert [frame.child_frame_id for frame in frames] == [f'robot1/{x.name}' for x in wanted]
    for frame, item in zip(frames, wanted, strict=True):
        assert frame.header.frame_id == 'fr3_link0'
        assert stamp_from_msg(frame.header.stamp) == 12.5
        assert vector_from_msg(frame.transform.translation) == item.pose.position_m
        rotation = frame.transform.rotation
        assert (rotation.x, rotation.y, rotation.z, rotation.w) == item.pose.quat_xyzw


def test_a_detection_has_the_name_the_kind_and_the_box_of_its_object() -> None:
    place = cube('location_A', kind=Kind.LOCATION)
    array = detections_of(scene_of(cube(), place))

    (found,) = array.detections
    assert (found.id, found.results[0].hypothesis.class_id) == ('red_cube', 'cube')
    assert found.results[0].hypothesis.score == 1.0
    assert vector_from_msg(found.bbox.size) == (0.04, 0.05, 0.06)
    assert pose_from_msg(found.bbox.center) == pose_from_msg(found.results[0].pose.pose)
    # It is what the input of the source vision_msgs can read.
    check = batch_from_vision(array, 'detections_3d')
    assert (check.frame, check.stamp_s) == ('fr3_link0', 12.5)
    assert check.detections[0].position_m == (0.5, 0.1, 0.03)


def test_shapes_for_moveit_are_boxes_and_cylinders() -> None:
    box = collision_object_of(cube(), 12.5)
    can = collision_object_of(cube(kind=Kind.CYLINDER, size_m=(0.06, 0.06, 0.12)), 12.5)

    assert (box.id, box.operation) == ('red_cube', CollisionObject.ADD)
    assert (box.header.frame_id, pose_from_msg(box.pose)) == ('fr3_link0', cube().pose)
    assert box.primitives[0].type == SolidPrimitive.BOX
    assert list(box.primitives[0].dimensions) == [0.04, 0.05, 0.06]
    dimensions = can.primitives[0].dimensions
    assert can.primitives[0].type == SolidPrimitive.CYLINDER
    assert dimensions[SolidPrimitive.CYLINDER_HEIGHT] == 0.12
    assert dimensions[SolidPrimitive.CYLINDER_RADIUS] == 0.03


class Listened:
    def __init__(self, topic_name: str):
        self.topic_name = topic_name
        self.count = 0
        self.sent: list[Any] = []

    def get_subscription_count(self) -> int:
        return self.count

    def publish(self, message: Any) -> None:
        self.sent.append(message)


class Listener:
    """Stands for a node; of its subscriptions it has those of a camera source or none."""

    def __init__(self, *topics: str):
        self.publishers: dict[str, Listened] = {}
        self.subscriptions = [type('Subscription', (), {'topic_name': name}) for name in topics]

    def get_namespace(self) -> str:
        return '/robot1'

    def create_publisher(self, kind: object, topic: str, qos: object) -> Listened:
        self.publishers[topic] = Listened(topic)
        return self.publishers[topic]


def outputs(*own: str) -> tuple[Any, Any]:
    node: Any = Listener(*own)
    return SceneOutputs(node, collision_objects=True), node.publishers


def test_moveit_is_sent_what_changed_and_all_of_it_when_it_joins() -> None:
    made, publishers = outputs()
    moveit = publishers['collision_object']
    moveit.count = 1

    def sent(*items: SceneObject) -> list[tuple[str, bytes]]:
        moveit.sent.clear()
        made.publish(scene_of(*items))
        return [(message.id, message.operation) for message in moveit.sent]

    add, remove = CollisionObject.ADD, CollisionObject.REMOVE
    first, second = cube('a'), cube('b', 0.6)
    assert sent(first, second) == [('a', add), ('b', add)]
    assert sent(first, second) == []
    assert sent(first, cube('b', 0.6005)) == []
    assert sent(first, cube('b', 0.7)) == [('b', add)]
    assert sent(cube('b', 0.7)) == [('a', remove)]
    moveit.count = 2
    assert sent(cube('b', 0.7)) == [('b', add)]
    moveit.sent.clear()
    held = Fact('b', 'held_by', 'hand')
    made.publish(Scene((cube('b', 0.7),), (), (held,), 12.5))
    assert [(message.id, message.operation) for message in moveit.sent] == [('b', remove)]


def test_without_moveit_msgs_the_parameter_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'moveit_msgs.msg', None)  # as where it is not installed
    node: Any = Listener()

    SceneOutputs(node, collision_objects=False)
    with pytest.raises(ConfigError, match=r'make extras.*apt install ros-jazzy-moveit-msgs'):
        SceneOutputs(node, collision_objects=True)
