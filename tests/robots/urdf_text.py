"""Forward kinematics of a robot description, from its text alone."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

import numpy as np

Element = ElementTree.Element


def joints_of(robot: Element) -> dict[str, Element]:
    """Return the joints of a description by their names."""
    return {str(joint.get('name')): joint for joint in robot.findall('joint')}


def numbers(element: Element, tag: str, name: str, otherwise: str = '0 0 0') -> list[float]:
    """Return the numbers in an attribute of a child."""
    child = element.find(tag)
    text = otherwise if child is None else child.get(name, otherwise)
    return [float(word) for word in text.split()]


def step(joint: Element, value: float = 0.0) -> np.ndarray:
    """Return the child's frame in its parent at a joint position, shape (4, 4)."""
    roll, pitch, yaw = numbers(joint, 'origin', 'rpy')
    T = turned([0, 0, 1], yaw) @ turned([0, 1, 0], pitch) @ turned([1, 0, 0], roll)
    T[:3, 3] = numbers(joint, 'origin', 'xyz')
    axis = numbers(joint, 'axis', 'xyz', '1 0 0')
    if joint.get('type') == 'revolute':
        return T @ turned(axis, value)
    moved = np.eye(4)
    moved[:3, 3] = value * np.array(axis)
    return T @ moved


def chain(robot: Element, link: str, values: Mapping[str, float]) -> np.ndarray:
    """Return a link's frame in the root's, shape (4, 4)."""
    joints = {joint.find('child').get('link'): joint for joint in robot.findall('joint')}
    T = np.eye(4)
    while link in joints:
        joint = joints[link]
        T = step(joint, values.get(joint.get('name'), 0.0)) @ T
        link = joint.find('parent').get('link')
    return T


def turned(axis: Sequence[float], angle_rad: float) -> np.ndarray:
    """Return a rotation by Rodrigues' formula, shape (4, 4)."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle_rad) * K + (1 - np.cos(angle_rad)) * K @ K
    return T
