"""What the driver and its control process write to each other: a word, then its values."""

from dataclasses import dataclass
from enum import Enum, auto

ENFORCE, IGNORE = 'enforce', 'ignore'
"""Whether a kernel without real time is refused, as `franka::RealtimeConfig`."""


class Word(Enum):
    """The first part of a message."""

    FOLLOW = auto()
    """
    A trajectory and its tolerances; answered by BEGUN and ENDED, or ENDED alone.

    During another motion it is blended into that, under its tolerances, and answered by BEGUN.
    """
    CANCEL = auto()
    AMEND = auto()
    """Another trajectory and up to when it is the same [s]; answered by AMENDED."""
    CALL = auto()
    """A method of `franka::Robot` and its values; answered by DONE or REFUSED."""
    SETTINGS = auto()
    """Answered by SETTINGS with an `arm.robot_state.Mounted`; only between motions."""
    END = auto()

    CONNECTING = auto()
    """The process is up, and asks the robot for a connection."""
    READY = auto()
    """The connection is up; with its `LinkQuality`."""
    LOST = auto()
    """The process ends; with the type of libfranka's exception and its text."""
    BEGUN = auto()
    """With the time on the robot's clock at which the trajectory begins [s]."""
    ENDED = auto()
    """With a `FollowResult`."""
    AMENDED = auto()
    """With whether it was."""
    DONE = auto()
    REFUSED = auto()
    """With libfranka's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkQuality:
    """How well this computer kept up with the robot's clock while the arm rested."""

    share: float
    """Of the robot's milliseconds, those whose state was read in its turn."""
    widest_s: float
    """Longest time between two states that were read, by the robot's clock [s]."""
    prioritized: bool
    """Whether the loop runs under SCHED_FIFO with its memory locked."""
