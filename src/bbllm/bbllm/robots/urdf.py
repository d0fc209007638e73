"""
The robot description: an arm with its hand as URDF text, from its record and its MuJoCo model.

Names of joints and frames, dynamics and safety controllers are those of franka_description 1.0.1.
The shapes are those of the MuJoCo model: what is drawn there is a visual, what touches the world a
collision.
"""

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from bbllm.robots.joint_limits import Array
from bbllm.robots.robot_model import FLANGE_SITE, TCP_SITE, RobotModel

BASE_LINK = 'base'
"""The root; the base of the robot is fixed to it, at the same place."""
VISUAL_GROUP = 2
"""The geom group that is drawn."""
WORLD_BIT = 1
"""The contact bit of the world."""

# franka_description 1.0.1: robots/fr3/dynamics.yaml, robots/common/utils.xacro (franka-limits),
# end_effectors/common/franka_hand.xacro.
_ARM_DYNAMICS = {'damping': '0.003', 'friction': '0.2'}
_ARM_SAFETY = {'k_position': '100', 'k_velocity': '40'}
_FINGER_DYNAMICS = {'damping': '0.3'}
_FINGER_EFFORT_N = 100.0
_FINGER_SPEED_M_S = 0.2

Frame = tuple[Array, Array]
"""Position, shape (3,) [m], and quaternion (w, x, y, z), shape (4,)."""


Element = ElementTree.Element
_add = ElementTree.SubElement


def robot_description(robot: RobotModel) -> str:
    """Return links, joints, visuals, collision shapes and inertials of arm and hand."""
    spec, hand, limits = robot.spec(), robot.hand, robot.limits
    model = spec.compile()
    tree = Element('robot', name=robot.name)
    for name in (BASE_LINK, robot.flange_link, robot.tcp_link):  # frames only
        _add(tree, 'link', name=name)
    for body in spec.bodies[1:]:  # the first is the world
        _add_link(tree, model, body)

    base = _frame(model.body(robot.base_link))
    _joint(tree, f'{robot.name}_base_joint', 'fixed', BASE_LINK, robot.base_link, base)
    for i, name in enumerate(robot.joints):
        joint = _moving(tree, name, robot.links[i], model)
        lower, upper = limits.lower_rad[i], limits.upper_rad[i]
        _add_limit(joint, lower, upper, limits.torque_nm[i], limits.velocity_rad_s[i])
        soft = {'soft_lower_limit': _text([lower]), 'soft_upper_limit': _text([upper])}
        _add(joint, 'safety_controller', {**_ARM_SAFETY, **soft})
        _add(joint, 'dynamics', _ARM_DYNAMICS)
    # In the model the hand hangs on the last link, and the flange is a site of the hand.
    hand_flange = _frame(model.site(FLANGE_SITE))
    last, flange = robot.links[-1], robot.flange_link
    last_flange = _composed(_frame(model.body(hand.body)), hand_flange)
    _joint(tree, f'{robot.name}_joint8', 'fixed', last, flange, last_flange)
    _joint(tree, f'{robot.name}_hand_joint', 'fixed', flange, hand.body, _inverse(hand_flange))
    tcp = _frame(model.site(TCP_SITE))
    _joint(tree, f'{robot.name}_hand_tcp_joint', 'fixed', hand.body, robot.tcp_link, tcp)
    leader, follower = hand.joints
    for name in hand.joints:
        joint = _moving(tree, name, hand.body, model)
        _add_limit(joint, 0.0, hand.max_width_m / 2, _FINGER_EFFORT_N, _FINGER_SPEED_M_S)
        _add(joint, 'dynamics', _FINGER_DYNAMICS)
        if name == follower:
            _add(joint, 'mimic', joint=leader)
    return ElementTree.tostring(tree, encoding='unicode')


def _add_link(robot: Element, model: mujoco.MjModel, body: Any) -> None:
    link = _add(robot, 'link', name=body.name)
    for geom in (model.geom(i) for i in range(model.ngeom)):
        if model.body(geom.bodyid[0]).name != body.name:
            continue
        if geom.group[0] == VISUAL_GROUP:
            color = _text(geom.rgba)
            for visual in _add_shapes(link, 'visual', geom):
                material = _add(visual, 'material', name=f'rgba {color}')
                _add(material, 'color', rgba=color)
        if geom.contype[0] & WORLD_BIT:
            _add_shapes(link, 'collision', geom)
    inertial = _add(link, 'inertial')
    _add(inertial, 'origin', xyz=_text(body.ipos), rpy='0 0 0')
    _add(inertial, 'mass', value=_text([body.mass]))
    names = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
    values = (_text([value]) for value in body.fullinertia)
    _add(inertial, 'inertia', dict(zip(names, values, strict=True)))


def _moving(robot: Element, name: str, parent: str, model: mujoco.MjModel) -> Element:
    moving = model.joint(name)
    slides = mujoco.mjtJoint(int(moving.type[0])) == mujoco.mjtJoint.mjJNT_SLIDE
    child = model.body(moving.bodyid[0])
    kind = 'prismatic' if slides else 'revolute'
    joint = _joint(robot, name, kind, parent, child.name, _frame(child))
    _add(joint, 'axis', xyz=_text(moving.axis))
    return joint


def _joint(
    robot: Element, name: str, kind: str, parent: str, child: str, origin: Frame
) -> Element:
    joint = _add(robot, 'joint', name=name, type=kind)
    _add(joint, 'parent', link=parent)
    _add(joint, 'child', link=child)
    _add_origin(joint, *origin)
    return joint


def _add_limit(joint: Element, *figures: float) -> None:
    names = ('lower', 'upper', 'effort', 'velocity')
    _add(joint, 'limit', {name: _text([x]) for name, x in zip(names, figures, strict=True)})


def _frame(part: Any) -> Frame:
    return part.pos, part.quat


def _composed(outer: Frame, inner: Frame) -> Frame:
    position, quat = np.empty(3), np.empty(4)
    mujoco.mju_mulPose(position, quat, *outer, *inner)
    return position, quat


def _inverse(frame: Frame) -> Frame:
    position, quat = np.empty(3), np.empty(4)
    mujoco.mju_negPose(position, quat, *frame)
    return position, quat


def _add_shapes(link: Element, tag: str, geom: Any) -> list[Element]:
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, geom.quat)
    along = rotation.reshape(3, 3)[:, 2]  # the geom's z axis in its link
    added = []
    for shape, values, shift_m in _shapes(geom):
        element = _add(link, tag)
        _add_origin(element, geom.pos + shift_m * along, geom.quat)
        _add(_add(element, 'geometry'), shape, values)
        added.append(element)
    return added


def _shapes(geom: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield URDF shapes and their shift along the geom's z axis [m]; a capsule is three."""
    kind = mujoco.mjtGeom(int(geom.type[0]))
    x, y, _ = geom.size.tolist()
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        yield 'box', {'size': _text(2 * geom.size)}, 0.0
    elif kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE):
        yield 'cylinder', {'radius': _text([x]), 'length': _text([2 * y])}, 0.0
        if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
            yield 'sphere', {'radius': _text([x])}, y
            yield 'sphere', {'radius': _text([x])}, -y
    else:
        raise ValueError(f'no URDF shape is written for {kind.name}')


def _add_origin(element: Element, position_m: Array, quat_wxyz: Array) -> None:
    turns = _text(roll_pitch_yaw(quat_wxyz))
    _add(element, 'origin', xyz=_text(position_m), rpy=turns)


def roll_pitch_yaw(quat_wxyz: Sequence[float] | Array) -> tuple[float, float, float]:
    """Return the turns about the fixed x, y and z axes, in this order, as URDF has them [rad]."""
    w, x, y, z = quat_wxyz
    sine = max(-1.0, min(1.0, 2 * (w * y - z * x)))
    if abs(sine) > 1 - 1e-9:  # roll and yaw turn about the same axis: all to yaw
        return 0.0, math.copysign(math.pi / 2, sine), -math.copysign(2.0, sine) * math.atan2(x, w)
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, math.asin(sine), yaw


def _text(numbers: Sequence[float] | Array) -> str:
    """Write numbers without the noise of their rounding."""
    return ' '.join(f'{0.0 if abs(x) < 1e-12 else x:.12g}' for x in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameJoint:
    """How one link hangs on another."""

    name: str
    kind: str
    """As URDF names it: fixed, revolute, prismatic ..."""
    parent: str
    child: str
    position_m: Array
    """Of the child in the parent at zero, shape (3,)."""
    quat_wxyz: Array
    """The same of its rotation, shape (4,)."""
    axis: Array
    """In the child's frame, shape (3,)."""

    @property
    def moves(self) -> bool:
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
        joints = [_read(joint) for joint in ElementTree.fromstring(description).findall('joint')]
        self.moving = tuple(joint for joint in joints if joint.moves)
        self.fixed = tuple(joint for joint in joints if not joint.moves)

    def moved(self, positions: Mapping[str, float]) -> Iterator[tuple[FrameJoint, Array, Array]]:
        """Yield the moving links whose joint position is known, as `FrameJoint.at` has them."""
        for joint in self.moving:
            if joint.name in positions:
                yield (joint, *joint.at(positions[joint.name]))


def _read(joint: Element) -> FrameJoint:
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
