"""What `arm.sending` asks before every motion: the seam to the safety envelope."""

from __future__ import annotations

from typing import Protocol

from bbllm.arm.contacts import ContactLimits
from bbllm.arm.driver import Array, JointTrajectory
from bbllm.core.types import Scene
from bbllm.skills.grasps import Hand


class MotionGuard(Protocol):
    """The last look at a motion before it is commanded."""

    contact_limits: ContactLimits | None
    """Where the robot itself has to stop; None: as it likes."""

    def look(self, scene: Scene, hand: Hand) -> None:
        """Learn where things are and what is held, before the motions of a call are planned."""
        ...

    def carry(self, name: str | None, hand: Hand) -> None:
        """Learn what is in the hand from now on, in mid-call; None where nothing is."""
        ...

    def check_motion(
        self, trajectory: JointTrajectory, doing: str, *, width_m: float | None = None
    ) -> None:
        """
        Raise SkillError with code UNSAFE, naming the rule, where a motion breaks one.

        `width_m` is how far the fingers will be open on it, None: as they are now [m].
        """
        ...

    def check_hand(self, position_rad: Array, width_m: float, doing: str) -> None:
        """
        Raise the same where fingers that go to a width would, with the arm at a joint position.

        The position has the shape (7,) [rad], the width is the distance between the fingers [m].
        """
        ...

    def check_grip(self, force_n: float, doing: str) -> None:
        """Raise the same where the fingers would press too hard [N]."""
        ...
