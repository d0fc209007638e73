"""
The joint trajectory controller: which goals it accepts, how it follows and ends them.

States and texts are those of ros2_controllers' joint_trajectory_controller on Jazzy, so that
clients see no difference. Physics and clock are inputs: *now_s* on the clock, *q* and *dq* as
measured, shape (7,) [rad, rad/s]. One exception: where the original stops dead, this one brakes
and keeps the place where it comes to rest, as a real arm must. A cancelled goal brakes from its
set point, within the limits of plans. Where the arm is not at its set point, because something is
in its way, and after a violated tolerance or a reflex, it brakes from what is measured and harder:
it must not go on pushing.
"""

from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.controllers.pending import Pending, TrajectoryPending
from bbllm.arm.controllers.trajectory_goal import (
    Constraints,
    TrajectoryGoal,
    goal_spline,
    in_force,
    refusal,
)
from bbllm.arm.driver import FREE_RAD, N_JOINTS, Array, FollowError, FollowResult, GoalStatus
from bbllm.arm.motion.trajectory import Spline
from bbllm.robots.robot_model import RobotModel

NOT_RUNNING_TEXT = "Can't accept new action goals. Controller is not running."
SUCCESS_TEXT = 'Goal successfully reached!'
PREEMPTED_TEXT = 'Current goal preempted by new incoming action.'
DEACTIVATED_TEXT = 'Current goal cancelled during deactivate transition.'
PATH_TEXT = 'Aborted due to path tolerance violation'
GOAL_TIME_TEXT = 'Aborted due to goal_time_tolerance exceeding by {:.6f} seconds'


@dataclass(frozen=True, slots=True)
class Setpoint:
    """Where the arm should be at one moment, shape (7,) [rad, rad/s, rad/s^2]."""

    position_rad: Array
    velocity_rad_s: Array
    acceleration_rad_s2: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What `query_state` answers."""

    success: bool
    """Whether the time lies on a trajectory that has not ended by then."""
    state: Setpoint


class TrajectoryController:
    """Follows one goal at a time, keeps still between goals."""

    def __init__(
        self, robot: RobotModel, position_rad: Array, constraints: Constraints | None = None
    ) -> None:
        """Start active at a position, shape (7,) [rad]; *constraints* are the goals' defaults."""
        self._robot = robot
        self.active = True
        self.hold_results = False
        """Fault for tests of clients: goals never end by themselves while this is True."""
        self._defaults = constraints or Constraints()
        self._limits = self._defaults
        self._pending: TrajectoryPending | None = None
        self.busy = False
        """Whether a trajectory is being followed, that of a goal or one from the topic."""
        self._unseen = False
        self._taken_s = self.origin_s = 0.0
        """When the motion was taken, and what its time_from_start counts from [s]."""
        self.reference = Spline.still(position_rad)
        """The motion in force on the clock; another object for every other motion."""

    def start(self, goal: TrajectoryGoal, now_s: float, q: Array, dq: Array) -> TrajectoryPending:
        """Take a goal, or refuse it: then it has ended at once, REJECTED, with the reason."""
        pending: TrajectoryPending = Pending()
        reason = self.refusal(goal, now_s)
        if reason:
            pending.finish(FollowResult(status=GoalStatus.REJECTED, error_string=reason))
            return pending
        self._end(GoalStatus.ABORTED, FollowError.INVALID_GOAL, PREEMPTED_TEXT)
        self._take(goal, now_s, q, dq)
        self._limits = in_force(goal.tolerances, self._defaults)
        self._pending = pending
        return pending

    def replace(self, goal: TrajectoryGoal, now_s: float, q: Array, dq: Array) -> str | None:
        """
        Take a trajectory from the topic, without result; returns why it is ignored, if it is.

        A running goal goes on with the new trajectory, under its own tolerances.
        """
        reason = self.refusal(goal, now_s)
        if reason is None:
            self._take(goal, now_s, q, dq)
        return reason

    def refusal(self, goal: TrajectoryGoal, now_s: float) -> str | None:
        return refusal(self._robot.joints, goal, now_s) if self.active else NOT_RUNNING_TEXT

    def query(self, time_s: float, q: Array, dq: Array) -> Query | None:
        """
        Return where the trajectory in force is at a time; None while the controller is not active.

        *time_s* must lie before the trajectory's end [s].
        """
        if not self.active:
            return None
        if time_s < self._taken_s:
            return Query(success=False, state=Setpoint(q, dq, np.zeros(N_JOINTS)))
        inside = self.busy and time_s < self.reference.end_s
        return Query(success=inside, state=self.set_point(time_s))

    def cancel(self, now_s: float, q: Array, dq: Array) -> None:
        if self._pending is not None:
            wanted, speed, acceleration = self.reference.at_one(now_s)
            if np.abs(wanted - q).max() < FREE_RAD:
                stop = Spline.stopping(self._robot, wanted, speed, acceleration, now_s)
                self._stay(stop, now_s)
            else:
                self._brake(now_s, q, dq)
            self._end(GoalStatus.CANCELED, FollowError.SUCCESSFUL, '')

    def deactivate(self, now_s: float, q: Array, dq: Array) -> None:
        """Stop as when the controller manager takes the controller down (reflex, user stop)."""
        if self.active:
            self.active = False
            self._brake(now_s, q, dq)
            self._end(GoalStatus.ABORTED, FollowError.INVALID_GOAL, DEACTIVATED_TEXT)

    def activate(self, now_s: float, q: Array, dq: Array) -> None:
        """Take goals again; stays where the arm is."""
        if not self.active:
            self.active = True
            self._brake(now_s, q, dq)

    def check(self, now_s: float, q: Array, dq: Array) -> None:
        if not self.busy or self.hold_results:
            return
        late_s = now_s - self.reference.start_s - self.reference.duration_s
        error = np.abs(self.reference.position_at(now_s) - q)
        unseen, self._unseen = self._unseen, False
        if (late_s < 0 or unseen) and self._off_the_way(error, now_s, dq):
            self._brake(now_s, q, dq)
            self._end(GoalStatus.ABORTED, FollowError.PATH_TOLERANCE_VIOLATED, PATH_TEXT)
        elif late_s >= 0:
            self._try_to_finish(now_s, late_s, error, q, dq)

    def _off_the_way(self, error: Array, now_s: float, dq: Array) -> bool:
        limits = self._limits
        if _outside(error, limits.path_rad):
            return True
        if not np.count_nonzero(limits.path_rad_s):
            return False
        wanted = self.set_point(now_s).velocity_rad_s
        return _outside(np.abs(wanted - dq), limits.path_rad_s)

    def _try_to_finish(
        self, now_s: float, late_s: float, error: Array, q: Array, dq: Array
    ) -> None:
        limits = self._limits
        if not _outside(error, limits.goal_rad) and not _outside(np.abs(dq), limits.goal_rad_s):
            # A trajectory from the topic just stays where it ends, under its tolerances.
            if self._pending is not None:
                self.busy = False
                self._end(GoalStatus.SUCCEEDED, FollowError.SUCCESSFUL, SUCCESS_TEXT)
        elif 0 < limits.goal_time_s < late_s:
            self._brake(now_s, q, dq)
            text = GOAL_TIME_TEXT.format(late_s)
            self._end(GoalStatus.ABORTED, FollowError.GOAL_TOLERANCE_VIOLATED, text)

    def delay(self, duration_s: float) -> None:
        """Count the motion in force from later on: the arm began it after it was taken [s]."""
        self.reference = replace(self.reference, start_s=self.reference.start_s + duration_s)
        self.origin_s += duration_s

    def set_point(self, now_s: float) -> Setpoint:
        """Return where the arm should be at a time on the clock [s]."""
        return Setpoint(*self.reference.at_one(now_s))

    def _take(self, goal: TrajectoryGoal, now_s: float, q: Array, dq: Array) -> None:
        self.reference = goal_spline(self._robot.joints, goal, now_s, q, dq)
        self._taken_s = now_s
        self.origin_s = now_s if goal.start_s is None else goal.start_s
        self.busy = self._unseen = True

    def _brake(self, now_s: float, q: Array, dq: Array) -> None:
        self._stay(Spline.braking(self._robot.limits, q, dq, now_s), now_s)

    def _stay(self, reference: Spline, now_s: float) -> None:
        self.busy = False
        self._taken_s = self.origin_s = now_s
        self.reference = reference

    def _end(self, status: GoalStatus, code: FollowError, text: str) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.finish(FollowResult(status=status, error_code=code, error_string=text))


def _outside(error: Array, tolerance: Array) -> bool:
    over = error > tolerance
    # nearly always nothing is, which is found out in half of the time
    return bool(np.count_nonzero(over) and np.count_nonzero(over & (tolerance > 0)))
