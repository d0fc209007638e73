"""The robot description and the tree of transforms that `mujoco_sim` publishes."""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.dom import minidom

import numpy as np
import pytest
from geometry_msgs.msg import Transform
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.robots.fr3 import FR3
from bbllm.robots.urdf import robot_description
from bbllm_ros.convert.records import LATCHED
from bbllm_ros.driver_front.topics import description_of
from tests.robots.urdf_text import chain, joints_of, step
from tests.ros.stacks import Running, until

pytestmark = pytest.mark.ros

XACRO = 'franka_description/robots/fr3/fr3.urdf.xacro'


def matrix(transform: Transform) -> np.ndarray:
    """Return a transform as matrix, shape (4, 4)."""
    q, t = transform.rotation, transform.translation
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    T[:3, 3] = t.x, t.y, t.z
    return T


def transform_topics(sim: Running) -> list[str]:
    """Return the names of tf and tf_static, wherever `mujoco_sim` publishes them."""
    node = sim.client.node

    def found() -> list[str]:
        published = node.get_publisher_names_and_types_by_node('mujoco_sim', node.get_namespace())
        return sorted(name for name, kinds in published if 'tf2_msgs/msg/TFMessage' in kinds)

    until(lambda: len(found()) == 2, 'publisher of tf and of tf_static')
    return found()


def test_transforms_equal_the_kinematics_of_the_description(sim: Running) -> None:
    node = sim.client.node
    texts: list[str] = []
    fixed: list[TFMessage] = []
    moving: dict[tuple[int, int], TFMessage] = {}
    states: dict[tuple[int, int], JointState] = {}

    def key(message: JointState | TFMessage) -> tuple[int, int]:
        head = message.header if isinstance(message, JointState) else message.transforms[0].header
        return head.stamp.sec, head.stamp.nanosec

    def keep(kept: dict[tuple[int, int], object], message: JointState | TFMessage) -> None:
        kept[key(message)] = message

    tf, static = transform_topics(sim)
    subscriptions = [
        node.create_subscription(
            String, 'robot_description', lambda message: texts.append(message.data), LATCHED
        ),
        node.create_subscription(TFMessage, static, fixed.append, LATCHED),
        node.create_subscription(TFMessage, tf, lambda message: keep(moving, message), 10),
        node.create_subscription(
            JointState, 'joint_states', lambda message: keep(states, message), 10
        ),
    ]
    until(lambda: texts and fixed and set(moving) & set(states), 'all parts of the same moment')
    for subscription in subscriptions:
        node.destroy_subscription(subscription)

    moment = max(set(moving) & set(states))
    robot = ElementTree.fromstring(texts[0])
    joints = {joint.find('child').get('link'): joint for joint in joints_of(robot).values()}
    values = dict(zip(states[moment].name, states[moment].position, strict=True))
    messages = [*fixed, moving[moment]]
    transforms = [
        item
        for message in messages
        for item in message.transforms
        if '_camera_' not in item.child_frame_id  # tests/ros/sim/test_sim_cameras.py has those
    ]

    # Every link but the root comes once, below its parent in the description: that is one tree.
    assert Counter(item.child_frame_id for item in transforms) == Counter(list(joints))
    at = {item.child_frame_id: item for item in transforms}
    for link, joint in joints.items():
        assert at[link].header.frame_id == joint.find('parent').get('link')
        value = values.get(joint.get('name'), 0.0)
        np.testing.assert_allclose(matrix(at[link].transform), step(joint, value), atol=1e-9)
    T_base_tcp, link = np.eye(4), 'fr3_hand_tcp'
    while link in at:
        T_base_tcp = matrix(at[link].transform) @ T_base_tcp
        link = at[link].header.frame_id
    np.testing.assert_allclose(T_base_tcp, chain(robot, 'fr3_hand_tcp', values), atol=1e-9)
    assert link == 'base'


Process = Callable[[str, dict[str, str]], Any]


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Process], Any]:
    """Return what gives the description, and its log, with an installed franka_description."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'franka_description').touch()
    file = tmp_path / 'share' / XACRO
    file.parent.mkdir(parents=True)
    file.write_text('<robot name="theirs"/>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))

    def describe(process: Process) -> tuple[str, list[str]]:
        # xacro is not in the environment of PyPI.
        xacro = SimpleNamespace(process_file=lambda name, mappings: process(name, mappings))
        monkeypatch.setitem(sys.modules, 'xacro', xacro)
        lines: list[str] = []
        logger = SimpleNamespace(info=lines.append, warning=lines.append)
        text = description_of(SimpleNamespace(get_logger=lambda: logger))  # type: ignore[arg-type]
        return text, lines

    return describe


def test_description_of_an_installed_franka_description_is_published(published: Any) -> None:
    def process(name: str, mappings: dict[str, str]) -> minidom.Document:
        assert mappings == {'hand': 'true', 'ee_id': 'franka_hand'}
        return minidom.parse(name)

    text, (line,) = published(process)

    assert ElementTree.fromstring(text).get('name') == 'theirs'
    assert line.startswith('robot_description comes from ') and line.endswith(XACRO)


def test_description_that_cannot_be_expanded_is_named_and_replaced(published: Any) -> None:
    def process(name: str, mappings: dict[str, str]) -> None:
        raise ValueError('no macro franka_robot')

    text, (line,) = published(process)

    assert text == robot_description(FR3)
    assert XACRO in line
    assert 'no macro franka_robot' in line
