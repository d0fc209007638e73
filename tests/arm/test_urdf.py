from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import mujoco
import numpy as np
import pytest

from bbllm.arm.model import ARM_JOINTS, FINGER_JOINTS, FLANGE_SITE, TCP_SITE, robot_spec
from bbllm.arm.urdf import LOOKS, robot_description, roll_pitch_yaw


@pytest.fixture(scope='module')
def robot() -> ElementTree.Element:
    return ElementTree.fromstring(robot_description())


def test_description_has_the_joints_of_the_driver_and_one_root(robot: ElementTree.Element) -> None:
    moving = [
        joint.get('name') for joint in robot.findall('joint') if joint.get('type') != 'fixed'
    ]
    links = {link.get('name') for link in robot.findall('link')}
    children = [child.get('link') for child in robot.iterfind('joint/child')]

    sliding = [x.get('name') for x in robot.findall('joint') if x.get('type') == 'prismatic']

    assert moving == [*ARM_JOINTS, *FINGER_JOINTS]
    assert sliding == list(FINGER_JOINTS)
    assert len(children) == len(set(children))
    assert links - set(children) == {'fr3_link0'}


@pytest.mark.parametrize(
    ('site', 'link'), [(FLANGE_SITE, 'fr3_link8'), (TCP_SITE, 'fr3_hand_tcp')]
)
def test_frames_are_where_the_model_has_them(
    robot: ElementTree.Element, site: str, link: str
) -> None:
    angles = np.array([0.3, -0.6, 0.2, -2.1, -0.4, 1.8, 0.7])
    model = robot_spec().compile()
    data = mujoco.MjData(model)
    data.qpos[:7] = angles
    mujoco.mj_kinematics(model, data)

    T_world_link = chain(robot, link, dict(zip(ARM_JOINTS, angles, strict=True)))

    np.testing.assert_allclose(T_world_link[:3, 3], data.site(site).xpos, atol=1e-5)
    np.testing.assert_allclose(T_world_link[:3, :3].ravel(), data.site(site).xmat, atol=1e-5)


def test_every_drawn_shape_is_there_and_a_capsule_is_three(robot: ElementTree.Element) -> None:
    model = robot_spec().compile()
    drawn = model.geom_type[model.geom_group == LOOKS]
    capsules = int((drawn == int(mujoco.mjtGeom.mjGEOM_CAPSULE)).sum())

    assert capsules > 0
    assert len(robot.findall('link/visual')) == len(drawn) + 2 * capsules


@pytest.mark.parametrize(
    'quat',
    [*np.random.default_rng(0).normal(size=(20, 4)), [1, 0, 1, 0], [1, 1, 1, 1], [1, 1, -1, 1]],
    ids=str,
)
def test_roll_pitch_and_yaw_give_the_rotation_again(quat: Sequence[float]) -> None:
    unit = np.array(quat) / np.linalg.norm(quat)
    expected = np.empty(9)
    mujoco.mju_quat2Mat(expected, unit)

    roll, pitch, yaw = roll_pitch_yaw(unit)

    found = turned([0, 0, 1], yaw) @ turned([0, 1, 0], pitch) @ turned([1, 0, 0], roll)
    np.testing.assert_allclose(found[:3, :3].ravel(), expected, atol=1e-4)


def chain(robot: ElementTree.Element, link: str, angles: dict[str, float]) -> np.ndarray:
    """Multiply the joints from the root to a link, by URDF's own conventions."""
    parents = {joint.find('child').get('link'): joint for joint in robot.findall('joint')}
    T = np.eye(4)
    while link in parents:
        joint = parents[link]
        origin = joint.find('origin')
        roll, pitch, yaw = (float(part) for part in origin.get('rpy').split())
        here = turned([0, 0, 1], yaw) @ turned([0, 1, 0], pitch) @ turned([1, 0, 0], roll)
        here[:3, 3] = [float(part) for part in origin.get('xyz').split()]
        if joint.get('name') in angles:
            axis = [float(part) for part in joint.find('axis').get('xyz').split()]
            here = here @ turned(axis, angles[joint.get('name')])
        T = here @ T
        link = joint.find('parent').get('link')
    return T


def turned(axis: list[float], angle_rad: float) -> np.ndarray:
    """Return a rotation by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle_rad) * K + (1 - np.cos(angle_rad)) * K @ K
    return T
