"""Frames: the robot description, transforms, and what robot_state is expressed in."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any

import numpy as np
from franka_msgs.msg import FrankaRobotState
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.arm.kinematics import link_frames
from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.driver_checks.check import (
    Evidence,
    Need,
    Theme,
    expect,
    expect_close,
    expect_equal,
    rounded,
)
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.manager import STATE

ARM = Theme(title='frames', need=Need.NOTHING)
HAND = Theme(title='frames of the hand', need=Need.NOTHING, hand=True)
TCP, FLANGE = 'fr3_hand_tcp', 'fr3_link8'
FINGERS = ('fr3_finger_joint1', 'fr3_finger_joint2')
FLANGE_INDEX = 7
"""That of fr3_link8 in link_frames."""
SAME_M = 0.005


@dataclass(frozen=True, slots=True)
class Description:
    """What matters here of a robot description."""

    root: str
    parents: dict[str, str]
    """Parent link of every link but the root."""
    fixed: frozenset[str]
    """Links that do not move against their parent."""
    joints: dict[str, str]
    """Type of every joint."""


def read_description(text: str) -> Description:
    """Read URDF."""
    robot = ElementTree.fromstring(text)
    links = {link.get('name', '') for link in robot.findall('link')}
    parents: dict[str, str] = {}
    fixed = set()
    for joint in robot.findall('joint'):
        child = joint.find('child').get('link')  # type: ignore[union-attr]  # URDF demands it
        parent = joint.find('parent').get('link')  # type: ignore[union-attr]  # and this
        parents[str(child)] = str(parent)
        if joint.get('type') == 'fixed':
            fixed.add(str(child))
    roots = sorted(links - set(parents))
    expect_equal('the number of root links', len(roots), 1)
    joints = {str(joint.get('name')): str(joint.get('type')) for joint in robot.findall('joint')}
    return Description(roots[0], parents, frozenset(fixed), joints)


@ARM.check('fr 1.5, 3.1; franka_arm.urdf.xacro')
def description_has_seven_turning_joints(driver: DriverClient) -> Evidence:
    """robot_description is URDF in which fr3_joint1 to fr3_joint7 are revolute."""
    description = _description(driver)
    kinds = {name: description.joints.get(name) for name in ARM_JOINTS}
    expect_equal('the types', kinds, dict.fromkeys(ARM_JOINTS, 'revolute'))
    return {'root': description.root}


@ARM.check('fr 1.5; franka.launch.py (robot_state_publisher)')
def transforms_follow_the_description(driver: DriverClient) -> Evidence:
    """On /tf every moving link is seen from its parent in robot_description."""
    description = _description(driver)
    wanted = {f'fr3_link{i}' for i in range(1, 8)}
    seen: dict[str, str] = {}

    def has_all(message: TFMessage) -> bool:
        seen.update(_parents(message))
        return wanted <= set(seen)

    with driver.listen(TFMessage, driver.transforms('/tf')) as ear:
        ear.wait_for(has_all, 'transforms of fr3_link1 to fr3_link7', driver.patience_s)
    for link in sorted(wanted):
        expect_equal(f'the parent of {link}', seen[link], description.parents[link])
    return {link: seen[link] for link in sorted(wanted)}


@ARM.check('fr 1.5; franka.launch.py (robot_state_publisher)')
def fixed_links_are_on_tf_static(driver: DriverClient) -> Evidence:
    """Links that do not move against their parent, such as fr3_link8, are on /tf_static."""
    description = _description(driver)
    seen: dict[str, str] = {}

    def has_flange(message: TFMessage) -> bool:
        seen.update(_parents(message))
        return FLANGE in seen

    with driver.listen(TFMessage, driver.transforms('/tf_static'), latched=True) as ear:
        ear.wait_for(has_flange, f'the transform of {FLANGE}', driver.patience_s)
    ours = {link: parent for link, parent in seen.items() if link in description.parents}
    for link, parent in ours.items():
        expect_equal(f'the parent of {link}', parent, description.parents[link])
        expect(link in description.fixed, f'fixed links of {description.fixed} only', link)
    return {'links': sorted(ours)}


@ARM.check('franka_robot_state.cpp initialize_robot_state_msg')
def poses_are_seen_from_the_root(driver: DriverClient) -> Evidence:
    """Poses, twists and forces with an O in robot_state are in the description's root link."""
    root = _description(driver).root
    state = _state(driver)
    frames = {
        name: getattr(state, name).header.frame_id
        for name in ('o_t_ee', 'o_t_ee_d', 'o_t_ee_c', 'o_dp_ee_d', 'o_dp_ee_c', 'o_f_ext_hat_k')
    }
    expect_equal('the frames', frames, dict.fromkeys(frames, root))
    return frames


@ARM.check('fr 1.6; franka_robot_state.cpp get_values_as_message')
def pose_is_that_of_the_joints(driver: DriverClient) -> Evidence:
    """o_t_ee is the flange as the joint positions have it, and f_t_ee after it."""
    state = _state(driver)
    q = np.array(state.measured_joint_state.position)
    wanted = link_frames(q)[FLANGE_INDEX] @ _matrix(state.f_t_ee.pose)
    seen = _matrix(state.o_t_ee.pose)
    expect_close('the place of the tool', seen[:3, 3], wanted[:3, 3], SAME_M)
    expect_close('its axes', seen[:3, :3].ravel(), wanted[:3, :3].ravel(), 0.02)
    return {'place': rounded(seen[:3, 3])}


@ARM.check('fr 1.5; franka_robot_state_broadcaster.cpp publishRunner')
def current_pose_is_that_of_robot_state(driver: DriverClient) -> Evidence:
    """current_pose and last_desired_pose are o_t_ee and o_t_ee_d, frames included."""
    state = _state(driver)
    evidence: dict[str, object] = {}
    for topic, part in (('current_pose', state.o_t_ee), ('last_desired_pose', state.o_t_ee_d)):
        pose = driver.hear(PoseStamped, f'{STATE}/{topic}')
        expect_equal(f'the frame of {topic}', pose.header.frame_id, part.header.frame_id)
        seen, wanted = _matrix(pose.pose), _matrix(part.pose)
        expect_close(f'the place in {topic}', seen[:3, 3], wanted[:3, 3], SAME_M)
        evidence[topic] = rounded(seen[:3, 3])
    return evidence


@ARM.check('fr 1.5; franka_robot_state_broadcaster.cpp publishRunner')
def wrenches_and_twist_have_their_frames(driver: DriverClient) -> Evidence:
    """The topics of both wrenches and of the twist have the frames that robot_state gives."""
    state = _state(driver)
    evidence: dict[str, object] = {}
    for topic, kind, part in (
        ('external_wrench_in_base_frame', WrenchStamped, state.o_f_ext_hat_k),
        ('external_wrench_in_stiffness_frame', WrenchStamped, state.k_f_ext_hat_k),
        ('desired_end_effector_twist', TwistStamped, state.o_dp_ee_d),
    ):
        frame = driver.hear(kind, f'{STATE}/{topic}').header.frame_id
        expect_equal(f'the frame of {topic}', frame, part.header.frame_id)
        evidence[topic] = frame
    return evidence


@HAND.check('fr 3.1; franka_hand.urdf.xacro')
def description_has_two_sliding_fingers(driver: DriverClient) -> Evidence:
    """robot_description has two prismatic fingers, fr3_hand and fr3_hand_tcp."""
    description = _description(driver)
    fingers = {name: description.joints.get(name) for name in FINGERS}
    expect_equal('the types', fingers, dict.fromkeys(FINGERS, 'prismatic'))
    for link in ('fr3_hand', TCP):
        expect(link in description.parents, f'a link {link}', sorted(description.parents))
    return fingers


@HAND.check('franka_robot_state.cpp (kStiffnessLinkIndex)')
def stiffness_frame_is_the_tool(driver: DriverClient) -> Evidence:
    """With a hand, the wrench of the stiffness frame is in fr3_hand_tcp."""
    frame = _state(driver).k_f_ext_hat_k.header.frame_id
    expect_equal('the frame', frame, TCP)
    return {'frame': frame}


def _description(driver: DriverClient) -> Description:
    return read_description(driver.hear(String, 'robot_description', latched=True).data)


def _state(driver: DriverClient) -> Any:
    return driver.hear(FrankaRobotState, f'{STATE}/robot_state')


def _parents(message: TFMessage) -> dict[str, str]:
    return {
        transform.child_frame_id: transform.header.frame_id for transform in message.transforms
    }


def _matrix(pose: Any) -> Any:
    """Return a pose as matrix, shape (4, 4); a quaternion that is no rotation fails the check."""
    q = pose.orientation
    x, y, z, w = q.x, q.y, q.z, q.w
    expect_close('the length of the quaternion', [x * x + y * y + z * z + w * w], [1.0], 1e-3)
    T = np.eye(4)
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    T[:3, 3] = pose.position.x, pose.position.y, pose.position.z
    return T
