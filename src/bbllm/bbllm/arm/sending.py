"""Sends motions to the driver and looks for itself whether they did what they should."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bbllm.arm.driver import (
    ArmDriver,
    Array,
    GoalStatus,
    GripperResult,
    JointTrajectory,
    Tolerances,
)
from bbllm.arm.failures import (
    SkillError,
    StuckError,
    follow_failure,
    gripper_failure,
    stopped,
)
from bbllm.arm.kinematics import forward
from bbllm.core.approval import AskPerson
from bbllm.core.types import Code, Scene
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import pose_of_matrix

MOST_RECOVERIES = 2
"""How often the robot is recovered in one call: what stops it again will go on doing so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingParams:
    """How closely motions are watched, and how fast the fingers move."""

    tolerances: Tolerances = field(default_factory=Tolerances)
    """What the controller holds every trajectory to."""
    final_rad: float = 0.02
    """Largest joint error at rest after a goal that succeeded [rad]."""
    still_rad_s: float = 0.05
    """An arm slower than this is at rest [rad/s]."""
    settle_s: float = 1.0
    """How long the arm may take to come to rest [s]."""
    hold_rad: float = 0.03
    """A motion starts where the last one ended, if the arm is still this near to it [rad]."""
    gripper_speed_m_s: float = 0.1
    """Speed at which the distance between the fingers changes [m/s]."""
    width_tolerance_m: float = 0.002
    """How far an opening may be off [m]."""


class MotionGuard(Protocol):
    """The last look at a motion before it is commanded."""

    def look(self, scene: Scene, hand: Hand) -> None:
        """Learn where things are and what is held, before the motions of a call are planned."""
        ...

    def carry(self, name: str | None, hand: Hand) -> None:
        """Learn what is in the hand from now on, in mid-call; None where nothing is."""
        ...

    def check_motion(
        self, trajectory: JointTrajectory, doing: str, *, width_m: float | None = None
    ) -> None:
        """
        Raise SkillError with code UNSAFE, naming the rule, where a motion breaks one.

        `width_m` is how far the fingers will be open on it, None: as they are now [m].
        """
        ...

    def check_grip(self, force_n: float, doing: str) -> None:
        """Raise the same where the fingers would press too hard [N]."""
        ...


class Sender:
    """
    One arm and hand, with checks around every goal.

    `cancel` may be called from any thread; the motion that runs, and all later ones, then fail
    with CANCELLED until `begin`.
    """

    def __init__(
        self,
        driver: ArmDriver,
        params: SendingParams | None = None,
        on_activity: Callable[[str], None] | None = None,
        *,
        guard: MotionGuard | None = None,
        ask_person: AskPerson | None = None,
    ) -> None:
        self.driver = driver
        self.guard = guard
        self._ask_person = ask_person
        self.params = params or SendingParams()
        self.on_activity = on_activity
        self._cancelled = threading.Event()
        self.grip_interrupted = False
        """Whether the last grip was stopped half-way: what is in the hand may be loose."""
        self._commanded: Array | None = None
        self._recoveries = 0

    def begin(self) -> None:
        """Begin a call: forget an earlier cancel and earlier recoveries."""
        self._recoveries = 0
        self._cancelled.clear()
        self.driver.begin()

    def cancel(self) -> None:
        """Stop what runs; the arm holds its place and its grip."""
        self._cancelled.set()
        self.driver.stop()

    def q_start(self) -> Array:
        """
        Return where the next motion starts, shape (7,) [rad].

        The end of the last motion while the arm is there, so that the controller's set point
        does not jump by the static error; else what is measured.
        """
        measured = self.driver.joint_state().position_rad
        if self._commanded is not None:
            if float(np.abs(measured - self._commanded).max()) <= self.params.hold_rad:
                return self._commanded
            self._commanded = None
        return np.array(measured, dtype=np.float64)

    def hand(self) -> Hand:
        """Return the hand as it is measured."""
        state = self.driver.joint_state()
        return Hand(
            tcp=pose_of_matrix(forward(state.position_rad).tolist()), width_m=state.width_m
        )

    def check_ahead(
        self, trajectory: JointTrajectory | None, doing: str, width_m: float | None = None
    ) -> None:
        """Ask the guard before anything moves, so that a refusal leaves all as it was."""
        if self.guard is not None and trajectory is not None:
            self.guard.check_motion(trajectory, doing, width_m=width_m)

    def carry(self, name: str | None) -> None:
        """Let the guard know what is in the hand from now on."""
        if self.guard is not None:
            self.guard.carry(name, self.hand())

    def tell(self, activity: str) -> None:
        """Tell people what is done now."""
        if self.on_activity is not None:
            self.on_activity(activity)

    def follow(self, trajectory: JointTrajectory, doing: str) -> None:
        """
        Follow a trajectory and look whether the arm rests at its end.

        A robot that was stopped is recovered: before the motion if it is refused, which is then
        sent once more, and after a motion that it ended.

        Raises:
            SkillError: It does not; StuckError where the robot did not recover.
        """
        self.check(doing)
        self.tell(doing)
        if self.guard is not None:
            self.guard.check_motion(trajectory, doing)
        goal = trajectory.position_rad[-1]
        self._commanded = None
        failure = self._send(trajectory, doing)
        if failure is not None and failure.code is Code.GOAL_REJECTED:
            refused = self._recover(failure, doing)
            if isinstance(refused, StuckError):
                raise refused
            self.check(doing)
            failure = self._send(trajectory, doing)
        if failure is not None and failure.code is Code.CONTROLLER_ABORTED:
            failure = self._recover(failure, doing)
        if failure is not None:
            raise failure
        self.check(doing)
        self._check_rest(goal, doing)
        self._commanded = np.array(goal, dtype=np.float64)

    def open_to(self, width_m: float, doing: str) -> None:
        """
        Open or close the fingers to a width without gripping.

        Raises:
            SkillError: They did not get there.
        """
        self.check(doing)
        self.tell(doing)
        result = self.driver.move_gripper(width_m, self.params.gripper_speed_m_s)
        self.grip_interrupted = False
        failure = gripper_failure(result, doing)
        if failure is not None:
            raise failure
        self.check(doing)
        width = result.width_m  # the joint states of the hand may be older than its result
        if abs(width - width_m) > self.params.width_tolerance_m:
            raise SkillError(
                Code.GRIPPER_FAILED,
                f'the fingers stopped {width * 100:.1f} cm apart instead of '
                f'{width_m * 100:.1f} cm while {doing}.',
                result.error,
            )

    def grasp(
        self, width_m: float, force_n: float, inner_m: float, outer_m: float, doing: str
    ) -> GripperResult:
        """
        Close with a force; missing the width window is a result, not a failure.

        Raises:
            SkillError: The hand could not carry the goal out at all.
        """
        self.check(doing)
        self.tell(doing)
        if self.guard is not None:
            self.guard.check_grip(force_n, doing)
        result = self.driver.grasp(
            width_m, self.params.gripper_speed_m_s, force_n, inner_m, outer_m
        )
        self.grip_interrupted = result.status is GoalStatus.CANCELED
        missed = result.status is not GoalStatus.CANCELED and not result.success
        if missed and not result.error:
            return result
        failure = gripper_failure(result, doing)
        if failure is not None:
            raise failure
        self.check(doing)
        return result

    def wait(self, duration_s: float, doing: str) -> None:
        """Let time pass on the world's clock [s]."""
        self.check(doing)
        self.driver.wait(duration_s)
        self.check(doing)

    def check(self, doing: str) -> None:
        """Raise SkillError with code CANCELLED when somebody has stopped the call."""
        if self._cancelled.is_set():
            raise SkillError(Code.CANCELLED, f'the robot was stopped while {doing}.')

    def _send(self, trajectory: JointTrajectory, doing: str) -> SkillError | None:
        return follow_failure(self.driver.follow(trajectory, self.params.tolerances), doing)

    def _recover(self, failure: SkillError, doing: str) -> SkillError:
        """Let the robot recover, if that is worth a try; return the failure with its cause."""
        if self._recoveries >= MOST_RECOVERIES:
            return StuckError(failure.code, str(failure), failure.raw)
        self._recoveries += 1
        return stopped(failure, self.driver.recover(), doing)

    def _check_rest(self, goal: Array, doing: str) -> None:
        """Verify the final state: without constraints of its own a controller never does."""
        deadline = self.driver.now_s() + self.params.settle_s
        while True:
            state = self.driver.joint_state()
            errors = np.abs(state.position_rad - goal)
            moving = float(np.abs(state.velocity_rad_s).max()) > self.params.still_rad_s
            if float(errors.max()) <= self.params.final_rad and not moving:
                return
            if self.driver.now_s() >= deadline:
                break
            self.driver.wait(0.02)
            self.check(doing)
        if moving:
            raise SkillError(
                Code.TIMEOUT,
                f'the arm did not come to rest within {self.params.settle_s:.1f} s after {doing}.',
            )
        joint = int(errors.argmax())
        raise SkillError(
            Code.GOAL_TOLERANCE,
            f'joint {joint + 1} stopped {math.degrees(float(errors[joint])):.1f} degrees from its '
            f'goal after {doing}.',
        )
