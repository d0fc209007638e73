"""What the arm does after a failure, so that it does not stay in the way."""

from __future__ import annotations

from collections.abc import Callable

from bbllm.arm.failures import HELD_BACK_CODES, SkillError, StuckError, let_go
from bbllm.arm.sending import Sender
from bbllm.arm.trajectory import NoPathError
from bbllm.arm.ways import WayPlanner
from bbllm.core.types import Code

RETREAT_M = 0.08
"""How far the arm is raised after a failure [m]."""
TOO_MUCH_CODES = frozenset({Code.REFLEX, Code.CONTROLLER_ABORTED})
"""Failures of a lift after which the arm stays where it is: with what is in its hand it would
fail again, and nothing tells that this is fixed and has to be let go of."""


def back_off(
    failure: SkillError,
    sender: Sender,
    planner: WayPlanner,
    *,
    opening_m: float | None,
    lifts: str | None,
    release: Callable[[], None],
) -> SkillError:
    """
    Raise the arm where it may still move; what may be fixed is let go of first.

    Args:
        failure: Why the call fails.
        sender: The arm.
        planner: Finds the way up.
        opening_m: How far the fingers were open before they closed; None where no grip was
            chosen [m].
        lifts: What was being lifted; None where nothing was.
        release: Lets go of it.

    Returns:
        The failure, which tells of the hand that has let go.
    """
    too_much = lifts is not None and failure.code in TOO_MUCH_CODES
    if not failure.may_back_off or too_much or isinstance(failure, StuckError):
        return failure
    held_back = lifts is not None and failure.code in HELD_BACK_CODES
    try:
        if failure.code is Code.GRASP_FAILED and opening_m is not None:
            sender.open_to(opening_m, 'opening the hand again')
        if failure.lets_go or held_back:
            release()
            failure = let_go(failure)
        rise = planner.straight_up(sender.q_start(), RETREAT_M)
        sender.follow(rise, 'rising out of the way')
    except (SkillError, NoPathError):
        pass  # the first failure is the one that tells what went wrong
    return failure
