"""Whether the arm rests where it was sent: without constraints a controller never looks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import ArmDriver, Array
from bbllm.arm.failures import SkillError
from bbllm.core.types import Code

LOOK_S = 0.02
"""How often it is looked, on the world's clock [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestParams:
    """What counts as being at rest at a goal."""

    final_rad: float
    """Largest joint error [rad]."""
    still_rad_s: float
    """An arm slower than this is at rest [rad/s]."""
    settle_s: float
    """How long the arm may take to come to rest [s]."""


def check_rest(
    driver: ArmDriver, goal: Array, params: RestParams, doing: str, look: Callable[[], object]
) -> None:
    """
    Wait until the arm rests at a goal.

    Args:
        driver: The arm.
        goal: Shape (7,) [rad].
        params: What counts as rest.
        doing: What the arm was about.
        look: Called all the time; what it raises ends the wait.

    Raises:
        SkillError: It does not rest there in time.
    """
    deadline = driver.now_s() + params.settle_s
    while True:
        state = driver.joint_state()
        errors = np.abs(state.position_rad - goal)
        moving = float(np.abs(state.velocity_rad_s).max()) > params.still_rad_s
        if float(errors.max()) <= params.final_rad and not moving:
            return
        if driver.now_s() >= deadline:
            break
        driver.wait(LOOK_S)
        look()
    if moving:
        raise SkillError(
            Code.TIMEOUT,
            f'the arm did not come to rest within {params.settle_s:.1f} s after {doing}.',
        )
    joint = int(errors.argmax())
    raise SkillError(
        Code.GOAL_TOLERANCE,
        f'joint {joint + 1} stopped {math.degrees(float(errors[joint])):.1f} degrees from its '
        f'goal after {doing}.',
    )
