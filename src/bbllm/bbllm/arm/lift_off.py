"""How a lift begins, and ends early where the thing does not come along."""

from __future__ import annotations

from bbllm.arm.failures import unlifted
from bbllm.arm.lifting import LiftParams, LiftWatch
from bbllm.arm.sending import Sender
from bbllm.arm.ways import Way, WayPlanner


def lift_off(name: str, way: Way, sender: Sender, planner: WayPlanner, params: LiftParams) -> Way:
    """
    Lift a thing that is gripped a little; returns the way up that is left.

    Where nobody tells the force there is nothing to find out, and all of the way is left.

    Raises:
        SkillError: WOULD_NOT_RISE, with the thing still gripped; or the arm was stopped.
    """
    watch = LiftWatch(sender.driver, params.cap_n)
    if watch.blind:
        return way
    first, left = planner.parted(way, params)
    sender.follow(first, f'lifting {name}', watch)
    if watch(settled=True):
        raise unlifted(name, params.cap_n)
    return left
