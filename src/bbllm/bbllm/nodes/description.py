"""
The arm as URDF, for tools that show it: looks and names only, made from the model of the physics.

Poses come as transforms from whoever knows them, so every link hangs on the base by a joint
without a law of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as Xml

import mujoco
import numpy as np

from bbllm.arm.model import robot_spec

LOOKS_GROUP = 2
"""Geoms of this group are what the robot looks like (see `arm.model`)."""
BASE = 'fr3_link0'


def urdf() -> str:
    """Return the URDF of arm and hand."""
    model = robot_spec().compile()
    robot = Xml.Element('robot', name='fr3')
    for body in range(1, model.nbody):
        name = str(model.body(body).name)
        link = Xml.SubElement(robot, 'link', name=name)
        for geom in range(model.ngeom):
            if model.geom_bodyid[geom] == body and model.geom_group[geom] == LOOKS_GROUP:
                _add_visual(link, model, geom)
        if name != BASE:
            joint = Xml.SubElement(robot, 'joint', name=f'{name}_pose', type='floating')
            Xml.SubElement(joint, 'parent', link=BASE)
            Xml.SubElement(joint, 'child', link=name)
    return Xml.tostring(robot, encoding='unicode')


def _add_visual(link: Xml.Element, model: mujoco.MjModel, geom: int) -> None:
    rgba = ' '.join(f'{value:.3f}' for value in model.geom_rgba[geom])
    for shape, values, offset_m in _shapes(model, geom):
        visual = Xml.SubElement(link, 'visual')
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        R_link_geom = rotation.reshape(3, 3)
        position = model.geom_pos[geom] + R_link_geom @ np.array([0.0, 0.0, offset_m])
        Xml.SubElement(visual, 'origin', xyz=_text(position), rpy=_text(_rpy(R_link_geom)))
        Xml.SubElement(Xml.SubElement(visual, 'geometry'), shape, values)
        material = Xml.SubElement(visual, 'material', name=f'rgba {rgba}')
        Xml.SubElement(material, 'color', rgba=rgba)


def _shapes(model: mujoco.MjModel, geom: int) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield URDF shapes with their shift along the geom's z axis; a capsule is three [m]."""
    kind, size = mujoco.mjtGeom(int(model.geom_type[geom])), model.geom_size[geom]
    radius, half = f'{size[0]:.6f}', float(size[1])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        yield 'box', {'size': _text(2 * size)}, 0.0
    elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        yield 'sphere', {'radius': radius}, 0.0
    elif kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE):
        yield 'cylinder', {'radius': radius, 'length': f'{2 * half:.6f}'}, 0.0
        if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
            yield 'sphere', {'radius': radius}, half
            yield 'sphere', {'radius': radius}, -half


def _rpy(R: np.ndarray) -> np.ndarray:
    """Return roll, pitch and yaw of a rotation, shape (3,) [rad]."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if abs(np.cos(pitch)) < 1e-6:  # roll and yaw turn about the same axis: all to yaw
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def _text(values: np.ndarray) -> str:
    return ' '.join(f'{value:.6f}' for value in values)
