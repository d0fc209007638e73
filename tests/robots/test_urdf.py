"""The robot description against the published facts, by kinematics of its own."""

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pytest

from bbllm.robots.fr3 import FR3
from bbllm.robots.robot_model import FLANGE_SITE, TCP_SITE
from bbllm.robots.urdf import WORLD_BIT, robot_description
from tests.robots import fr3_published as published
from tests.robots.urdf_text import chain, joints_of, numbers


@pytest.fixture(scope='module')
def robot() -> ElementTree.Element:
    return ElementTree.fromstring(robot_description(FR3))


def floats(element: ElementTree.Element, tag: str) -> dict[str, float]:
    child = element.find(tag)
    return {} if child is None else {name: float(text) for name, text in child.items()}


def test_links_and_joints_are_the_published_ones(robot: ElementTree.Element) -> None:
    links = [link.get('name') for link in robot.findall('link')]

    assert robot.get('name') == 'fr3'
    assert sorted(links) == sorted({'base', *(joint.child for joint in published.JOINTS)})
    assert list(joints_of(robot)) == [joint.name for joint in published.JOINTS]


@pytest.mark.parametrize('wanted', published.JOINTS, ids=lambda joint: joint.name)
def test_a_joint_is_the_published_one(robot: ElementTree.Element, wanted: published.Joint) -> None:
    joint = joints_of(robot)[wanted.name]
    mimic = joint.find('mimic')

    assert joint.get('type') == wanted.kind
    assert joint.find('parent').get('link') == wanted.parent
    assert joint.find('child').get('link') == wanted.child
    assert numbers(joint, 'origin', 'xyz') == pytest.approx(wanted.xyz, abs=1e-9)
    assert numbers(joint, 'origin', 'rpy') == pytest.approx(wanted.rpy, abs=1e-9)
    assert (None if mimic is None else mimic.get('joint')) == published.MIMIC.get(wanted.name)
    if wanted.axis is None:
        assert joint.find('axis') is None
        assert joint.find('limit') is None
        return
    limits = {name: getattr(wanted, name) for name in ('lower', 'upper', 'effort', 'velocity')}
    soft = {'soft_lower_limit': wanted.lower, 'soft_upper_limit': wanted.upper}
    turns = wanted.kind == 'revolute'
    assert numbers(joint, 'axis', 'xyz') == pytest.approx(wanted.axis, abs=1e-9)
    assert floats(joint, 'limit') == pytest.approx(limits)
    assert floats(joint, 'safety_controller') == ({**published.SAFETY, **soft} if turns else {})
    assert floats(joint, 'dynamics') == published.DYNAMICS[wanted.kind]


def test_masses_and_inertias_are_the_published_ones(robot: ElementTree.Element) -> None:
    found = {link.get('name'): link.find('inertial') for link in robot.findall('link')}

    assert {name for name, inertial in found.items() if inertial is not None} == set(
        published.INERTIALS
    )
    for name, (mass_kg, centre_m, inertia) in published.INERTIALS.items():
        seen = floats(found[name], 'inertia')
        wanted = dict(zip(('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'), inertia, strict=True))
        assert floats(found[name], 'mass')['value'] == pytest.approx(mass_kg, rel=1e-11)
        assert numbers(found[name], 'origin', 'xyz') == pytest.approx(centre_m, abs=1e-12)
        assert numbers(found[name], 'origin', 'rpy') == [0, 0, 0]
        assert seen == pytest.approx(wanted, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize('width_m', [0.0, 0.07])
def test_no_shapes_touch_at_rest_that_moveit_checks(width_m: float) -> None:
    spec = FR3.spec()
    for pair in list(spec.excludes):
        spec.delete(pair)
    for geom in spec.geoms:
        # What collides in the description collides here with everything, and nothing else does.
        geom.contype = geom.conaffinity = geom.contype & WORLD_BIT
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = [*FR3.home_rad, width_m / 2, width_m / 2]
    mujoco.mj_forward(model, data)
    bodies = [model.geom_bodyid[contact.geom] for contact in data.contact]
    touching = {frozenset(model.body(i).name for i in pair) for pair in bodies}

    assert touching
    assert touching <= published.UNCHECKED


@pytest.mark.parametrize(
    ('site', 'link'), [(FLANGE_SITE, 'fr3_link8'), (TCP_SITE, 'fr3_hand_tcp')]
)
def test_frames_are_where_the_model_has_them(
    robot: ElementTree.Element, site: str, link: str
) -> None:
    angles = np.array([0.3, -0.6, 0.2, -2.1, -0.4, 1.8, 0.7])
    model = FR3.spec().compile()
    data = mujoco.MjData(model)
    data.qpos[:7] = angles
    mujoco.mj_kinematics(model, data)

    T_world_link = chain(robot, link, dict(zip(FR3.joints, angles, strict=True)))

    np.testing.assert_allclose(T_world_link[:3, 3], data.site(site).xpos, atol=1e-9)
    np.testing.assert_allclose(T_world_link[:3, :3].ravel(), data.site(site).xmat, atol=1e-9)
