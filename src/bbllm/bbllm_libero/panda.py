"""
What skills see of an episode of the benchmark: its task, the state, and one method that acts.

Lengths are in metres, angles in radians, quaternions scalar last. Poses are in the frame of the
robot's base: x forward, y left, z up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bbllm.core.errors import WorldError
from bbllm.core.types import Code, Skill, Status

Array = NDArray[np.float64]
OPEN, CLOSE = -1.0, 1.0
"""Last value of an action: opens and closes the fingers (robosuite's PandaGripper)."""
Finger = Literal['left', 'right']


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A position and an orientation."""

    position_m: Array
    """Shape (3,)."""
    quat_xyzw: Array
    """Shape (4,), of length 1."""

    @property
    def rotation(self) -> Array:
        """The orientation as a matrix, shape (3, 3); its columns are the axes."""
        x, y, z, w = self.quat_xyzw
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )

    def of(self, point_m: ArrayLike) -> Array:
        """Return a point of its own frame in the frame that the placement is in, shape (3,)."""
        moved: Array = self.rotation @ np.asarray(point_m, float) + self.position_m
        return moved


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObjectInfo:
    """An object or a fixture of a task."""

    name: str
    """As the benchmark names it: `alphabet_soup_1`."""
    category: str
    """What it is: `alphabet_soup`."""
    fixture: bool
    """Whether it has no free joint, so that it cannot be picked."""
    centre_m: Array
    """Centre of the box around its collision geometry at the start, in its own frame, (3,)."""
    half_size_m: Array
    """Half extents of that box along its own axes, (3,)."""
    joints: tuple[str, ...] = ()
    """Its drawers, doors and knobs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteInfo:
    """A named region of an object or of the table."""

    name: str
    parent: str
    """The object or fixture that has it; '' for a region of the table."""
    half_size_m: Array
    """Half extents of its box, (3,)."""
    joints: tuple[str, ...] = ()
    """The joints that open it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointInfo:
    """A drawer, a door or a knob."""

    name: str
    owner: str
    """The fixture that has it."""
    body: str
    """The part that moves, a key of `State.bodies`."""
    kind: Literal['slide', 'hinge']
    axis: Array
    """Its direction at the start, (3,)."""
    anchor_m: Array
    """A point of it at the start, (3,)."""
    range: tuple[float, float]
    """Least and greatest value [m or rad]."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """What the benchmark calls `open`, `close`, `turnon` and `turnoff`; only those it defines."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """A box around a piece of what an object collides with."""

    body: str
    """What it is part of, a key of `State.bodies`."""
    placement: Placement
    """Of its middle, in the frame of the body."""
    half_m: Array
    """Half extents along its own axes, (3,)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiberoTask:
    """A task as it begins; it does not change while it is played."""

    suite: str
    number: int
    name: str
    language: str
    """What the benchmark asks for."""
    init_state: int
    goal: tuple[tuple[str, ...], ...]
    """All of these: `('in', 'alphabet_soup_1', 'basket_1_contain_region')`."""
    budget: int
    """Control steps that the benchmark allows."""
    rate_hz: float
    """Control steps in a second of the simulation."""
    surface_m: float
    """Height of the table or floor that objects stand on [m]."""
    tool: Placement
    """The tool as the episode begins."""
    action_scale: Array
    """What an action of 1 asks for, (6,) [m, rad]."""
    objects: Mapping[str, ObjectInfo]
    sites: Mapping[str, SiteInfo]
    joints: Mapping[str, JointInfo]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """Everything that moves, after one control step."""

    steps: int
    """Control steps since the start."""
    tool: Placement
    """The point between the finger tips; its z axis points out of them."""
    q: Array
    """Joints of the arm, (7,)."""
    fingers_m: Array
    """Joints of the fingers, (2,)."""
    objects: Mapping[str, Placement]
    """Frames of objects and fixtures, by name."""
    bodies: Mapping[str, Placement]
    """The same of all their parts, by the names of the parts."""
    sites: Mapping[str, Placement]
    """Centres of regions, by name."""
    joints: Mapping[str, float]
    touches: Mapping[Finger, tuple[str, ...]]
    """What each finger touches."""
    arm_touches: tuple[str, ...]
    """What any part of robot and hand touches."""
    success: bool
    """The benchmark's own check, now."""

    @property
    def width_m(self) -> float:
        """Distance between the fingers, 0 to 0.08 [m]."""
        return float(abs(self.fingers_m[0]) + abs(self.fingers_m[1]))


class EpisodeOverError(Exception):
    """
    No control step is left, or the call was stopped; raised by `Panda.step`.

    A skill lets it pass: the world makes the outcome of it.
    """

    def __init__(self, code: Code, message: str):
        super().__init__(message)
        self.code = code


class Panda(Protocol):
    """The robot of an episode, for skills."""

    @property
    def task(self) -> LiberoTask: ...

    @property
    def state(self) -> State:
        """The state after the last step."""
        ...

    def step(self, action: ArrayLike) -> State:
        """
        Make one control step and return what it led to.

        Args:
            action: Shape (7,), each from -1 to 1: how far the goal of the tool moves along the
                axes of the base and turns about them, in `LiberoTask.action_scale`, and `OPEN` or
                `CLOSE`.

        Raises:
            EpisodeOverError: The budget is used up, or the call was stopped.
            WorldError: The process of the benchmark has gone, or does not answer.
        """
        ...

    def shape(self, name: str) -> tuple[Piece, ...]:
        """Return what an object or fixture collides with; raises UnknownNameError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a skill ended."""

    status: Status
    code: Code = Code.NONE
    message: str = ''
    """Why, in a sentence for planners that ends with what would work; '' on success."""
    held: str | None = None
    """What is in the hand now."""


class LiberoSkill(Protocol):
    """Something that the robot can do, in one module of `skills`."""

    @property
    def signature(self) -> Skill: ...

    def run(self, panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
        """
        Execute the skill to its end.

        The arguments are names of the task's objects and regions, as many as the signature has.
        A failure is a result. Nothing moves where the status is REJECTED.

        Raises:
            EpisodeOverError: From `Panda.step`.
            WorldError: From `Panda.step`.
        """
        ...


__all__ = [
    'CLOSE',
    'OPEN',
    'EpisodeOverError',
    'JointInfo',
    'LiberoSkill',
    'LiberoTask',
    'ObjectInfo',
    'Panda',
    'Piece',
    'Placement',
    'Result',
    'SiteInfo',
    'State',
    'WorldError',
]
