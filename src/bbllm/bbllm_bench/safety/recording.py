"""A driver that keeps every trajectory that goes through it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bbllm.arm.driver import (
    Amendment,
    ArmDriver,
    FingerMove,
    FollowResult,
    GraspGoal,
    GripperResult,
    JointTrajectory,
    Tolerances,
)


class RecordingDriver:
    """Forwards every call to another driver and keeps what `follow` was sent."""

    def __init__(self, driver: ArmDriver) -> None:
        self._driver = driver
        self.trajectories: list[JointTrajectory] = []
        """In the order in which they were sent."""
        self.stops: list[int] = []
        """How many trajectories had been sent each time the hand closed on, or let go of,
        something: the arm had to stand still there."""
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        self.trajectories.append(trajectory)
        return self._driver.follow(trajectory, tolerances, stop_condition)

    def follow_amended(
        self, trajectory: JointTrajectory, tolerances: Tolerances, amendment: Amendment
    ) -> tuple[FollowResult, bool]:
        made: list[JointTrajectory] = []

        def make() -> JointTrajectory | None:
            whole = amendment.make()
            made.extend([] if whole is None else [whole])
            return whole

        amending = replace(amendment, make=make)
        result, amended = self._driver.follow_amended(trajectory, tolerances, amending)
        self.trajectories.append(made[0] if amended else trajectory)
        return result, amended

    def move_both(
        self, trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        self.trajectories.append(trajectory)
        return self._driver.move_both(trajectory, tolerances, fingers)

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        if self._closed:
            self.stops.append(len(self.trajectories))
            self._closed = False
        return self._driver.move_gripper(width_m, speed_m_s)

    def grasp(self, goal: GraspGoal) -> GripperResult:
        self.stops.append(len(self.trajectories))
        self._closed = True
        return self._driver.grasp(goal)
