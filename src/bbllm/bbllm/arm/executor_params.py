"""What can be set about how calls are carried out."""

from __future__ import annotations

from dataclasses import dataclass, field

from bbllm.arm.lifting import LiftParams
from bbllm.arm.sending_params import SendingParams
from bbllm.arm.ways import WayParams
from bbllm.skills.motions import MotionParams


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorParams:
    """How to move, send and judge."""

    motions: MotionParams = field(default_factory=MotionParams)
    ways: WayParams = field(default_factory=WayParams)
    sending: SendingParams = field(default_factory=SendingParams)
    lift: LiftParams = field(default_factory=LiftParams)
    placed_m: float = 0.01
    """A thing that rests further than this from its target is misplaced [m]."""
    settle_s: float = 0.1
    """How long a thing may settle before it is looked at [s]."""
    weigh_s: float = 0.25
    """How long the arm holds still in the end with something in its hand, so that the force there
    can be read: the time of the filter in worlds.hand_force, and what the arm takes to come to
    rest [s]."""
