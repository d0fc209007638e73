"""The FR3's model as a robot description in URDF, for rviz."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from typing import Any

import mujoco
import numpy as np

from bbllm.arm.model import FLANGE_SITE, TCP_SITE, robot_spec

LOOKS = 2
"""The geom group that is drawn."""
FRAMES = {FLANGE_SITE: 'fr3_link8', TCP_SITE: 'fr3_hand_tcp'}
"""Sites that are links of the driver's description."""
EFFORT, SPEED = '100', '3'
"""URDF demands such limits of a joint [N or Nm, m/s or rad/s]; rviz does not read them."""


def robot_description() -> str:
    """
    Return links, joints and looks of arm and hand as URDF text.

    Names and frames are those of the driver's description.  Masses and collision shapes are left
    out: they stand in the model itself.
    """
    model = robot_spec().compile()
    robot = ElementTree.Element('robot', name='fr3')
    for i in range(1, model.nbody):
        body = model.body(i)
        link = ElementTree.SubElement(robot, 'link', name=body.name)
        for geom in range(model.ngeom):
            if model.geom_bodyid[geom] == i and model.geom_group[geom] == LOOKS:
                _add_look(link, model.geom(geom))
        if body.parentid[0]:
            _add_joint(robot, model, i)
    for site, name in FRAMES.items():
        ElementTree.SubElement(robot, 'link', name=name)
        parent = model.body(model.site(site).bodyid[0]).name
        joint = _joint(robot, f'{name}_joint', 'fixed', parent, name)
        _add_origin(joint, model.site(site).pos, model.site(site).quat)
    return ElementTree.tostring(robot, encoding='unicode')


def _add_joint(robot: ElementTree.Element, model: mujoco.MjModel, i: int) -> None:
    body = model.body(i)
    parent = model.body(body.parentid[0]).name
    if not body.jntnum[0]:
        joint = _joint(robot, f'{body.name}_joint', 'fixed', parent, body.name)
        _add_origin(joint, body.pos, body.quat)
        return
    moving = model.joint(body.jntadr[0])
    slides = mujoco.mjtJoint(int(moving.type[0])) == mujoco.mjtJoint.mjJNT_SLIDE
    kind = 'prismatic' if slides else 'revolute'
    joint = _joint(robot, moving.name, kind, parent, body.name)
    _add_origin(joint, body.pos, body.quat)
    ElementTree.SubElement(joint, 'axis', xyz=_text(moving.axis))
    low, high = moving.range.tolist()
    limits = {'lower': f'{low:.6g}', 'upper': f'{high:.6g}', 'effort': EFFORT, 'velocity': SPEED}
    ElementTree.SubElement(joint, 'limit', limits)


def _joint(
    robot: ElementTree.Element, name: str, kind: str, parent: str, child: str
) -> ElementTree.Element:
    joint = ElementTree.SubElement(robot, 'joint', name=name, type=kind)
    ElementTree.SubElement(joint, 'parent', link=parent)
    ElementTree.SubElement(joint, 'child', link=child)
    return joint


def _add_look(link: ElementTree.Element, geom: Any) -> None:
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, geom.quat)
    along = rotation.reshape(3, 3)[:, 2]  # the geom's z axis in its link
    color = _text(geom.rgba)
    for shape, values, shift_m in _shapes(geom):
        visual = ElementTree.SubElement(link, 'visual')
        _add_origin(visual, geom.pos + shift_m * along, geom.quat)
        ElementTree.SubElement(ElementTree.SubElement(visual, 'geometry'), shape, values)
        material = ElementTree.SubElement(visual, 'material', name=f'rgba {color}')
        ElementTree.SubElement(material, 'color', rgba=color)


def _shapes(geom: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield URDF shapes and their shift along the geom's z axis [m]; a capsule is three."""
    kind = mujoco.mjtGeom(int(geom.type[0]))
    x, y, _ = geom.size.tolist()
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        yield 'box', {'size': _text(2 * geom.size)}, 0.0
    elif kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE):
        yield 'cylinder', {'radius': f'{x:.6g}', 'length': f'{2 * y:.6g}'}, 0.0
        if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
            yield 'sphere', {'radius': f'{x:.6g}'}, y
            yield 'sphere', {'radius': f'{x:.6g}'}, -y
    else:
        raise ValueError(f'no URDF shape is written for {kind.name}')


def _add_origin(
    element: ElementTree.Element, position_m: Sequence[float], quat_wxyz: Sequence[float]
) -> None:
    turns = _text(roll_pitch_yaw(quat_wxyz))
    ElementTree.SubElement(element, 'origin', xyz=_text(position_m), rpy=turns)


def roll_pitch_yaw(quat_wxyz: Sequence[float]) -> tuple[float, float, float]:
    """Return the turns about the fixed x, y and z axes, in this order, as URDF has them [rad]."""
    w, x, y, z = quat_wxyz
    sine = max(-1.0, min(1.0, 2 * (w * y - z * x)))
    if abs(sine) > 1 - 1e-9:  # roll and yaw turn about the same axis: all to yaw
        return 0.0, math.copysign(math.pi / 2, sine), -math.copysign(2.0, sine) * math.atan2(x, w)
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, math.asin(sine), yaw


def _text(numbers: Sequence[float]) -> str:
    return ' '.join(f'{number:.6g}' for number in numbers)
