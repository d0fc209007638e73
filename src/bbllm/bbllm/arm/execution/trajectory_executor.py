"""Execution of motions by the driver, with checks of their result."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.driver import (
    FREE_RAD,
    Amendment,
    ArmDriver,
    Array,
    FingerMove,
    FollowResult,
    GoalStatus,
    GraspGoal,
    GripperResult,
    JointTrajectory,
    Tolerances,
)
from bbllm.arm.execution.recovery import ContactLimiter, Recovery
from bbllm.arm.failures import (
    LateHandError,
    SkillError,
    follow_failure,
    gripper_failure,
    stop_failure,
)
from bbllm.arm.safety.envelope_guard import EnvelopeGuard
from bbllm.arm.stop_causes import Stop
from bbllm.core.approval import AskPerson
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import SAME_S
from bbllm.core.types import Code
from bbllm.skills.grasps import Hand

STOP_S = 0.5
"""How long after a goal that was aborted or refused the signs of a stop may come, wall [s]."""
DEACTIVATED_S = 3.0
"""The same where the controller reports that it was deactivated [s]."""
INTERRUPTED = frozenset({GoalStatus.CANCELED, GoalStatus.TIMED_OUT, GoalStatus.ENDLESS})
"""Endings of a goal of the hand that may leave it half-way."""


TOLERANCES = Tolerances()
FINAL_RAD = 0.02
"""Largest joint error of an arm that rests at a goal [rad]."""
STILL_RAD_S = 0.05
"""An arm slower than this is at rest [rad/s]."""
REST_S = 1.0
"""How long the arm may take to come to rest after a goal that succeeded [s]."""
HOLD_RAD = 0.03
"""A motion starts where the last one ended, if the arm is still this near to it [rad]."""
GRIPPER_SPEED_M_S = 0.1
"""Speed at which the distance between the fingers changes [m/s]."""
WIDTH_TOLERANCE_M = 0.002
CHECK_S = 0.02
"""Period of the checks, on the world's clock [s]."""


def check_rest(driver: ArmDriver, goal: Array, activity: str, cancel: CancelToken) -> None:
    """Wait until the arm rests at a goal, shape (7,) [rad]; raises SkillError if not in time."""
    deadline = driver.now_s() + REST_S
    while True:
        state = driver.joint_state()
        errors = np.abs(state.position_rad - goal)
        moving = float(np.abs(state.velocity_rad_s).max()) > STILL_RAD_S
        if float(errors.max()) <= FINAL_RAD and not moving:
            return
        if driver.now_s() >= deadline:
            break
        driver.wait(CHECK_S)
        cancel.raise_if_cancelled()
    if moving:
        message = f'the arm did not come to rest within {REST_S:.1f} s after {activity}.'
        raise SkillError(Code.TIMEOUT, message)
    joint = int(errors.argmax())
    raise SkillError(
        Code.GOAL_TOLERANCE,
        f'joint {joint + 1} stopped {math.degrees(float(errors[joint])):.1f} degrees from its '
        f'goal after {activity}.',
    )


StopCondition = Callable[[], bool] | None


@dataclass(slots=True)
class Motion:
    """A motion and what the arm is about with it; both change where it is amended."""

    trajectory: JointTrajectory
    activity: str


class TrajectoryExecutor:
    """
    One arm and hand, with checks around every goal.

    `cancel` may be called from any thread; the motion that runs, and all later ones, then fail
    with CANCELLED until `begin`. A robot that has stopped is seen before every goal of arm or
    hand, and recovered or asked a person about before anything is sent.
    """

    def __init__(
        self,
        driver: ArmDriver,
        on_activity: Callable[[str], None] | None = None,
        *,
        guard: EnvelopeGuard | None = None,
        ask_person: AskPerson | None = None,
    ) -> None:
        self.driver = driver
        self.guard = guard
        self.on_activity = on_activity
        self._cancelled = threading.Event()
        self.grip_interrupted = False
        """Whether the hand was stopped half-way: what is in it may be loose."""
        self._commanded: Array | None = None
        self._moved, self._doing = False, ''
        limits = None if guard is None else guard.contact_limits
        self._limiter = ContactLimiter(driver, limits, STILL_RAD_S)
        self._recovery = Recovery(driver, ask_person, self.report, self._limiter)

    def begin(self) -> None:
        self._moved, self._doing = False, ''
        self._cancelled.clear()
        self.driver.begin()

    def succeeded(self) -> None:
        """End a call that succeeded: where the arm moved, earlier recoveries are forgotten."""
        if self._moved:
            self._recovery.succeeded()

    def cancel(self) -> None:
        """Stop the motion; the arm keeps its position and its grip."""
        self._cancelled.set()
        self.driver.stop()

    def q_start(self) -> Array:
        """
        Return where the next motion starts, shape (7,) [rad].

        The controller's set point, so that it does not jump by the static error: the end of the
        last motion while the arm is there, or where a stop has left it. Else what is measured: an
        arm that something keeps off its set point must not go on pushing.
        """
        measured = self.driver.joint_state().position_rad
        if self._commanded is not None:
            if float(np.abs(measured - self._commanded).max()) <= HOLD_RAD:
                return self._commanded
            self._commanded = None
        set_point = self.driver.set_point()
        measured = self.driver.joint_state().position_rad  # an arm that braked rests by now
        if set_point is not None and float(np.abs(measured - set_point).max()) <= FREE_RAD:
            return set_point
        return np.array(measured, dtype=np.float64)

    def hand(self) -> Hand:
        state = self.driver.joint_state()
        return self.driver.robot_model.hand_at(state.position_rad, state.width_m)

    def check_ahead(
        self,
        trajectory: JointTrajectory | None,
        activity: str,
        width_m: float | None = None,
        *,
        opening_m: float | None = None,
    ) -> None:
        """Ask the guard before anything moves, so that a refusal leaves all as it was."""
        if self.guard is not None and trajectory is not None:
            self.guard.check_motion(trajectory, activity, width_m=width_m, opening_m=opening_m)

    def check_hand(self, width_m: float, activity: str, at: Array | None = None) -> None:
        if self.guard is not None:
            q = self.driver.joint_state().position_rad if at is None else at
            self.guard.check_hand(q, width_m, activity)

    def carry(self, name: str | None) -> None:
        if self.guard is not None:
            self.guard.carry(name, self.hand())

    def report(self, activity: str) -> None:
        if self.on_activity is not None:
            self.on_activity(activity)

    def ready(self, activity: str) -> bool:
        """
        Recover a robot that has stopped; returns whether it had.

        Raises:
            SkillError: A person was asked, which ends the call; StuckError where the robot stays
                stopped.
        """
        self.check(activity)
        if self._recovery.able():
            return False
        before = self._doing or activity  # it stopped during what was done last
        stop = self._recover(before)
        if stop.asked:
            raise stop_failure(stop, before)
        return True

    def limit_contacts(self, activity: str) -> bool:
        """Set the contact thresholds where needed; returns whether. Raises SkillError."""
        if self._limiter.in_force:
            return False
        self._commanded = None  # the controller begins anew, at what is measured
        try:
            self._limiter.need(activity)
        except SkillError:
            if self._recovery.able(STOP_S):
                raise
            self.ready(activity)  # it stopped meanwhile; the recovery tells it too
        return True

    def follow(
        self, trajectory: JointTrajectory, activity: str, stop_condition: StopCondition = None
    ) -> None:
        """
        Follow a trajectory and check that the arm rests at its end.

        Where *stop_condition* ends it early, it fails with code CANCELLED; see `ArmDriver.follow`.

        Raises:
            SkillError: It does not; StuckError where the robot stopped and did not recover.
        """

        def send() -> FollowResult:
            return self.driver.follow(trajectory, TOLERANCES, stop_condition)

        self._follow(Motion(trajectory, activity), send)

    def follow_amended(
        self, trajectory: JointTrajectory, activity: str, amendment: Amendment, then: str
    ) -> bool:
        """
        Follow a trajectory that may be amended on the way; returns whether it was. See `follow`.

        *then* is the activity from there on, for its failures. The envelope is asked about what
        `make` returns; what it refuses is not sent.
        """
        motion, amended = Motion(trajectory, activity), False

        def make() -> JointTrajectory | None:
            whole = amendment.make()
            if whole is not None:
                try:
                    self.check_ahead(whole, then)
                except SkillError:
                    return None
                self.report(then)
                made.append(whole)
            return whole

        made: list[JointTrajectory] = []
        checked = replace(amendment, make=make)

        def send() -> FollowResult:
            nonlocal amended
            result, amended = self.driver.follow_amended(trajectory, TOLERANCES, checked)
            if amended:
                motion.trajectory, motion.activity = made[-1], then
                self._doing = then
            return result

        self._follow(motion, send)
        return amended

    def follow_opening(
        self, trajectory: JointTrajectory, activity: str, fingers: FingerMove, opening: str
    ) -> None:
        """
        Follow a trajectory while the fingers move without gripping; see `follow` and `open_to`.

        *opening* is the activity of the hand, for its failures. Raises LateHandError where the
        fingers were only late.
        """
        moved = GripperResult(status=GoalStatus.REJECTED, begun=False)

        def send() -> FollowResult:
            nonlocal moved
            followed, moved = self.driver.move_both(trajectory, TOLERANCES, fingers)
            return followed

        try:
            self._follow(Motion(trajectory, activity), send, fingers.width_m)
        except SkillError as failed:
            self.check(activity)  # a stop by a person counts first
            stopped = failed.code is Code.CANCELLED
            if stopped and moved.status is not GoalStatus.CANCELED:
                # For that the arm was stopped.
                failure = gripper_failure(moved, opening) or failed
                # Late fingers may still have arrived while the arm braked.
                if moved.success or moved.status is GoalStatus.TIMED_OUT:
                    raise LateHandError(failure.code, str(failure), failure.raw) from None
                raise failure from None
            raise
        finally:
            self._note(moved)
        if not moved.begun:  # the robot had stopped, or the hand refused it
            self.open_to(fingers.width_m, opening)
        else:
            self._check_opened(self._unless_cut(moved, opening), fingers.width_m, opening)

    def _follow(
        self,
        motion: Motion,
        send: Callable[[], FollowResult],
        opening_m: float | None = None,
    ) -> None:
        trajectory, activity = motion.trajectory, motion.activity
        recovered = self.ready(activity)
        recovered = self.limit_contacts(activity) or recovered
        self._begin_to(activity)
        if self.guard is not None:
            self.guard.check_motion(trajectory, activity, opening_m=opening_m)
        self._commanded = None
        failure = self._send(motion, send, recovered=recovered)
        while failure is not None and failure.code is Code.GOAL_REJECTED:
            if self._recovery.able(STOP_S):
                raise failure
            # It stopped after the look. Nothing was done yet, so the motion is sent again, but
            # whoever brought it back may have moved it, also where that was done by now.
            self.ready(activity)
            failure = self._send(motion, send, recovered=True)
        goal, activity = motion.trajectory.position_rad[-1], motion.activity
        if failure is not None:
            raise self._cause_of(failure, activity)
        self.check(activity)
        cancel = CancelToken(lambda: self.ready(activity))
        check_rest(self.driver, goal, activity, cancel)
        self._commanded = np.array(goal, dtype=np.float64)
        self._moved = True

    def open_to(self, width_m: float, activity: str) -> None:
        """Open or close the fingers without gripping; raises SkillError if they stop elsewhere."""
        asked = (width_m, GRIPPER_SPEED_M_S)
        result = self._send_hand(lambda: self.driver.move_gripper(*asked), width_m, activity)
        self._check_opened(result, width_m, activity)

    def _check_opened(self, result: GripperResult, width_m: float, activity: str) -> None:
        failure = gripper_failure(result, activity)
        if failure is not None:
            raise failure
        self.check(activity)
        # The joint states of the hand may be older than its result.
        if abs(result.width_m - width_m) > WIDTH_TOLERANCE_M:
            raise SkillError(
                Code.GRIPPER_FAILED,
                f'the fingers stopped {result.width_m * 100:.1f} cm apart instead of '
                f'{width_m * 100:.1f} cm while {activity}.',
                result.error,
            )

    def grasp(
        self, width_m: float, force_n: float, inner_m: float, outer_m: float, activity: str
    ) -> GripperResult:
        """Close with a force; missing the width window is a result, other failures SkillErrors."""
        goal = GraspGoal(width_m, GRIPPER_SPEED_M_S, force_n, inner_m, outer_m)
        if self.guard is not None:
            self.guard.check_grip(force_n, activity)
        result = self._send_hand(lambda: self.driver.grasp(goal), width_m, activity)
        missed = result.status is not GoalStatus.CANCELED and not result.success
        if missed and not result.error:
            return result
        failure = gripper_failure(result, activity)
        if failure is not None:
            raise failure
        self.check(activity)
        return result

    def wait(self, duration_s: float, activity: str) -> None:
        """Let time pass on the world's clock; a robot that stops meanwhile is recovered [s]."""
        end_s = self.driver.now_s() + duration_s
        self.check(activity)
        self._doing = activity
        while (left_s := end_s - self.driver.now_s()) > SAME_S:
            self.driver.wait(left_s)
            self.ready(activity)

    def check(self, activity: str) -> None:
        """Raise SkillError with code CANCELLED where the call was stopped."""
        if self._cancelled.is_set():
            raise SkillError(Code.CANCELLED, f'the robot was stopped while {activity}.')

    def _send(
        self,
        motion: Motion,
        send: Callable[[], FollowResult],
        *,
        recovered: bool,
    ) -> SkillError | None:
        """Send a goal; after a recovery only where the arm still is where the motion starts."""
        if recovered:
            measured = self.driver.joint_state().position_rad
            off_rad = float(np.abs(measured - motion.trajectory.position_rad[0]).max())
            if off_rad > HOLD_RAD:
                return SkillError(
                    Code.CONTROLLER_ABORTED,
                    f'the robot had stopped and has moved meanwhile, so {motion.activity} was not '
                    'begun.',
                )
        result = send()
        return follow_failure(result, motion.activity)

    def _send_hand(
        self, send: Callable[[], GripperResult], width_m: float, activity: str
    ) -> GripperResult:
        """Send a goal of the hand; again where the robot stopped before it had begun."""
        while True:
            self.ready(activity)
            self._begin_to(activity)
            self.check_hand(width_m, activity)
            result = send()
            if result.status is not GoalStatus.REJECTED or self._recovery.able(STOP_S):
                break
        self._note(result)
        return self._unless_cut(result, activity)

    def _note(self, result: GripperResult) -> None:
        if result.begun:
            self.grip_interrupted = result.status in INTERRUPTED

    def _unless_cut(self, result: GripperResult, activity: str) -> GripperResult:
        """Return the end of a goal of the hand; recovers a robot whose stop has ended it."""
        cut = result.status is GoalStatus.CANCELED and not self._cancelled.is_set()
        if cut and not self._recovery.able(STOP_S):
            raise stop_failure(self._recover(activity), activity, result.error)
        return result

    def _cause_of(self, failure: SkillError, activity: str) -> SkillError:
        """
        Return why a motion failed: where the robot has stopped, it is recovered first.

        A goal that was being cancelled when the robot stopped ends as cancelled.
        """
        reported = 'deactivat' in failure.raw
        if failure.code not in (Code.CONTROLLER_ABORTED, Code.TIMEOUT) and not reported:
            return failure
        if self._recovery.able(DEACTIVATED_S if reported else STOP_S):
            return failure
        return stop_failure(self._recover(activity), activity, failure.raw)

    def _begin_to(self, activity: str) -> None:
        self._doing = activity
        self.report(activity)

    def _recover(self, activity: str) -> Stop:
        self._commanded = None
        return self._recovery.run(activity, CancelToken(lambda: self.check(activity)))
