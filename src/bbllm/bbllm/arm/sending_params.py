"""What can be set about how motions are sent, and what is fixed."""

from __future__ import annotations

from dataclasses import dataclass, field

from bbllm.arm.driver import GoalStatus, Tolerances
from bbllm.arm.rest import RestParams

STOP_S = 0.5
"""How long after a goal that was aborted or refused the signs of a stop may come, wall [s]."""
DEACTIVATED_S = 3.0
"""The same where the controller said itself that it was deactivated [s]."""
INTERRUPTED = frozenset({GoalStatus.CANCELED, GoalStatus.TIMED_OUT, GoalStatus.ENDLESS})
"""Endings of a goal of the hand that may leave it half-way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingParams:
    """How closely motions are watched, and how fast the fingers move."""

    tolerances: Tolerances = field(default_factory=Tolerances)
    """What the controller holds every trajectory to."""
    rest: RestParams = field(
        default_factory=lambda: RestParams(final_rad=0.02, still_rad_s=0.05, settle_s=1.0)
    )
    """Where and how the arm has to rest after a goal that succeeded."""
    hold_rad: float = 0.03
    """A motion starts where the last one ended, if the arm is still this near to it [rad]."""
    gripper_speed_m_s: float = 0.1
    """Speed at which the distance between the fingers changes [m/s]."""
    width_tolerance_m: float = 0.002
    """How far an opening may be off [m]."""
