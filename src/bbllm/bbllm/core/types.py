"""The nouns of the project as frozen records; nothing here does anything."""

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

from bbllm.core.errors import UnknownNameError

if TYPE_CHECKING:
    from bbllm.core.conversation import Turn


class NamedNumber(IntEnum):
    """A constant of a message; JSON has its name, so that it can be read without this program."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(cls._named, handler(cls))

    @classmethod
    def _named(cls, value: object) -> object:
        known = cls.__members__
        if isinstance(value, str) and value not in known:
            raise ValueError(f'{value!r:.80} is none of {", ".join(known)}')
        return known[value] if isinstance(value, str) else value


class Status(NamedNumber):
    """How the execution of one call ended; the twin of ExecuteSkill's constants."""

    SUCCEEDED = 0
    FAILED = 1
    """Tried, and did not work."""
    REJECTED = 2
    """Not tried: a precondition is not met, so nothing moved."""


class Code(NamedNumber):
    """Why a call did not succeed; the twin of the CODE_ constants in ExecuteSkill.action."""

    NONE = 0
    UNKNOWN_SKILL = 1
    UNKNOWN_OBJECT = 2
    BAD_ARGUMENTS = 3
    OUT_OF_WORKSPACE = 10
    OCCUPIED = 11
    COVERED = 12
    """Something stands on the object that was to be picked."""
    NOT_GRASPABLE = 13
    """The object is a location, or wider than the hand opens."""
    NO_CLEARANCE = 14
    """Neighbours leave no room for the fingers along any grasp axis."""
    NO_PATH = 15
    """No way that is free of collisions was found."""
    NOT_HOLDING = 16
    ALREADY_HOLDING = 17
    PRECONDITION = 18
    """A rule of the world forbids the action now; the outcome's `raw` names the rule's check."""
    GRASP_FAILED = 20
    """The fingers closed on nothing."""
    OBJECT_LOST = 21
    """It was in the hand, or was seen, and is no longer."""
    MISPLACED = 22
    """It came to rest somewhere else than asked."""
    WOULD_NOT_RISE = 23
    """It did not rise when it was lifted: fixed, or too heavy."""
    GOAL_REJECTED = 30
    """The controller refused the trajectory."""
    PATH_TOLERANCE = 31
    GOAL_TOLERANCE = 32
    CONTROLLER_ABORTED = 33
    """The controller gave the goal up, for example after a reflex."""
    GRIPPER_FAILED = 34
    USER_STOP = 35
    TIMEOUT = 36
    REFLEX = 37
    """The arm met more force than it may and stopped by reflex."""
    COMMUNICATION_LOSS = 38
    """The robot lost too many packets of its controller."""
    JOINT_LIMIT = 39
    """A joint passed its limit."""
    STALE_SCENE = 40
    EMPTY_SCENE = 41
    NOT_APPROVED = 45
    """A person has to allow the plan or the call first, and did not."""
    UNSAFE = 46
    """A rule of the safety envelope forbids the motion."""
    NEEDS_PERSON = 47
    """The robot stays stopped until a person has seen to it."""
    CANCELLED = 50
    LOST_NODE = 51
    """A process that was needed has gone."""
    INTERNAL = 60


class Kind(StrEnum):
    """What a scene object is."""

    CUBE = 'cube'
    CYLINDER = 'cylinder'
    LOCATION = 'location'
    """A named place on a surface: it can be a target, never be picked."""
    FIXTURE = 'fixture'
    """Furniture, such as the table."""
    HAND = 'hand'
    CONTAINER = 'container'
    """A plate, bowl or open box: objects can be put in or on it, and it is never picked."""
    OTHER = 'other'


MOVABLE = frozenset({Kind.CUBE, Kind.CYLINDER, Kind.OTHER})
"""What a hand can pick, push and stack, which prompts of planners list as blocks."""

Quat = tuple[float, float, float, float]
"""Quaternion of a turn, of length 1, scalar last as in ROS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """A position and orientation in the world frame (= robot base frame, fr3_link0)."""

    position_m: tuple[float, float, float]
    """x forward, y left, z up; the table top is z = 0 [m]."""
    quat_xyzw: Quat = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneObject:
    """One named object of the scene."""

    name: str
    """Unique, snake_case, for example `red_cube` or `location_A`."""
    kind: Kind
    pose: Pose
    """Pose of the geometric centre; for a location, the middle of its surface."""
    size_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Full extent along the object's own axes; a cylinder's axis is z [m]."""
    color: str = ''
    """Plain colour word, empty where it has none."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject-predicate-object triple, for example (red_cube, on, table)."""

    subject: str
    predicate: str
    object: str
    estimated: bool = field(default=False, kw_only=True)
    """True for what was inferred, not sensed; it never overrides a sensed fact."""

    def __str__(self) -> str:
        return f'({self.subject} {self.predicate} {self.object})'


@dataclass(frozen=True, slots=True)
class Skill:
    """Something the robot can do."""

    name: str
    params: tuple[str, ...] = ()
    """Names of the parameters, in order, for example ('target',)."""
    summary: str = ''
    """One line for a prompt."""
    aliases: tuple[str, ...] = ()
    """Other words that mean the same skill, for example `grasp` for `pick`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandReading:
    """What the hand measures at one moment."""

    tcp: Pose
    """Pose of the tool centre point between the finger tips; its z axis points out of them, so
    that a hand which points straight down has the quaternion 1 0 0 0."""
    width_m: float
    """Distance between the fingers, 0 to 0.08 [m]."""
    force_n: tuple[float, float, float] | None = None
    """What the world does to the hand, in world axes, without the hand's own weight and
    filtered: a grasped object pulls down, so that z is about -9.81 times its mass. None where it
    is not measured [N]."""


SYMBOLIC = frozenset({'household'})
"""Domains without positions."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The observation at one moment: objects, skills and relations (the paper's O, A, R)."""

    objects: tuple[SceneObject, ...]
    skills: tuple[Skill, ...]
    facts: tuple[Fact, ...]
    stamp_s: float
    """When it was sensed, on the world's clock [s]."""
    hand: HandReading | None = None
    """None where the hand is not observed."""
    domain: str = 'tabletop'
    """What kind of world it is: `tabletop` or `household`."""
    whole: bool = True
    """Whether it contains all objects; where not, more may be out of sight."""
    offers_all: bool = False
    """Whether a planner of houses offers every skill, and not only those of its own paper."""

    @property
    def is_symbolic(self) -> bool:
        """Whether its objects are symbols, with classes and without positions."""
        return self.domain in SYMBOLIC

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all objects, in the scene's order."""
        return tuple(item.name for item in self.objects)

    def object(self, name: str) -> SceneObject:
        """Return the object of that name, or raise UnknownNameError with the nearest one."""
        for item in self.objects:
            if item.name == name:
                return item
        raise UnknownNameError('object', name, self.names)

    def has(self, subject: str, predicate: str, object: str | None = None) -> bool:
        """Whether the scene has a fact; of any object where none is given."""
        return any(
            fact.subject == subject
            and fact.predicate == predicate
            and (object is None or fact.object == object)
            for fact in self.facts
        )

    @property
    def held(self) -> str | None:
        """Name of the object in the hand, None where the hand is empty."""
        for fact in self.facts:
            if fact.predicate == 'held_by':
                return fact.subject
        return None


@dataclass(frozen=True, slots=True)
class Task:
    """What a person asked for."""

    id: str
    instruction: str
    added: tuple[str, ...] = ()
    """What was added to it since it began, one sentence each, oldest first."""
    constraints: tuple[str, ...] = ()
    """What the world refuses whatever the plan is, such as `never touch blue_cube`."""
    worked: tuple[str, ...] = ()
    """What worked in similar situations, a text of earlier episodes each: data in prompts."""
    history: tuple[str, ...] = ()
    """Earlier turns of the conversation, a line each, oldest first (core.conversation)."""
    turns: 'tuple[Turn, ...]' = ()
    """The same turns as data, where they are known as such."""


@dataclass(frozen=True, slots=True)
class SkillCall:
    """One skill with its arguments: the only input of `World.execute`."""

    skill: str
    args: tuple[str, ...] = ()
    """Names of scene objects; for `place`, `reach` also a pose literal (see skills.catalog)."""

    def __str__(self) -> str:
        return f'{self.skill}({", ".join(self.args)})'


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One numbered line of a plan, in natural language."""

    index: int
    text: str

    def __str__(self) -> str:
        return f'{self.index}: {self.text}'


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a plan, numbered from 0 without gaps."""

    steps: tuple[PlanStep, ...] = ()

    def __str__(self) -> str:
        return '\n'.join(str(step) for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happened when one call was executed."""

    call: SkillCall
    status: Status
    code: Code = Code.NONE
    message: str = ''
    """Why, in one plain sentence for the Brain; empty on success."""
    raw: str = ''
    """The controller's own text, where there was one."""
    duration_s: float = 0.0
    """Duration on the world's clock [s]."""

    @property
    def succeeded(self) -> bool:
        return self.status is Status.SUCCEEDED
