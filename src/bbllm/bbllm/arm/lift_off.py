"""How a lift begins, and ends early where the thing does not come along."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bbllm.arm.failures import SkillError, StuckError, unfelt, unlifted
from bbllm.arm.lifting import LiftParams, LiftWatch
from bbllm.arm.pull import SilentForceError
from bbllm.arm.sending import Sender
from bbllm.arm.ways import Way, WayPlanner
from bbllm.core.types import Code

T = TypeVar('T')


def lift_off(name: str, way: Way, sender: Sender, planner: WayPlanner, params: LiftParams) -> Way:
    """
    Lift a thing that is gripped a little; returns the way up that is left.

    Where nobody ever told the force there is nothing to find out, and all of the way is left.

    Raises:
        SkillError: WOULD_NOT_RISE, or TIMEOUT where the force is not told any more, with the
            thing still gripped; or the arm failed otherwise, or was stopped.
    """
    doing = f'lifting {name}'
    watch = _felt(lambda: LiftWatch(sender.driver, params.cap_n), sender, name)
    if watch.blind:
        return way
    first, left = planner.parted(way, params)
    failure = None
    try:
        sender.follow(first, doing, until=watch)
    except SkillError as failed:
        sender.check(doing)  # who stops the arm is heard first
        if isinstance(failed, StuckError) or (
            failed.stopped and failed.code is not Code.CANCELLED
        ):
            raise
        failure = failed
    # What does not give may make a motion fail in any way, not only by being cancelled for it.
    if watch.tripped or _felt(lambda: watch(settled=True), sender, name):
        raise unlifted(name, params.cap_n, '' if failure is None else failure.raw)
    if failure is not None:
        raise failure
    return left


def _felt(look: Callable[[], T], sender: Sender, name: str) -> T:
    """Look at the force; once more where the robot was silent because it had stopped."""
    try:
        return look()
    except SilentForceError as silence:
        if not sender.ready(f'lifting {name}'):
            raise unfelt(name, str(silence)) from silence
    try:
        return look()
    except SilentForceError as silence:
        raise unfelt(name, str(silence)) from silence
