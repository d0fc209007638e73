"""
The joint trajectory controller: what it accepts, what it does meanwhile, how goals end.

States and texts are those of ros2_controllers' joint_trajectory_controller on Jazzy, so that a
client cannot tell the two apart. No physics and no clock in here: `update` is told both.
One difference: where the original stops dead (cancel, violated tolerance), this one brakes within
a seventh of a second and holds the place where it comes to rest, as a real arm must.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, FollowError, FollowResult, GoalStatus
from bbllm.sim.spline import Spline
from bbllm.sim.trajectory_goal import Pending, TrajectoryGoal, goal_spline, refusal

STOPPED_RAD_S = 0.01
"""At the end every joint must be slower than this (stopped_velocity_tolerance) [rad/s]."""
BRAKING_RAD_S2: Array = np.array([20.0] * 4 + [40.0] * 3)
"""How hard joints brake when a motion is broken off; within their torque [rad/s^2]."""

SUCCESS_TEXT = 'Goal successfully reached!'
PREEMPTED_TEXT = 'Current goal preempted by new incoming action.'
DEACTIVATED_TEXT = 'Current goal cancelled during deactivate transition.'
PATH_TEXT = 'Aborted due to path tolerance violation'
GOAL_TIME_TEXT = 'Aborted due to goal_time_tolerance exceeding by {:.6f} seconds'

TrajectoryPending = Pending[FollowResult]


@dataclass(frozen=True, slots=True)
class Setpoint:
    """Where the arm should be at one moment."""

    position_rad: Array
    """Shape (7,) [rad]."""
    velocity_rad_s: Array
    """Shape (7,) [rad/s]."""
    acceleration_rad_s2: Array
    """Shape (7,) [rad/s^2]."""


class TrajectoryController:
    """Follows one goal at a time, holds still between goals."""

    def __init__(self, position_rad: Array) -> None:
        """Start active, holding a position of shape (7,) [rad]."""
        self.active = True
        self.hold_results = False
        """Fault for tests of clients: goals never end by themselves while this is True."""
        self.revision = 0
        """Grows whenever `sample` would answer differently from before."""
        self._goal: TrajectoryGoal | None = None
        self._pending: TrajectoryPending | None = None
        self._start_s = 0.0
        self._reference = Spline.still(position_rad)

    @property
    def busy(self) -> bool:
        """Whether a goal is being followed."""
        return self._pending is not None

    @property
    def start_s(self) -> float:
        """When the motion in force began, which `sample` counts from [s]."""
        return self._start_s

    @property
    def duration_s(self) -> float:
        """Planned duration of the motion in force [s]."""
        return self._reference.duration_s

    def start(self, goal: TrajectoryGoal, now_s: float, q: Array, dq: Array) -> TrajectoryPending:
        """
        Take a goal, or refuse it: then it has ended at once with status REJECTED and the reason.

        Args:
            goal: What to follow.
            now_s: The clock [s].
            q: Measured positions, shape (7,) [rad].
            dq: Measured velocities, shape (7,) [rad/s].
        """
        pending: TrajectoryPending = Pending()
        reason = (
            refusal(goal, now_s)
            if self.active
            else "Can't accept new action goals. Controller is not running."
        )
        if reason:
            pending.finish(FollowResult(status=GoalStatus.REJECTED, error_string=reason))
            return pending
        self._end(GoalStatus.ABORTED, FollowError.INVALID_GOAL, PREEMPTED_TEXT)
        lead_s = goal.start_s - now_s if goal.start_s > 0 else 0.0
        self._set(goal_spline(goal, lead_s, q, dq), now_s)
        self._goal, self._pending = goal, pending
        return pending

    def cancel(self, now_s: float, q: Array, dq: Array) -> None:
        """Give the goal up as a client asked, and hold."""
        if self._pending is not None:
            self._brake(now_s, q, dq)
            self._end(GoalStatus.CANCELED, FollowError.SUCCESSFUL, '')

    def deactivate(self, now_s: float, q: Array, dq: Array) -> None:
        """Stop as when the controller manager takes the controller down (reflex, user stop)."""
        if self.active:
            self.active = False
            self._brake(now_s, q, dq)
            self._end(GoalStatus.ABORTED, FollowError.INVALID_GOAL, DEACTIVATED_TEXT)

    def activate(self, now_s: float, q: Array, dq: Array) -> None:
        """Take goals again; holds where the arm is."""
        if not self.active:
            self.active = True
            self._brake(now_s, q, dq)

    def sample(self, t: Array) -> tuple[Array, Array, Array]:
        """
        Return desired position, velocity, acceleration at times on the clock.

        Args:
            t: Shape (n,) [s].

        Returns:
            Three arrays of shape (n, 7) [rad, rad/s, rad/s^2].
        """
        return self._reference.at(t - self._start_s)

    def update(self, now_s: float, q: Array, dq: Array) -> Setpoint:
        """
        Check the goal's tolerances, end it where it has to end, and say where the arm should be.

        Args:
            now_s: The clock [s].
            q: Measured positions, shape (7,) [rad].
            dq: Measured velocities, shape (7,) [rad/s].
        """
        self.check(now_s, q, dq)
        return self.set_point(now_s)

    def check(self, now_s: float, q: Array, dq: Array) -> None:
        """Do what `update` does, for callers that have the set points from `sample`."""
        if self._goal is None or self.hold_results:
            return
        elapsed_s = now_s - self._start_s
        late_s = elapsed_s - self._reference.duration_s
        error = np.abs(self._reference.position_at(elapsed_s) - q)
        if late_s >= 0:
            self._try_to_finish(now_s, late_s, error, q, dq)
        elif _outside(error, self._goal.path_rad):
            self._brake(now_s, q, dq)
            self._end(GoalStatus.ABORTED, FollowError.PATH_TOLERANCE_VIOLATED, PATH_TEXT)

    def _try_to_finish(
        self, now_s: float, late_s: float, error: Array, q: Array, dq: Array
    ) -> None:
        """After the last point: succeed when settled, abort when that takes too long."""
        goal = self._goal
        assert goal is not None  # only called with one
        if not _outside(error, goal.goal_rad) and np.all(np.abs(dq) < STOPPED_RAD_S):
            self._end(GoalStatus.SUCCEEDED, FollowError.SUCCESSFUL, SUCCESS_TEXT)
        elif goal.goal_time_s > 0 and late_s > goal.goal_time_s:
            text = GOAL_TIME_TEXT.format(late_s - goal.goal_time_s)
            self._brake(now_s, q, dq)
            self._end(GoalStatus.ABORTED, FollowError.GOAL_TOLERANCE_VIOLATED, text)

    def set_point(self, now_s: float) -> Setpoint:
        """Return where the arm should be at a time on the clock [s]."""
        return Setpoint(*self._reference.at_one(now_s - self._start_s))

    def _brake(self, now_s: float, q: Array, dq: Array) -> None:
        """Slow all joints down together along their direction, then hold."""
        T = float(np.max(np.abs(dq) / BRAKING_RAD_S2))
        if T < 1e-3:
            self._set(Spline.still(q), now_s)
            return
        coefficients = np.zeros((1, 6, N_JOINTS))
        coefficients[0, :3] = q, dq, -dq / (2 * T)
        self._set(Spline(np.array([0.0, T]), coefficients, q + dq * T / 2), now_s)

    def _set(self, reference: Spline, start_s: float) -> None:
        self._reference, self._start_s = reference, start_s
        self.revision += 1

    def _end(self, status: GoalStatus, code: FollowError, text: str) -> None:
        pending, self._goal, self._pending = self._pending, None, None
        if pending is not None:
            pending.finish(FollowResult(status=status, error_code=code, error_string=text))


def _outside(error: Array, tolerance: Array) -> bool:
    """Tell whether any joint's error is beyond its tolerance; 0 means not checked."""
    return bool(((tolerance > 0) & (error > tolerance)).any())
