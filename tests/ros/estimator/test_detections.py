"""Messages of detectors, field by field, and the errors of a start that cannot work."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from bbllm_interfaces.msg import Detection, Detections
from geometry_msgs.msg import Point, Pose, Quaternion, TransformStamped, Vector3
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from bbllm.core.errors import ConfigError
from bbllm.scene.detections import Doubts
from bbllm.scene.transforms import TransformTree
from bbllm_ros.convert.records import stamp_to_msg
from bbllm_ros.estimator.detection_feed import (
    DetectionBatch,
    TfFeed,
    batch_from_detections,
    batch_from_vision,
    subscribe_detections,
)
from bbllm_ros.parameters.scene_sources import SceneSource
from bbllm_ros.stack.stack import node_arguments
from tests.ros.managers import Topics

pytestmark = pytest.mark.ros

POSE = Pose(
    position=Point(x=0.1, y=0.2, z=0.3), orientation=Quaternion(x=0.5, y=0.5, z=0.5, w=0.5)
)
OTHER = Pose(position=Point(x=9.0, y=9.0, z=9.0))
HEADER = Header(stamp=stamp_to_msg(12.5), frame_id='camera')


def box(x: float, y: float, z: float) -> SimpleNamespace:
    return SimpleNamespace(center=POSE, size=Vector3(x=x, y=y, z=z))


def hypothesis(class_id: str, score: float) -> SimpleNamespace:
    """Stand for vision_msgs/ObjectHypothesisWithPose: same fields, same nesting."""
    return SimpleNamespace(
        hypothesis=SimpleNamespace(class_id=class_id, score=score),
        pose=SimpleNamespace(pose=OTHER, covariance=[0.0] * 36),
    )


def vision(*detections: SimpleNamespace) -> SimpleNamespace:
    """Stand for vision_msgs/Detection3DArray, which is not on PyPI."""
    return SimpleNamespace(header=HEADER, detections=list(detections))


def transform(parent: str, child: str, x: float, stamp_s: float = 12.5) -> TransformStamped:
    msg = TransformStamped(child_frame_id=child)
    msg.header = Header(stamp=stamp_to_msg(stamp_s), frame_id=parent)
    msg.transform.translation.x = x
    return msg


def test_own_message_is_read_field_by_field() -> None:
    item = Detection(
        name='can',
        kind='cylinder',
        color='grey',
        size=Vector3(x=0.06, y=0.06, z=0.1),
        pose=POSE,
        confidence=0.75,
    )

    observe = batch_from_detections(Detections(header=HEADER, detections=[item]), 'detections')

    assert (observe.source, observe.frame, observe.stamp_s) == ('detections', 'camera', 12.5)
    (reported,) = observe.detections
    assert (reported.name, reported.kind, reported.color) == ('can', 'cylinder', 'grey')
    assert reported.size_m == (0.06, 0.06, 0.1)
    assert reported.position_m == (0.1, 0.2, 0.3)
    assert reported.quat_xyzw == (0.5, 0.5, 0.5, 0.5)
    assert reported.confidence == 0.75


def test_vision_message_takes_the_best_hypothesis_if_any_and_the_middle_of_the_box() -> None:
    item = SimpleNamespace(
        header=HEADER,
        id='17',
        results=[hypothesis('cup', 0.3), hypothesis('can', 0.6)],
        bbox=box(0.1, 0.1, 0.1),
    )

    unnamed = SimpleNamespace(results=[], bbox=box(0.1, 0.1, 0.1), id='')

    observe = batch_from_vision(vision(item, unnamed), 'detections_3d')

    assert (observe.source, observe.frame, observe.stamp_s) == ('detections_3d', 'camera', 12.5)
    (reported,) = observe.detections
    assert (reported.name, reported.confidence) == ('can', 0.6)
    assert reported.position_m == (0.1, 0.2, 0.3)


def test_tags_of_one_camera_and_moment_are_one_batch_and_all_else_is_the_tree() -> None:
    topics: Any = Topics()
    tree, observations = TransformTree(), list[DetectionBatch]()
    doubts = Doubts(lambda text: None)
    TfFeed(topics, tree, doubts, ['tag36h11:0', 'tag36h11:1'], observations.append)

    topics.receive['/tf_static'](TFMessage(transforms=[transform('fr3_link0', 'left', 1.0, 0.0)]))
    topics.receive['/tf'](
        TFMessage(
            transforms=[
                transform('left', 'tag36h11:0', 0.1),
                transform('right', 'tag36h11:0', 0.2),
                transform('left', '/tag36h11:1', 0.3),
                transform('fr3_link0', 'right', 2.0),
                transform('fr3_link0', '', 2.0),
            ]
        )
    )

    assert [(observe.frame, [d.name for d in observe.detections]) for observe in observations] == [
        ('left', ['tag36h11:0', 'tag36h11:1']),
        ('right', ['tag36h11:0']),
    ]
    assert tree.lookup('fr3_link0', 'left', 99.0).position_m[0] == 1.0
    assert tree.lookup('fr3_link0', 'right', 12.5).position_m[0] == 2.0
    assert doubts.counts == {'transform': 1}


def test_missing_package_is_an_error_only_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'vision_msgs.msg', None)  # as where it is not installed
    topics: Any = Topics()
    subscribe_detections(topics, {SceneSource.APRILTAG}, lambda observe: None)

    with pytest.raises(ConfigError, match=r'make extras.*apt install ros-jazzy-vision-msgs'):
        subscribe_detections(topics, {SceneSource.VISION_MSGS}, lambda observe: None)


def test_node_that_cannot_work_so_ends_at_once_with_the_reason(ros_domain: int) -> None:
    command = [sys.executable, '-m', 'bbllm_ros.nodes.state_estimator']
    command += node_arguments('state_estimator', {'sources': 'sonar'})

    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert ended.returncode == 1
    expected = "There is no source of the scene named 'sonar'. Known: apriltag"
    assert f'error: {expected}' in ended.stderr
