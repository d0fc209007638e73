"""What is sent to a robot that stops just then, on a driver that plays it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import (
    FollowResult,
    GoalStatus,
    GripperResult,
    JointState,
    JointTrajectory,
    RobotCondition,
    Tolerances,
)
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.core.types import Code
from bbllm.robots.fr3 import FR3


class BroughtBack:
    """
    A robot that stops after the look before a motion, so that it refuses it.

    Somebody else sees that it stopped, and has brought it back by the second look.
    """

    def __init__(self, pushed_rad: float) -> None:
        self.q = np.array(FR3.home_rad)
        self.pushed_rad = pushed_rad
        self.down = False
        self.sent: list[JointTrajectory] = []
        self.recovered_by_program = False

    def now_s(self) -> float:
        return 0.0

    def joint_state(self) -> JointState:
        return JointState(
            position_rad=self.q, velocity_rad_s=np.zeros(7), width_m=0.08, stamp_s=0.0
        )

    def follow(
        self, trajectory: JointTrajectory, tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:  # fmt: skip
        self.sent.append(trajectory)
        if len(self.sent) == 1:
            self.down = True
            return FollowResult(status=GoalStatus.REJECTED)
        self.q = trajectory.position_rad[-1]
        return FollowResult(status=GoalStatus.SUCCEEDED)

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        was_down, self.down = self.down, False
        self.q = self.q + self.pushed_rad * was_down
        return RobotCondition(controllers_active=not was_down, hardware_active=not was_down)

    def clear_errors(self) -> None:
        self.recovered_by_program = True


def motion(start: Any) -> JointTrajectory:
    zero = np.zeros((2, 7))
    return JointTrajectory(
        time_s=np.array([0.0, 1.0]),
        position_rad=np.array([start, start + 0.1]),
        velocity_rad_s=zero,
        acceleration_rad_s2=zero,
    )


def test_motion_is_not_sent_again_from_where_somebody_has_moved_the_arm_in_a_stop() -> None:
    arm: Any = BroughtBack(pushed_rad=0.05)

    with pytest.raises(SkillError, match='has moved meanwhile') as raised:
        TrajectoryExecutor(arm).follow(motion(arm.q), 'lifting red_cube')

    assert raised.value.code is Code.CONTROLLER_ABORTED
    assert len(arm.sent) == 1
    assert not arm.recovered_by_program


def test_motion_is_sent_again_where_somebody_has_brought_the_arm_back_as_it_stood() -> None:
    arm: Any = BroughtBack(pushed_rad=0.0)

    TrajectoryExecutor(arm).follow(motion(arm.q), 'lifting red_cube')

    assert len(arm.sent) == 2


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
            position_rad=np.array(FR3.home_rad),
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
