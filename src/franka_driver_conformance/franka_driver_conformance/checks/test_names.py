"""Types and qualities of service, as the ROS graph shows them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import CheckFailedError, expect
from franka_driver_conformance.manager import ACTIVITY, ROBOT_STATE, STATE

Wanted = dict[str, str]


def services(folder: str, package: str, *kinds: str) -> Wanted:
    return {f'{folder}/{_snake(kind)}': f'{package}/srv/{kind}' for kind in kinds}


def _snake(kind: str) -> str:
    words = ''.join(f'_{letter}' if letter.isupper() else letter for letter in kind)
    return words.lower().strip('_').replace('t_c_p', 'tcp')


ACTIONS: dict[str, Wanted] = {
    'arm-follows-trajectories-as-an-action': {
        '{arm}/follow_joint_trajectory': 'control_msgs/action/FollowJointTrajectory'
    },
    'error-recovery-is-an-action': {
        'action_server/error_recovery': 'franka_msgs/action/ErrorRecovery'
    },
    'robot-side-motions-are-an-action': {
        'action_server/ptp_motion': 'franka_msgs/action/PTPMotion'
    },
    'hand-has-three-actions-of-its-own': {
        f'{{hand}}/{kind.lower()}': f'franka_msgs/action/{kind}'
        for kind in ('Homing', 'Move', 'Grasp')
    },
    'hand-has-an-action-for-moveit': {
        '{hand}/gripper_action': 'control_msgs/action/GripperCommand'
    },
}
SERVICES: dict[str, Wanted] = {
    'arm-answers-where-its-trajectory-will-be': {
        '{arm}/query_state': 'control_msgs/srv/QueryTrajectoryState'
    },
    'thresholds-and-load-are-services': services(
        *('service_server', 'franka_msgs', 'SetForceTorqueCollisionBehavior'),
        *('SetFullCollisionBehavior', 'SetLoad'),
    ),
    'stiffness-and-frames-are-services': services(
        *('service_server', 'franka_msgs', 'SetJointStiffness', 'SetCartesianStiffness'),
        *('SetTCPFrame', 'SetStiffnessFrame'),
    ),
    'controllers-and-hardware-are-switched-by-services': services(
        *('controller_manager', 'controller_manager_msgs', 'ListControllers', 'SwitchController'),
        *('ListHardwareComponents', 'SetHardwareComponentState'),
    ),
    'controllers-are-loaded-by-services': services(
        *('controller_manager', 'controller_manager_msgs', 'LoadController', 'UnloadController'),
        *('ConfigureController', 'ListControllerTypes', 'ListHardwareInterfaces'),
    ),
    'hand-is-stopped-by-a-service': {'{hand}/stop': 'std_srvs/srv/Trigger'},
}
POSE, WRENCH = 'geometry_msgs/msg/PoseStamped', 'geometry_msgs/msg/WrenchStamped'
JOINTS = 'sensor_msgs/msg/JointState'
CONVENIENCE = {
    f'{STATE}/current_pose': POSE,
    f'{STATE}/last_desired_pose': POSE,
    f'{STATE}/desired_end_effector_twist': 'geometry_msgs/msg/TwistStamped',
    f'{STATE}/measured_joint_states': JOINTS,
    f'{STATE}/desired_joint_states': JOINTS,
    f'{STATE}/external_joint_torques': JOINTS,
    f'{STATE}/external_wrench_in_base_frame': WRENCH,
    f'{STATE}/external_wrench_in_stiffness_frame': WRENCH,
}
TOPICS: dict[str, Wanted] = {
    'arm-tells-its-controller-state': {
        '{arm}/controller_state': 'control_msgs/msg/JointTrajectoryControllerState'
    },
    'activity-is-kept-for-those-who-come-later': {
        ACTIVITY: 'controller_manager_msgs/msg/ControllerManagerActivity'
    },
    'robot-state-is-reliable': {ROBOT_STATE: 'franka_msgs/msg/FrankaRobotState'},
    'convenience-topics-are-best-effort': CONVENIENCE,
    'joint-states-of-the-arm-are-reliable': {'franka/joint_states': JOINTS},
    'joint-states-of-everything-are-on-one-topic': {'joint_states': JOINTS},
    'robot-description-is-kept': {'robot_description': 'std_msgs/msg/String'},
    'joint-states-of-the-hand-are-reliable': {'{hand}/joint_states': JOINTS},
}
QUALITIES = {
    'activity-is-kept-for-those-who-come-later': 'reliable, transient local',
    'robot-state-is-reliable': 'reliable, volatile',
    'convenience-topics-are-best-effort': 'best effort',
    'robot-description-is-kept': 'reliable, transient local',
}


def rows(table: dict[str, Wanted]) -> list[Any]:
    return [
        pytest.param(check, wanted, id=check, marks=[pytest.mark.hand] * ('{hand}' in str(wanted)))
        for check, wanted in table.items()
    ]


def named(driver: DriverClient, wanted: Wanted) -> Wanted:
    return {
        driver.full_name(name.format(arm=driver.controller, hand=driver.gripper)): kind
        for name, kind in wanted.items()
    }


def expect_served(
    driver: DriverClient, listed: Callable[[], dict[str, list[str]]], wanted: Wanted
) -> None:
    full = named(driver, wanted)
    with suppress(CheckFailedError):  # reported below, with the names
        driver.wait_until(lambda: set(full) <= set(listed()), 'all of them')
    found = listed()
    expect(set(full) <= set(found), 'all to be served', f'{set(full) - set(found)} missing')
    assert {name: found[name] for name in full} == {name: [kind] for name, kind in full.items()}


def expect_topic(driver: DriverClient, topic: str, kind: str, quality: str) -> None:
    for end in driver.publishers(topic):
        assert end.topic_type == kind, topic
        profile = end.qos_profile
        reliable = profile.reliability is ReliabilityPolicy.RELIABLE
        kept = profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
        seen = {'reliable' if reliable else 'best effort'}
        seen |= {'transient local' if kept else 'volatile'}
        expect(set(quality.split(', ')) <= seen, f'{topic} to be {quality}', seen)


@pytest.mark.parametrize(('check', 'wanted'), rows(ACTIONS))
def test_actions(driver: DriverClient, check: str, wanted: Wanted) -> None:
    expect_served(driver, driver.actions, wanted)


@pytest.mark.parametrize(('check', 'wanted'), rows(SERVICES))
def test_services(driver: DriverClient, check: str, wanted: Wanted) -> None:
    expect_served(driver, driver.services, wanted)


@pytest.mark.parametrize(('check', 'wanted'), rows(TOPICS))
def test_topics(driver: DriverClient, check: str, wanted: Wanted) -> None:
    for topic, kind in named(driver, wanted).items():
        expect_topic(driver, topic, kind, QUALITIES.get(check, 'reliable'))


def test_arm_listens_to_trajectories_on_a_topic(driver: DriverClient) -> None:
    topic = driver.full_name(f'{driver.controller}/joint_trajectory')
    subscriptions = driver.node.get_subscriptions_info_by_topic
    driver.wait_until(lambda: subscriptions(topic), f'a subscriber of {topic}')
    types = {end.topic_type for end in subscriptions(topic)}
    assert types == {'trajectory_msgs/msg/JointTrajectory'}


def test_fixed_transforms_are_kept(driver: DriverClient) -> None:
    for topic, quality in (('/tf', 'volatile'), ('/tf_static', 'transient local')):
        expect_topic(driver, driver.transforms(topic), 'tf2_msgs/msg/TFMessage', quality)


def test_each_state_has_one_author(driver: DriverClient) -> None:
    for topic in ('franka/joint_states', ROBOT_STATE, ACTIVITY):
        assert len(driver.publishers(topic)) == 1, topic
