"""
The safety envelope: the rules that every motion of the arm obeys, whatever planned it.

Each field of `SafetyEnvelope` is one rule; its name stands in the file, and in the sentence with
which a motion is refused. `load_envelope` reads the file (config/safety.yaml by default),
`arm.safety.envelope_guard` checks motions against it, `arm.motion.motion_planner` plans within it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from bbllm.arm.driver import ContactLimits
from bbllm.arm.obstacles import Obstacle, ObstacleShape
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.text import escape_line
from bbllm.core.types import SceneObject
from bbllm.files.yaml_files import FileRecord, UniqueKeysLoader, YamlFiles, explain
from bbllm.skills.constraints import Never, fault_of, parse_never

KEEP_OUT_PREFIX = 'keep_out/'
"""Before the name of a box among obstacles, so that it is never taken for an object."""
EXAMPLE_JOINT_NM = (35.0, 35.0, 32.0, 30.0, 29.0, 27.0, 24.0)
EXAMPLE_CONTACT_NM = (25.0, 25.0, 22.0, 20.0, 19.0, 17.0, 14.0)
EXAMPLE_WRENCH = (40.0, 40.0, 40.0, 35.0, 35.0, 35.0)
EXAMPLE_CONTACT_WRENCH = (30.0, 30.0, 30.0, 25.0, 25.0, 25.0)
"""Of franka_ros2's examples: torques from outside at which joints, and the wrench at which the
hand, have a collision, and those from which on they feel a contact [Nm; N, Nm]."""
FARTHEST_M = 3.0
"""Largest coordinate of a corner: what is larger was hardly meant in metres [m]."""
SHOULDER_M = (0.0, 0.0, 0.333)
"""The point in the base frame about which the arm swings [m]."""
REACH_M = 1.2
"""How far from the shoulder any part comes at most: the arm with its finger tips 1.0 m, and what
they hold [m]."""
CARRIED_M = 0.5
"""How high above the table arm and objects are in nearly all motions [m]."""
PEAK_GRIP_N = 140.0
"""Peak force of the Franka Hand by its data sheet; 70 N continuously [N]."""


class SafetyRule(StrEnum):
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
Nevers = tuple[Never, ...]


class _Section(FileRecord):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


def _near(value: float) -> float:
    if abs(value) > FARTHEST_M:
        raise ValueError(
            f'{value:g} m is more than {FARTHEST_M:g} m from the base of the robot; lengths are '
            f'in metres: {value:g} mm is {value / 1000:g}'
        )
    return value


Coordinate = Annotated[float, AfterValidator(_near)]


class _Corners(_Section):
    """A box along the axes of the base frame; coordinates within `FARTHEST_M` of its origin."""

    min_m: tuple[Coordinate, Coordinate, Coordinate]
    max_m: tuple[Coordinate, Coordinate, Coordinate]

    @model_validator(mode='after')
    def _has_inside(self) -> _Corners:
        for axis, low, high in zip('xyz', self.min_m, self.max_m, strict=True):
            if not low < high:
                raise ValueError(
                    f'{axis} of min_m must be below that of max_m: {low:g} is not below {high:g}'
                )
        return self

    def __str__(self) -> str:
        """Return size and corners, as in `0.4 x 0.4 x 0.3 m, from (0.2, 0.5, 0) to (..) m`."""
        sides = ' x '.join(
            f'{high - low:.3g}' for low, high in zip(self.min_m, self.max_m, strict=True)
        )
        start, end = (', '.join(f'{x:g}' for x in point) for point in (self.min_m, self.max_m))
        return f'{sides} m, from ({start}) to ({end}) m'


class TcpSpeed(_Section):
    """How fast the tool may move."""

    max_m_s: Annotated[float, Field(gt=0, le=3.0)] = 1.7
    """The robot itself allows 3 [m/s]."""


class JointSpeed(_Section):
    """How fast the joints may turn."""

    max_share: Annotated[float, Field(gt=0, le=1.0)] = 1.0


class GripForce(_Section):
    """How hard the fingers may press."""

    max_n: Annotated[float, Field(gt=0, le=PEAK_GRIP_N)] = 70.0
    """Of both fingers together, as a grasp is asked for [N]."""


Torque = Annotated[float, Field(gt=0, le=100.0)]


class ContactForce(_Section):
    """
    The contact forces at which the robot itself stops, checked every millisecond.

    The defaults are those of franka_ros2's examples (default_robot_behavior_utils.hpp).
    """

    max_n: Annotated[float, Field(gt=0, le=100.0)] = 40.0
    """Force on the hand along each axis; libfranka's own examples go up to 100 [N]."""
    max_nm: Annotated[float, Field(gt=0, le=100.0)] = 35.0
    max_joint_nm: tuple[Torque, Torque, Torque, Torque, Torque, Torque, Torque] = EXAMPLE_JOINT_NM

    @property
    def limits(self) -> ContactLimits:
        """Return the robot's thresholds; contacts begin at a share of each value."""
        wrench = (self.max_n,) * 3 + (self.max_nm,) * 3
        return ContactLimits(
            contact_joint_nm=_share(self.max_joint_nm, EXAMPLE_CONTACT_NM, EXAMPLE_JOINT_NM),
            collision_joint_nm=self.max_joint_nm,
            contact_wrench=_share(wrench, EXAMPLE_CONTACT_WRENCH, EXAMPLE_WRENCH),
            collision_wrench=wrench,
        )


def _share(*columns: Sequence[float]) -> tuple[float, ...]:
    """Return of each value the share that a part is of a whole."""
    return tuple(value * part / whole for value, part, whole in zip(*columns, strict=True))


class TableHeight(_Section):
    """The plane that nothing of the moving arm goes below."""

    top_m: Annotated[float, Field(ge=-1.0, le=0.5)] = 0.0
    """Height of the table in the base frame [m]."""
    fingers_m: Annotated[float, Field(ge=0, le=0.02)] = 0.001
    """How far below that the finger tips may come [m]."""
    held_m: Annotated[float, Field(ge=0, le=0.02)] = 0.003
    """How far below that a grasped object may seem to be: its pose is measured [m]."""


class SelfCollision(_Section):
    """Whether the arm may touch itself or the grasped object."""

    enabled: bool = True


class StaleScene(_Section):
    """How old what is known of the table may be."""

    max_age_s: Annotated[float, Field(gt=0, le=60.0)] = 2.0
    """Nothing begins to move while the newest scene is older, by the wall clock [s]."""


def _plain(name: str) -> str:
    if not name.isidentifier():
        raise ValueError('the name must be one word, like laptop or left_wall')
    return name


class Workspace(_Corners):
    """The box that the tool, and all of the grasped object, stays in."""


class KeepOut(_Corners):
    """A box that no part of arm, hand or grasped object may enter."""

    name: Annotated[str, AfterValidator(_plain)]

    @model_validator(mode='after')
    def _within_reach(self) -> KeepOut:
        shoulder = np.array(SHOULDER_M)
        gap_m = float(np.linalg.norm(shoulder - shoulder.clip(self.min_m, self.max_m)))
        if gap_m > REACH_M:
            raise ValueError(
                f'no part of the arm can reach {self.name}, {self}, and it would protect nothing: '
                f'it begins {gap_m:.2f} m from the shoulder at (0, 0, {SHOULDER_M[2]:g}); a box '
                f'that begins within {REACH_M:g} m of it would do'
            )
        return self

    @property
    def obstacle(self) -> Obstacle:
        low, high = np.array(self.min_m), np.array(self.max_m)
        T = np.eye(4)
        T[:3, 3] = (low + high) / 2
        x, y, z = (high - low).tolist()
        name, box = KEEP_OUT_PREFIX + self.name, ObstacleShape.BOX
        return Obstacle(name=name, shape=box, size_m=(x, y, z), T_base_obstacle=T)


BOX_FORM = 'two opposite corners in metres, `x y z x y z`, for example `0.2 0.5 0 0.6 0.9 0.3`'


def parse_box(text: str, name: str) -> KeepOut:
    """Read a box that nothing may enter; raises ConfigError."""
    try:
        x0, y0, z0, x1, y1, z1 = map(float, text.replace(',', ' ').split())
    except ValueError as error:
        raise ConfigError(f'{escape_line(text)[:100]!r} is no box; write {BOX_FORM}.') from error
    low, high = zip(*map(sorted, ((x0, x1), (y0, y1), (z0, z1))), strict=True)
    data = {'name': name, 'min_m': low, 'max_m': high}
    try:
        return KeepOut.model_validate(data)
    except ValidationError as error:
        raise ConfigError(
            f'{escape_line(text)[:100]!r} cannot be a box: {explain(error, data)} Write '
            f'{BOX_FORM}.'
        ) from error


def _never(value: Any) -> Any:
    return value if isinstance(value, Never) else parse_never(str(value))


def _no_twins(boxes: tuple[KeepOut, ...]) -> tuple[KeepOut, ...]:
    names = [box.name for box in boxes]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'keep_out must name every box differently: {name} is there twice')
    return boxes


class SafetyEnvelope(_Section):
    """All rules; one that a file leaves out is in force as it stands here."""

    workspace: Workspace = Workspace(min_m=(-0.25, -0.85, -0.02), max_m=(0.95, 0.85, 1.19))
    """The space of the tool and the grasped object."""
    tcp_speed: TcpSpeed = TcpSpeed()
    joint_speed: JointSpeed = JointSpeed()
    grip_force: GripForce = GripForce()
    contact_force: ContactForce | None = ContactForce()
    """None, null in the file: the robot's own thresholds stay as they are."""
    keep_out: Annotated[tuple[KeepOut, ...], AfterValidator(_no_twins)] = ()
    never: tuple[Annotated[Never, BeforeValidator(_never)], ...] = ()
    """Constraints in plain words; see `skills.constraints`."""
    table_height: TableHeight = TableHeight()
    self_collision: SelfCollision = SelfCollision()
    stale_scene: StaleScene = StaleScene()

    @model_validator(mode='after')
    def _boxes_above_the_table(self) -> SafetyEnvelope:
        rule = self.table_height
        lowest_m = rule.top_m - max(rule.fingers_m, rule.held_m)
        for box in self.keep_out:
            if box.max_m[2] <= lowest_m:
                raise ValueError(
                    f'no part of the arm can reach {box.name}, {box}, and it would protect '
                    f'nothing: it is below the table, whose top is at z = {rule.top_m:g} m; a '
                    'box that is higher would do'
                )
        return self

    def boxes(self) -> tuple[str, ...]:
        """Return a line for each box with its size, for people: the workspace, then keep_out."""
        kept_out = (f'keep_out {box.name}: {box}' for box in self.keep_out)
        return (f'workspace: {self.workspace}', *kept_out)

    @property
    def kept_out(self) -> tuple[str, ...]:
        """
        Return the boxes of `keep_out` that a plan has to mind, in words like those of `never`.

        Left out are boxes that begin too high above the table for what stands or is carried there.
        """
        low = (box for box in self.keep_out if box.min_m[2] < self.table_height.top_m + CARRIED_M)
        return tuple(
            'never enter '
            + ', '.join(
                f'{axis} {start:g} to {end:g}'
                for axis, start, end in zip('xyz', box.min_m, box.max_m, strict=True)
            )
            + f' m ({box.name}), with arm, hand or object'
            for box in low
        )

    def stricter(self, never: Iterable[str] = (), keep_out: Iterable[str] = ()) -> SafetyEnvelope:
        """
        Return the rules with more constraints and boxes, in words and numbers.

        Raises ConfigError for a text that cannot be read.
        """
        try:
            nevers = tuple(map(parse_never, never))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        taken = {box.name for box in self.keep_out}
        names = (name for n in count(1) if (name := f'box_{n}') not in taken)
        boxes = tuple(map(parse_box, keep_out, names))
        more = {'never': (*self.never, *nevers), 'keep_out': (*self.keep_out, *boxes)}
        data = {**dict(self), **more}
        try:
            return SafetyEnvelope.model_validate(data)
        except ValidationError as error:
            raise ConfigError(f'The safety rules: {explain(error, data)}') from error


def check_never(envelope: SafetyEnvelope, objects: Sequence[SceneObject]) -> None:
    """Raise ConfigError where a constraint is about none of the objects of a scene."""
    for never in envelope.never:
        if fault := fault_of(never, objects):
            raise ConfigError(f'The constraint {str(never)!r} cannot be kept: {fault}.')


def kept_out(blockers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the boxes among what was touched on the way."""
    return tuple(
        name.removeprefix(KEEP_OUT_PREFIX) for name in blockers if name.startswith(KEEP_OUT_PREFIX)
    )


def refusal(rule: SafetyRule, activity: str, why: str) -> str:
    """Return the sentence that refuses a motion: what breaks which rule, and what would do."""
    return f'the safety rule {rule.value} forbids {activity}: {why}.'


def constraint_refusal(constraint: str, activity: str, why: str) -> str:
    """Return the same for a constraint, such as `never touch blue_cylinder`."""
    return f'the constraint {constraint!r} forbids {activity}: {why}.'


FILES = YamlFiles(
    'safety',
    fields=', '.join(SafetyEnvelope.model_fields),
    error=ConfigError,
    loader=UniqueKeysLoader,
    pattern='safety*.yaml',
)


def load_envelope(name_or_path: str | Path = '') -> SafetyEnvelope:
    """Read a file by its path or its name in the config folder; raises ConfigError."""
    try:
        text, path = FILES.read(str(name_or_path) or 'safety')
    except UnknownNameError as error:
        raise ConfigError(f'{error} Any other safety file is named by its path.') from error
    return parse_envelope(text, str(path))


@lru_cache
def parse_envelope(text: str, source: str) -> SafetyEnvelope:
    """Parse a file's text; raises ConfigError, which calls the file *source*."""
    # An empty file is more likely a mistake than the wish for every default.
    data = FILES.parse(text, source)
    try:
        return SafetyEnvelope.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f'{source}: {explain(error, data)}') from error
