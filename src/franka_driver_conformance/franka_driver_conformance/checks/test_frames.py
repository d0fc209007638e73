"""Frames: the robot description, transforms, and what robot_state is expressed in."""

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from franka_msgs.msg import FrankaRobotState
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from scipy.spatial.transform import Rotation
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import Record, close, rounded
from franka_driver_conformance.manager import ROBOT_STATE, STATE
from franka_driver_conformance.motions import ARM_JOINTS

TCP, FLANGE = 'fr3_hand_tcp', 'fr3_link8'
FINGERS = ('fr3_finger_joint1', 'fr3_finger_joint2')
SAME_M = 0.005


class Description:
    """What the checks need of a robot description."""

    def __init__(self, text: str):
        robot = ElementTree.fromstring(text)
        self.joints = {_read(joint, 'child', 'link'): joint for joint in robot.findall('joint')}
        """By child link."""
        (self.root,) = {link.get('name', '') for link in robot.findall('link')} - set(self.joints)

    def parent(self, link: str) -> str:
        return _read(self.joints[link], 'parent', 'link')

    def types(self, names: tuple[str, ...]) -> list[str | None]:
        found = {joint.get('name'): joint.get('type') for joint in self.joints.values()}
        return [found.get(name) for name in names]

    def pose(self, link: str, angles_rad: dict[str, float]) -> np.ndarray:
        if link == self.root:
            return np.eye(4)
        joint = self.joints[link]
        rpy, xyz = (_read(joint, 'origin', name, '0 0 0') for name in ('rpy', 'xyz'))
        origin = transform(Rotation.from_euler('xyz', numbers(rpy)), numbers(xyz))
        axis = np.array(numbers(_read(joint, 'axis', 'xyz', '1 0 0')))
        turn = Rotation.from_rotvec(axis * angles_rad.get(joint.get('name', ''), 0.0))
        return np.asarray(self.pose(self.parent(link), angles_rad) @ origin @ transform(turn))


def _read(joint: ElementTree.Element, tag: str, name: str, default: str = '') -> str:
    found = joint.find(tag)
    return default if found is None else found.get(name, default)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def transform(rotation: Rotation, place: Iterable[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation.as_matrix(), list(place)
    return T


def matrix(pose: Any) -> np.ndarray:
    q, p = pose.orientation, pose.position
    xyzw = [q.x, q.y, q.z, q.w]
    assert [np.linalg.norm(xyzw)] == close([1.0], 5e-4), 'the length of the quaternion'
    return transform(Rotation.from_quat(xyzw), (p.x, p.y, p.z))


@pytest.fixture(scope='module')
def description(driver: DriverClient) -> Description:
    return Description(driver.receive(String, 'robot_description', latched=True).data)


@pytest.fixture
def state(driver: DriverClient) -> Any:
    return driver.receive(FrankaRobotState, ROBOT_STATE)


def parents(
    driver: DriverClient, topic: str, wanted: set[str], *, latched: bool = False
) -> dict[str, str]:
    seen: dict[str, str] = {}

    def has_all(message: TFMessage) -> bool:
        seen.update({each.child_frame_id: each.header.frame_id for each in message.transforms})
        return wanted <= set(seen)

    with driver.probe(TFMessage, driver.transforms(topic), latched=latched) as probe:
        probe.wait_for(has_all, f'transforms of {sorted(wanted)}', driver.patience_s)
    return seen


def test_description_has_seven_turning_joints(
    description: Description, record_property: Record
) -> None:
    assert description.types(ARM_JOINTS) == ['revolute'] * 7
    record_property('root', description.root)


def test_transforms_follow_the_description(driver: DriverClient, description: Description) -> None:
    wanted = {f'fr3_link{i}' for i in range(1, 8)}
    seen = parents(driver, '/tf', wanted)
    assert {link: seen[link] for link in wanted} == {
        link: description.parent(link) for link in wanted
    }


def test_fixed_links_are_on_tf_static(
    driver: DriverClient, description: Description, record_property: Record
) -> None:
    seen = parents(driver, '/tf_static', {FLANGE}, latched=True)
    ours = {link: parent for link, parent in seen.items() if link in description.joints}
    for link, parent in ours.items():
        assert parent == description.parent(link), link
        assert description.joints[link].get('type') == 'fixed', link
    record_property('links', sorted(ours))


def test_poses_are_seen_from_the_root(description: Description, state: Any) -> None:
    for name in ('o_t_ee', 'o_t_ee_d', 'o_t_ee_c', 'o_dp_ee_d', 'o_dp_ee_c', 'o_f_ext_hat_k'):
        assert getattr(state, name).header.frame_id == description.root, name


def test_pose_is_that_of_the_joints(
    description: Description, state: Any, record_property: Record
) -> None:
    angles = dict(zip(ARM_JOINTS, state.measured_joint_state.position, strict=True))
    wanted = description.pose(FLANGE, angles) @ matrix(state.f_t_ee.pose)
    seen = matrix(state.o_t_ee.pose)
    assert list(seen[:3, 3]) == close(wanted[:3, 3], SAME_M)
    assert list(seen[:3, :3].ravel()) == close(wanted[:3, :3].ravel(), 0.02)
    record_property('place', rounded(seen[:3, 3]))


def test_current_pose_is_that_of_robot_state(
    driver: DriverClient, state: Any, record_property: Record
) -> None:
    for topic, part in (('current_pose', state.o_t_ee), ('last_desired_pose', state.o_t_ee_d)):
        pose = driver.receive(PoseStamped, f'{STATE}/{topic}')
        assert pose.header.frame_id == part.header.frame_id, topic
        seen, wanted = matrix(pose.pose), matrix(part.pose)
        assert list(seen[:3, 3]) == close(wanted[:3, 3], SAME_M), topic
        record_property(topic, rounded(seen[:3, 3]))


def test_wrenches_and_twist_have_their_frames(driver: DriverClient, state: Any) -> None:
    for topic, kind, part in (
        ('external_wrench_in_base_frame', WrenchStamped, state.o_f_ext_hat_k),
        ('external_wrench_in_stiffness_frame', WrenchStamped, state.k_f_ext_hat_k),
        ('desired_end_effector_twist', TwistStamped, state.o_dp_ee_d),
    ):
        frame = driver.receive(kind, f'{STATE}/{topic}').header.frame_id
        assert frame == part.header.frame_id, topic


@pytest.mark.hand
def test_description_has_two_sliding_fingers(description: Description) -> None:
    assert description.types(FINGERS) == ['prismatic'] * 2
    assert {'fr3_hand', TCP} <= set(description.joints)


@pytest.mark.hand
def test_stiffness_frame_is_the_tool(state: Any) -> None:
    assert state.k_f_ext_hat_k.header.frame_id == TCP
