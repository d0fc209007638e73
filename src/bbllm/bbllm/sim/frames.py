"""The frames of a robot description, each seen from its parent, as robot_state_publisher does."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from bbllm.arm.driver import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameJoint:
    """How one link hangs on another."""

    name: str
    kind: str
    """As URDF names it: fixed, revolute, prismatic ..."""
    parent: str
    child: str
    position_m: Array
    """Of the child in the parent at zero, shape (3,) [m]."""
    quat_wxyz: Array
    """The same of its rotation, shape (4,)."""
    axis: Array
    """In the child's frame, shape (3,)."""

    @property
    def moves(self) -> bool:
        """Whether a joint state says where the child is."""
        return self.kind != 'fixed'

    def at(self, value: float) -> tuple[Array, Array]:
        """Return position [m] and quaternion (w, x, y, z) of the child at a joint position."""
        moved = np.empty(3)
        turned = np.empty(4)
        if self.kind == 'prismatic':
            mujoco.mju_rotVecQuat(moved, self.axis * value, self.quat_wxyz)
            return self.position_m + moved, self.quat_wxyz
        mujoco.mju_axisAngle2Quat(turned, self.axis, value)
        mujoco.mju_mulQuat(turned, self.quat_wxyz, turned.copy())
        return self.position_m, turned


class DescribedFrames:
    """All links of a robot description, split into those that move and those that do not."""

    def __init__(self, description: str) -> None:
        """Read URDF text."""
        joints = [_read(joint) for joint in ElementTree.fromstring(description).findall('joint')]
        self.moving = tuple(joint for joint in joints if joint.moves)
        self.fixed = tuple(joint for joint in joints if not joint.moves)

    def moved(self, positions: Mapping[str, float]) -> Iterator[tuple[FrameJoint, Array, Array]]:
        """Yield the moving links whose joint position is known, as `FrameJoint.at` has them."""
        for joint in self.moving:
            if joint.name in positions:
                yield (joint, *joint.at(positions[joint.name]))


def _read(joint: ElementTree.Element) -> FrameJoint:
    def attribute(tag: str, name: str, otherwise: str) -> str:
        found = joint.find(tag)
        return otherwise if found is None else found.get(name, otherwise)

    def numbers(tag: str, name: str, otherwise: str) -> Array:
        return np.array([float(word) for word in attribute(tag, name, otherwise).split()])

    quat = np.empty(4)
    # URDF turns about the fixed axes x, y, z in this order
    mujoco.mju_euler2Quat(quat, numbers('origin', 'rpy', '0 0 0'), 'XYZ')
    return FrameJoint(
        name=joint.get('name', ''),
        kind=joint.get('type', 'fixed'),
        parent=attribute('parent', 'link', ''),
        child=attribute('child', 'link', ''),
        position_m=numbers('origin', 'xyz', '0 0 0'),
        quat_wxyz=quat,
        axis=numbers('axis', 'xyz', '1 0 0'),
    )
