"""The arm as URDF: the same links and shapes as in the physics."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import mujoco
import numpy as np
import pytest

from bbllm.arm.model import robot_spec
from bbllm.nodes.description import LOOKS_GROUP, _rpy, urdf

pytestmark = pytest.mark.ros


def test_every_link_is_there_and_hangs_on_the_base() -> None:
    robot = Xml.fromstring(urdf())
    model = robot_spec().compile()

    names = {model.body(i).name for i in range(1, model.nbody)}
    assert {link.get('name') for link in robot.iter('link')} == names
    assert {joint.find('child').get('link') for joint in robot.iter('joint')} == names - {  # type: ignore[union-attr]
        'fr3_link0'
    }
    assert {joint.find('parent').get('link') for joint in robot.iter('joint')} == {'fr3_link0'}  # type: ignore[union-attr]


def test_everything_that_can_be_seen_has_a_shape() -> None:
    model = robot_spec().compile()
    seen = sum(int(group) == LOOKS_GROUP for group in model.geom_group)

    assert len(list(Xml.fromstring(urdf()).iter('visual'))) >= seen > 10


@pytest.mark.parametrize('seed', range(20))
def test_roll_pitch_yaw_give_the_rotation_again(seed: int) -> None:
    quat = np.random.default_rng(seed).normal(size=4)
    if seed == 0:
        quat = np.array([1.0, 0.0, 1.0, 0.0])  # straight up: roll and yaw are one
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quat / np.linalg.norm(quat))
    R = R.reshape(3, 3)

    roll, pitch, yaw = _rpy(R)

    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    np.testing.assert_allclose(Rz @ Ry @ Rx, R, atol=1e-9)
