"""The arm driver on physics in the same process: every call advances time until it ends."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bbllm.arm.controllers.pending import GripperPending, Pending, Result
from bbllm.arm.controllers.trajectory_goal import goal_from_trajectory
from bbllm.arm.driver import (
    Amendment,
    Array,
    ContactLimits,
    FingerMove,
    FollowResult,
    GoalStatus,
    GraspGoal,
    GripperResult,
    JointState,
    JointTrajectory,
    RecoveryError,
    RobotCondition,
    Tolerances,
    may_be_cut,
)
from bbllm.arm.force_estimator import ForceEstimator
from bbllm.arm.robot_settings import collision_order
from bbllm.core.errors import LostNodeError
from bbllm.robots.robot_model import RobotModel
from bbllm.sim.faults import FaultMonitor
from bbllm.sim.robot import SimulatedRobot

CHUNK_S = 0.02
"""Simulated time between checks of a goal, `stop` and `on_advance` [s]."""
FINE_S = 0.005
GIVE_UP_S = 2.0
"""How much longer than planned, and than its tolerance, a trajectory may take [s]."""
GRIPPER_GIVE_UP_S = 15.0
"""How long a command of the hand may take; homing takes about 5 s [s]."""
STOP_S = 1.0
"""How long a stop may take: from 5.26 rad/s at 10 rad/s^2 it is half of that [s]."""
HANG_S = 2.0
"""How old the newest joint states may be, before the driver counts as hanging [s]."""


class SimDriver:
    """Implements arm.driver.ArmDriver, which describes the methods, on a simulated robot."""

    def __init__(
        self,
        robot: SimulatedRobot,
        *,
        speed: float = 0.0,
        on_advance: Callable[[], None] | None = None,
    ) -> None:
        """
        Drive a robot that no one else advances.

        *speed* is in simulated seconds per second; 0 is as fast as it goes. *on_advance* is called
        after 20 ms of simulated time or less, for a viewer, and may call `stop`.
        """
        self.robot = robot
        self._speed = speed
        self._on_advance = on_advance
        self._stop = threading.Event()
        self._limited: tuple[FaultMonitor, ContactLimits] | None = None
        self._due_s = time.monotonic()
        self._pull = ForceEstimator()
        self._acted_s = 0.0
        self.busy = False
        """Whether a goal of arm or hand is being carried out."""

    @property
    def robot_model(self) -> RobotModel:
        return self.robot.robot_model

    def now_s(self) -> float:
        return self.robot.time_s

    def joint_state(self) -> JointState:
        state = self.robot.joint_state()
        age_s = self.robot.time_s - state.stamp_s
        if age_s > HANG_S:
            raise LostNodeError(
                f'The simulated driver hangs: its joint states have had the same stamp for '
                f'{age_s:.1f} s. Clear the fault driver_hang.'
            )
        return state

    def set_point(self) -> Array | None:
        """Return the set point of the simulated controller, which is always known."""
        self._come_to_rest()
        return self.robot.set_point().position_rad

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        pending = self.robot.follow(goal_from_trajectory(self.robot_model, trajectory, tolerances))
        lasts_s = trajectory.duration_s
        return self._follow_result(
            pending, lasts_s, tolerances, self.robot.cancel_follow, stop_condition=stop_condition
        )

    def move_both(
        self, trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        arm = self.robot.follow(goal_from_trajectory(self.robot_model, trajectory, tolerances))
        if arm.result is not None:  # it was refused
            return arm.result, GripperResult(status=GoalStatus.REJECTED, begun=False)
        hand = self.robot.move_gripper(fingers.width_m, fingers.speed_m_s)
        due_s = self.robot.time_s + fingers.due_s
        late = False

        def cancel() -> None:
            self.robot.cancel_follow()
            self.robot.cancel_gripper()

        def is_late() -> bool:
            nonlocal late
            arrived = hand.result is not None and hand.result.success
            late = late or (self.robot.time_s >= due_s and not arrived)
            return late

        followed = self._follow_result(arm, trajectory.duration_s, tolerances, cancel, is_late)
        if followed.status is not GoalStatus.SUCCEEDED:
            self.robot.cancel_gripper()
        moved = self._gripper_result(hand, lambda: not self.condition().able)
        if late and moved.status is GoalStatus.CANCELED:
            moved = replace(moved, status=GoalStatus.TIMED_OUT)
        return followed, moved

    def follow_amended(
        self, trajectory: JointTrajectory, tolerances: Tolerances, amendment: Amendment
    ) -> tuple[FollowResult, bool]:
        begun_s = self.robot.time_s
        pending = self.robot.follow(goal_from_trajectory(self.robot_model, trajectory, tolerances))
        asked = amended = False

        def amend() -> bool:
            nonlocal asked, amended
            if not asked and self.robot.time_s >= begun_s + amendment.at_s:
                asked = True
                if pending.result is None and (whole := amendment.make()) is not None:
                    goal = goal_from_trajectory(self.robot_model, whole, tolerances)
                    goal = replace(goal, start_s=begun_s)
                    in_time = self.robot.time_s <= begun_s + amendment.until_s
                    amended = in_time and self.robot.replace_trajectory(goal) is None
            return False

        lasts_s, cancel = amendment.lasts_s, self.robot.cancel_follow
        result = self._follow_result(pending, lasts_s, tolerances, cancel, amend)
        return result, amended

    def vertical_force_n(self, *, settled: bool = False) -> float | None:
        """Return the force of the world on the hand along z of the base [N]; always available."""
        self._pull.add(self.robot.vertical_force_n(), self.robot.time_s)
        return self._pull.mean_n(self._acted_s if settled else 0.0)

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        return self._run_gripper(self.robot.move_gripper(width_m, speed_m_s))

    def grasp(self, goal: GraspGoal) -> GripperResult:
        return self._run_gripper(self.robot.grasp(goal), grips=True)

    def home_gripper(self) -> GripperResult:
        return self._run_gripper(self.robot.home_gripper())

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        """Return what is known of the robot: here everything, at once."""
        monitor = self.robot.monitor
        return RobotCondition(
            controllers_active=self.robot.controllers_active,
            hardware_active=monitor.hardware_active,
            mode=self.robot.mode,
            current_errors=monitor.errors,
            last_errors=monitor.last_errors,
        )

    def clear_errors(self) -> None:
        reason = self.robot.recover_errors()
        if reason is not None:
            raise RecoveryError(reason)

    def activate_hardware(self) -> None:
        if not self.robot.activate_hardware():
            raise RecoveryError('the hardware component did not become active.')

    def activate_broadcasters(self) -> None:
        """Do nothing: the simulated states need no publisher."""

    def wait_fresh(self, timeout_s: float) -> None:
        """Let time pass, and see that the states do too [s]."""
        before_s = self.robot.joint_state().stamp_s
        self._due_s = time.monotonic()
        self._advance(CHUNK_S)
        if self.robot.joint_state().stamp_s <= before_s:
            raise RecoveryError('the joint states have a stamp that does not change.')

    def activate_controller(self) -> None:
        if not self.robot.activate_controllers():
            raise RecoveryError('the controller of the arm did not become active.')

    @property
    def contact_limits(self) -> ContactLimits | None:
        """What was set with `limit_contacts`; None where the robot was reset since."""
        if self._limited is None or self._limited[0] is not self.robot.monitor:
            return None
        return self._limited[1]

    def limit_contacts(self, limits: ContactLimits) -> None:
        """Set the thresholds of the simulated robot, whose controller stays up meanwhile."""
        lower = (*limits.contact_joint_nm, *limits.contact_wrench)
        upper = (*limits.collision_joint_nm, *limits.collision_wrench)
        with self.robot.paused():
            monitor = self.robot.monitor
            reason = collision_order(lower, upper, upper).carry_out(self.robot.settings, monitor)
        if reason:
            raise RecoveryError(reason)
        self._limited = (monitor, limits)

    def wait(self, duration_s: float) -> None:
        """Let time pass; returns early after `stop` and when the robot stops [s]."""
        self._due_s = time.monotonic()
        end_s = self.robot.time_s + duration_s
        was_able = self.condition().able
        while not self._stop.is_set():
            left_s = end_s - self.robot.time_s
            if left_s < self.robot.simulation.timestep_s / 2:
                return
            self._advance(min(CHUNK_S, left_s))
            self._poll()
            if was_able and not self.condition().able:
                return
        self._stop.clear()

    def pass_time(self, duration_s: float) -> None:
        """Let time pass, whatever is stopped meanwhile, which the next call finds [s]."""
        self._due_s = time.monotonic()
        end_s = self.robot.time_s + duration_s
        while (left_s := end_s - self.robot.time_s) > self.robot.simulation.timestep_s / 2:
            self._advance(min(CHUNK_S, left_s))

    def begin(self) -> None:
        self._stop.clear()

    def stop(self) -> None:
        self._stop.set()

    def _run_gripper(self, pending: GripperPending, *, grips: bool = False) -> GripperResult:
        sent_m = self.robot.joint_state().width_m

        def is_cut() -> bool:
            now_m = self.robot.joint_state().width_m
            return not self.condition().able and may_be_cut(sent_m, now_m, grips=grips)

        return self._gripper_result(pending, is_cut)

    def _follow_result(
        self,
        pending: Pending[FollowResult],
        lasts_s: float,
        tolerances: Tolerances,
        cancel: Callable[[], None],
        is_cut: Callable[[], bool] = lambda: False,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        allowed_s = lasts_s + tolerances.goal_time_s + GIVE_UP_S
        ended = self._run(pending, allowed_s, cancel, is_cut, stop_condition, lasts_s)
        if ended and pending.result is not None:
            return pending.result
        return FollowResult(
            status=self._give_up(pending, cancel),
            error_string=f'The trajectory controller gave no result within {allowed_s:.1f} s.',
        )

    def _gripper_result(
        self, pending: GripperPending, is_cut: Callable[[], bool]
    ) -> GripperResult:
        in_time = self._run(pending, GRIPPER_GIVE_UP_S, self.robot.cancel_gripper, is_cut)
        if in_time and pending.result is not None:
            return pending.result
        return GripperResult(
            status=self._give_up(pending, self.robot.cancel_gripper),
            error=f'The hand gave no result within {GRIPPER_GIVE_UP_S:.0f} s.',
            width_m=self.joint_state().width_m,
        )

    def _run(
        self,
        pending: Pending[Result],
        allowed_s: float,
        cancel: Callable[[], None],
        is_cut: Callable[[], bool] = lambda: False,
        stop_condition: Callable[[], bool] | None = None,
        lasts_s: float = 0.0,
    ) -> bool:
        """
        Advance until a goal ends; False when it took longer than it may.

        *is_cut* returns whether it is to be cancelled for what does not end it by itself. Where it
        should last *lasts_s*, its end is looked for then.
        """
        step_s = CHUNK_S if stop_condition is None else FINE_S
        self._due_s = time.monotonic()
        end_s, planned_s = self.robot.time_s + allowed_s, self.robot.time_s + lasts_s
        tick_s = self.robot.simulation.timestep_s
        self.busy = True
        while pending.result is None and self.robot.time_s < end_s:
            if self._stop.is_set():
                cancel()
                self._settle()
                self._stop.clear()  # not before: a stop that is repeated meanwhile is the same
            else:
                left_s = planned_s - self.robot.time_s
                late = -FINE_S < left_s < tick_s
                self._advance(tick_s if late else min(step_s, max(left_s, FINE_S)), pending)
                try:
                    self._poll()
                except LostNodeError:  # no result of it would come
                    cancel()
                    self.busy = False
                    raise
                enough = stop_condition is not None and stop_condition()
                if pending.result is None and (enough or is_cut()):
                    cancel()
                    self._settle()
        self.busy = False
        self._acted_s = self.robot.time_s
        return pending.result is not None

    def _poll(self) -> None:
        """Raise what `joint_state` does, without the cost of a state where none can be old."""
        if self.robot.hangs:
            self.joint_state()

    def _give_up(self, pending: Pending[Result], cancel: Callable[[], None]) -> GoalStatus:
        """Cancel a goal that never ended; the status shows whether that ended it."""
        cancel()
        self._settle()
        self._acted_s = self.robot.time_s
        return GoalStatus.TIMED_OUT if pending.result is not None else GoalStatus.ENDLESS

    def _settle(self) -> None:
        """Let the arm come to rest after a cancel, so that it stands still when a call returns."""
        for _ in range(8):
            self._advance(CHUNK_S)
        self._come_to_rest()

    def _come_to_rest(self) -> None:
        end_s = self.robot.time_s + STOP_S
        while self.robot.set_point().velocity_rad_s.any() and self.robot.time_s < end_s:
            self._advance(CHUNK_S)

    def _advance(self, duration_s: float, pending: Pending[Any] | None = None) -> None:
        begun_s = self.robot.time_s
        self.robot.advance(duration_s, pending)
        if self._speed > 0:
            self._due_s += (self.robot.time_s - begun_s) / self._speed
            time.sleep(max(0.0, self._due_s - time.monotonic()))
        if self._on_advance is not None:
            self._on_advance()
