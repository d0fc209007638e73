"""
Motions of the arm as data: what a skill returns, and the executor plans, checks and follows.

A motion is a sequence of segments for tool and fingers. None of them names a skill, and none
moves the arm: `arm.execution` does, where every trajectory passes the safety envelope.
"""

from dataclasses import dataclass

from bbllm.skills.grasps import Grip
from bbllm.skills.placing import PlaceTarget
from bbllm.skills.shapes import Vector

HOVER_M = 0.08
"""Height above a grip from where the tool comes straight down [m]."""
GRIP_FORCE_N = 40.0
"""Grasp force of both fingers together [N]."""
WIDTH_WINDOW_M = 0.005
"""How much a grasp may end off the expected width [m]."""
PLACED_M = 0.01
"""An object that rests further than this from its target is misplaced [m]."""


@dataclass(frozen=True, slots=True)
class MoveAbove:
    """Choose one of the grips, move over it and come down; a height of 0 ends at the grip."""

    grips: tuple[Grip, ...]
    """In order of liking."""
    hover_m: float
    target: str
    touching: tuple[str, ...] = ()
    """Names of what the fingers or the grasped object may touch on the way down."""
    takes: bool = False
    """Whether the fingers close there, so that the grip offset of the scene applies."""


@dataclass(frozen=True, slots=True)
class CloseOn:
    """Close the fingers on an object."""

    name: str
    width_m: float
    """Width of the object, the narrowest way it can lie between the fingers [m]."""
    widest_m: float
    """Its width the widest way [m]."""


@dataclass(frozen=True, slots=True)
class Lift:
    """Rise with what is gripped, which has to come along."""

    name: str


@dataclass(frozen=True, slots=True)
class Glide:
    """Move the tool straight on and turn it about the vertical, evenly."""

    activity: str
    """For people and refusals: `pushing red_cube`."""
    shift_m: Vector = (0.0, 0.0, 0.0)
    """Way of the TCP, world frame [m]."""
    turn_rad: float = 0.0
    """Counter-clockwise as seen from above [rad]."""
    most_m_s: float = 0.1
    """Speed of the tool [m/s]."""
    touching: tuple[str, ...] = ()
    """Names of what arm and grasped object may touch on the way."""
    instead: str = ''
    """What would do where the arm cannot follow it, as a clause."""
    jammed: str = ''
    """Why something may stop the arm on the way, and what would do then, as a sentence."""


@dataclass(frozen=True, slots=True)
class LetGo:
    """Open the fingers a little, as wide as the grip has room."""

    name: str


@dataclass(frozen=True, slots=True)
class Rise:
    """Rise from where the tool came down."""


@dataclass(frozen=True, slots=True)
class ToBase:
    """Move back to the ready posture."""


@dataclass(frozen=True, slots=True)
class OpenHand:
    """Open the fingers all the way."""


@dataclass(frozen=True, slots=True)
class CloseHand:
    """Close the fingers on whatever is between them."""


@dataclass(frozen=True, slots=True)
class StandStill:
    """Let time pass."""

    duration_s: float


Segment = (
    MoveAbove | CloseOn | Lift | Glide | LetGo | Rise | ToBase | OpenHand | CloseHand | StandStill
)


@dataclass(frozen=True, slots=True)
class Rest:
    """Where an object has to be at the end, which is judged by the scene."""

    name: str
    target: PlaceTarget
    tolerance_m: float = PLACED_M
    tolerance_rad: float | None = None
    """Of its yaw, where that matters; a turn that its outline does not show is not judged
    [rad]."""


@dataclass(frozen=True, slots=True)
class Motion:
    """What the arm does for a call, and what has to be so afterwards."""

    segments: tuple[Segment, ...]
    rest: Rest | None = None

    @property
    def above(self) -> MoveAbove | None:
        """The way to the target, where it begins with one."""
        first = self.segments[0]
        return first if isinstance(first, MoveAbove) else None

    @property
    def glides(self) -> tuple[Glide, ...]:
        return tuple(each for each in self.segments if isinstance(each, Glide))

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the objects that it takes, or that come to rest elsewhere."""
        taken = [each.name for each in self.segments if isinstance(each, CloseOn)]
        return tuple(dict.fromkeys([*taken, *([] if self.rest is None else [self.rest.name])]))

    @property
    def grips(self) -> bool:
        """Whether the fingers press on something."""
        return any(isinstance(each, CloseOn | CloseHand) for each in self.segments)
