"""Goals for the joint trajectory controller, and an arm that follows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bbllm.arm.driver import Array
from bbllm.sim.controllers.constraints import AskedTolerances
from bbllm.sim.controllers.trajectory import TrajectoryController
from bbllm.sim.controllers.trajectory_goal import TrajectoryGoal

STILL = np.zeros(7)
START = np.full(7, 0.1)
END = np.linspace(0.2, 0.8, 7)
ZEROS = (0.0,) * 7


def goal(**changes: Any) -> TrajectoryGoal:
    """Return a goal of one point after two seconds, at rest there."""
    base = TrajectoryGoal(
        time_s=(2.0,),
        position_rad=(tuple(END),),
        velocity_rad_s=(ZEROS,),
        acceleration_rad_s2=(ZEROS,),
    )
    return replace(base, **changes)


def asking(**tolerances: Any) -> TrajectoryGoal:
    """Return the same goal with tolerances."""
    return goal(tolerances=AskedTolerances(**tolerances))


def follow(controller: TrajectoryController, until_s: float, error: Array | float = 0.0) -> None:
    """Let an arm follow perfectly but for a constant error."""
    for now_s in np.arange(0.0, until_s, 0.01):
        q, dq, _ = controller.sample(np.array([now_s]))
        controller.update(float(now_s), q[0] + error, dq[0])
