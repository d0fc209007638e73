"""
The safety envelope: what no motion of this arm may do, whoever planned it.

Each field of `SafetyEnvelope` is one rule; its name stands in the file, and in the sentence with
which a motion is refused. `arm.envelope_file` reads the file, `arm.envelope_guard` holds motions
to it, `arm.ways` plans within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bbllm.arm.contacts import ContactLimits
from bbllm.arm.obstacles import Obstacle, Shape

KEEP_OUT_PREFIX = 'keep_out/'
"""Before the name of a box among obstacles, so that it is never taken for a thing."""
EXAMPLE_JOINT_NM = (35.0, 35.0, 32.0, 30.0, 29.0, 27.0, 24.0)
EXAMPLE_CONTACT_NM = (25.0, 25.0, 22.0, 20.0, 19.0, 17.0, 14.0)
EXAMPLE_WRENCH = (40.0, 40.0, 40.0, 35.0, 35.0, 35.0)
EXAMPLE_CONTACT_WRENCH = (30.0, 30.0, 30.0, 25.0, 25.0, 25.0)
"""Of franka_ros2's examples: torques from outside at which joints, and the wrench at which the
hand, have a collision, and those from which on they feel a contact [Nm; N, Nm]."""
PEAK_GRIP_N = 140.0
"""What the Franka Hand presses with at most, says its data sheet; 70 N continuously [N]."""


class Rule(str, Enum):
    """The rules, by the names that refusals carry."""

    WORKSPACE = 'workspace'
    TCP_SPEED = 'tcp_speed'
    JOINT_SPEED = 'joint_speed'
    GRIP_FORCE = 'grip_force'
    CONTACT_FORCE = 'contact_force'
    KEEP_OUT = 'keep_out'
    TABLE_HEIGHT = 'table_height'
    SELF_COLLISION = 'self_collision'
    STALE_SCENE = 'stale_scene'


Point = tuple[float, float, float]


class _Section(BaseModel):
    """What every rule has in common."""

    model_config = ConfigDict(extra='forbid', frozen=True, allow_inf_nan=False)


class Box(_Section):
    """A box along the axes of the base frame."""

    min_m: Point
    """Its corner with the smallest coordinates [m]."""
    max_m: Point
    """Its corner with the largest coordinates [m]."""

    @model_validator(mode='after')
    def _has_inside(self) -> Box:
        for axis, low, high in zip('xyz', self.min_m, self.max_m, strict=True):
            if not low < high:
                raise ValueError(
                    f'must have {axis} of min_m below that of max_m: {low:g} is not below {high:g}'
                )
        return self


class TcpSpeed(_Section):
    """How fast the tool may move."""

    max_m_s: Annotated[float, Field(gt=0, le=3.0)] = 1.7
    """The robot itself allows 3 [m/s]."""


class JointSpeed(_Section):
    """How fast the joints may turn."""

    max_share: Annotated[float, Field(gt=0, le=1.0)] = 1.0
    """Share of the velocity limits of the data sheet."""


class GripForce(_Section):
    """How hard the fingers may press."""

    max_n: Annotated[float, Field(gt=0, le=PEAK_GRIP_N)] = 70.0
    """Of both fingers together, as a grasp is asked for [N]."""


Torque = Annotated[float, Field(gt=0, le=100.0)]


class ContactForce(_Section):
    """
    Where the robot itself stops when it runs into something, which it looks at every millisecond.

    The defaults are those of franka_ros2's examples (default_robot_behavior_utils.hpp).
    """

    max_n: Annotated[float, Field(gt=0, le=100.0)] = 40.0
    """Force on the hand along each axis; libfranka's own examples go up to 100 [N]."""
    max_nm: Annotated[float, Field(gt=0, le=100.0)] = 35.0
    """Torque on the hand about each axis [Nm]."""
    max_joint_nm: tuple[Torque, Torque, Torque, Torque, Torque, Torque, Torque] = EXAMPLE_JOINT_NM
    """Torque from outside on each joint [Nm]."""

    @property
    def limits(self) -> ContactLimits:
        """Return what the robot is told; contacts are felt from a share of each value on."""
        wrench = (self.max_n,) * 3 + (self.max_nm,) * 3
        return ContactLimits(
            contact_joint_nm=_share(self.max_joint_nm, EXAMPLE_CONTACT_NM, EXAMPLE_JOINT_NM),
            collision_joint_nm=self.max_joint_nm,
            contact_wrench=_share(wrench, EXAMPLE_CONTACT_WRENCH, EXAMPLE_WRENCH),
            collision_wrench=wrench,
        )


def _share(
    values: Sequence[float], parts: Sequence[float], wholes: Sequence[float]
) -> tuple[float, ...]:
    """Return of each value the share that a part is of a whole."""
    pairs = zip(values, parts, wholes, strict=True)
    return tuple(value * part / whole for value, part, whole in pairs)


class TableHeight(_Section):
    """The plane that nothing of the moving arm goes below."""

    top_m: Annotated[float, Field(ge=-1.0, le=0.5)] = 0.0
    """Height of the table in the base frame [m]."""
    fingers_m: Annotated[float, Field(ge=0, le=0.02)] = 0.001
    """How far below that the finger tips may come [m]."""
    held_m: Annotated[float, Field(ge=0, le=0.02)] = 0.003
    """How far below that what is held may seem to be: where it is, is measured [m]."""


class SelfCollision(_Section):
    """Whether the arm may touch itself, or what it holds."""

    enabled: bool = True
    """False lets it."""


class StaleScene(_Section):
    """How old what is known of the table may be."""

    max_age_s: Annotated[float, Field(gt=0, le=60.0)] = 2.0
    """Nothing begins to move while the newest scene is older, by the wall clock [s]."""


def _plain(name: str) -> str:
    if not name.isidentifier():
        raise ValueError('must be one word, like laptop or left_wall')
    return name


class KeepOut(Box):
    """A box that nothing of the arm, the hand or what is held may enter."""

    name: Annotated[str, AfterValidator(_plain)]
    """What refusals call it."""

    @property
    def obstacle(self) -> Obstacle:
        """Return the box as the collision model knows things."""
        low, high = np.array(self.min_m), np.array(self.max_m)
        T_base_obstacle = np.eye(4)
        T_base_obstacle[:3, 3] = (low + high) / 2
        x, y, z = (high - low).tolist()
        return Obstacle(
            name=KEEP_OUT_PREFIX + self.name,
            shape=Shape.BOX,
            size_m=(x, y, z),
            T_base_obstacle=T_base_obstacle,
        )


def _no_twins(boxes: tuple[KeepOut, ...]) -> tuple[KeepOut, ...]:
    names = [box.name for box in boxes]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'must give every box a name of its own: {name} stands there twice')
    return boxes


class SafetyEnvelope(_Section):
    """All rules; one that a file leaves out is in force as it stands here."""

    workspace: Box = Box(min_m=(-0.25, -0.85, -0.02), max_m=(0.95, 0.85, 1.19))
    """Where the tool, and all of what is held, stays."""
    tcp_speed: TcpSpeed = TcpSpeed()
    joint_speed: JointSpeed = JointSpeed()
    grip_force: GripForce = GripForce()
    contact_force: ContactForce | None = ContactForce()
    """None, null in the file: what the robot has been told by others stays."""
    keep_out: Annotated[tuple[KeepOut, ...], AfterValidator(_no_twins)] = ()
    table_height: TableHeight = TableHeight()
    self_collision: SelfCollision = SelfCollision()
    stale_scene: StaleScene = StaleScene()


def kept_out(blockers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the boxes among what was touched on the way."""
    return tuple(
        name.removeprefix(KEEP_OUT_PREFIX) for name in blockers if name.startswith(KEEP_OUT_PREFIX)
    )


def refusal(rule: Rule, doing: str, why: str) -> str:
    """
    Return the sentence with which a motion is refused.

    Args:
        rule: What it breaks.
        doing: What the arm was about: `moving above red_cube`.
        why: What would be, what may be, and what would do.
    """
    return f'the safety rule {rule.value} forbids {doing}: {why}.'
