"""Whether a grip counts as interrupted, when the goal after it was not even begun."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import GoalStatus, GripperResult, JointState, RobotCondition
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.arm.limits import Q_READY
from bbllm.core.types import Code

CUT = GripperResult(status=GoalStatus.CANCELED)
UNSENT = GripperResult(status=GoalStatus.CANCELED, begun=False)
REJECTED = GripperResult(status=GoalStatus.REJECTED, begun=False, error='rejected')
GRIPPED = GripperResult(status=GoalStatus.SUCCEEDED, success=True)


class Hand:
    """A hand whose goals end as they are told to."""

    def __init__(self, *results: GripperResult) -> None:
        self.results = list(results)

    def joint_state(self) -> JointState:
        return JointState(
            position_rad=np.array(Q_READY),
            velocity_rad_s=np.zeros(7),
            width_m=0.04,
            stamp_s=0.0,
        )

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        return RobotCondition()

    def grasp(self, *_: float) -> GripperResult:
        return self.results.pop(0)


@pytest.mark.parametrize(
    ('results', 'interrupted'),
    [
        ([UNSENT], False),
        ([CUT], True),
        ([CUT, UNSENT], True),
        ([CUT, REJECTED], True),
        ([CUT, GRIPPED], False),
    ],
)
def test_goal_that_was_not_begun_neither_interrupts_a_grip_nor_makes_it_good(
    results: list[GripperResult], interrupted: bool
) -> None:
    hand: Any = Hand(*results)
    sender = TrajectoryExecutor(hand)
    for result in results:
        if result is GRIPPED:
            sender.grasp(0.04, 20.0, 0.01, 0.01, 'gripping red_cube')
            continue
        with pytest.raises(SkillError) as raised:
            sender.grasp(0.04, 20.0, 0.01, 0.01, 'gripping red_cube')
        assert (raised.value.code is Code.CANCELLED) == (result is not REJECTED)

    assert sender.grip_interrupted is interrupted
