"""
The Franka Hand as a state machine: homing, move, grasp and stop as in franka_gripper.

Results carry the texts that libfranka gives: an empty one when a grasp missed its width window
(the hand then opens again), `Command failed!` for what cannot be done, `Command aborted!` when
another command or a stop came. Physics and clock are inputs of `update`.
"""

from dataclasses import dataclass
from enum import Enum

from bbllm.arm.controllers.pending import ABORTED_TEXT, GripperPending
from bbllm.arm.driver import GoalStatus, GraspGoal, GripperResult
from bbllm.robots.robot_model import HandModel

FAILED_TEXT = 'libfranka gripper: Command failed!'

HOMING_SPEED_M_S = 0.04
MOVE_FORCE_N = 40.0
"""What moves press with at most [N]."""
WIDTH_TOLERANCE_M = 0.001
ARRIVED_SPEED_M_S = 0.01
STALL_SPEED_M_S = 0.001
STALL_S = 0.015
SQUEEZE_S = 0.05
"""How long a grasp presses with its full force before it is judged [s]."""
BLOCKED_M = 0.002
"""A move that stands still this far behind its set point is blocked [m]."""
SERVO_STIFFNESS_N_M = 1000.0
"""kp of the hand's actuator in the model, per finger [N/m]."""


class Phase(Enum):
    """What the hand does now."""

    IDLE = 'idle'
    MOVING = 'moving'
    HOMING = 'homing'
    GRASPING = 'grasping'
    SQUEEZING = 'squeezing'
    HOLDING = 'holding'


@dataclass(frozen=True, slots=True)
class GripperCommand:
    """The command of the fingers until the next update."""

    width_m: float
    """Set point of the width at that time [m]."""
    force_n: float


class Gripper:
    """One hand; one command at a time, a new one aborts the old."""

    def __init__(self, hand: HandModel, width_m: float, *, homed: bool = True) -> None:
        """Start idle, at a width [m]; a hand that was not homed yet has no widest opening."""
        self._hand = hand
        self.phase = Phase.IDLE
        self.max_width_m = hand.max_width_m if homed else 0.0
        """Widest opening, as the last homing found it; 0 before the first [m]."""
        self.fail_next = False
        """Fault for tests of clients: the next command fails."""
        self.miss_next = False
        self._set_m = width_m
        self._target_m = width_m
        self._speed_m_s = hand.max_speed_m_s
        self._force_n = MOVE_FORCE_N
        self._pending: GripperPending | None = None
        self._grasp: GraspGoal | None = None
        self._closes = True
        self._opened_m = width_m
        self._still_s = 0.0
        self._squeezed_s = 0.0

    def move(self, width_m: float, speed_m_s: float, measured_m: float) -> GripperPending:
        pending = self._begin(measured_m)
        if not 0 <= width_m <= self.max_width_m or not speed_m_s > 0:
            self._fail(measured_m, FAILED_TEXT)
        elif not pending.done:
            self._set_m = measured_m
            self._go(Phase.MOVING, width_m, speed_m_s, MOVE_FORCE_N)
        return pending

    def grasp(self, goal: GraspGoal, measured_m: float) -> GripperPending:
        """
        Close until something stops the fingers, then press; opens when the goal is wider.

        The force is that of both fingers together, so half of it acts on each.
        """
        pending = self._begin(measured_m)
        width_legal = 0 <= goal.width_m <= self.max_width_m
        if not (width_legal and goal.speed_m_s > 0 and 0 < goal.force_n <= self._hand.max_force_n):
            self._fail(measured_m, FAILED_TEXT)
        elif not pending.done:
            self._grasp, self._closes = goal, goal.width_m <= measured_m
            self._opened_m = self._set_m = measured_m
            target = 0.0 if self._closes else self.max_width_m
            self._go(Phase.GRASPING, target, goal.speed_m_s, goal.force_n)
        return pending

    def home(self, measured_m: float) -> GripperPending:
        pending = self._begin(measured_m)
        if not pending.done:
            self._set_m = measured_m
            self._go(Phase.HOMING, 0.0, HOMING_SPEED_M_S, MOVE_FORCE_N)
        return pending

    def stop(self, measured_m: float) -> None:
        """Stay at this width; a grip is kept."""
        self._fail(measured_m, ABORTED_TEXT)
        if self.phase is not Phase.HOLDING:
            self._freeze(measured_m)

    def cancel(self, measured_m: float) -> None:
        """Stop because a client cancelled its goal: that ends as CANCELED, with the same text."""
        if self._pending is not None:
            self._finish(GoalStatus.CANCELED, measured_m, success=False, error=ABORTED_TEXT)
            self.stop(measured_m)

    def update(self, duration_s: float, measured_m: float, speed_m_s: float) -> GripperCommand:
        """
        Advance until the next update; returns the command at that time, to be ramped up to.

        *speed_m_s* is the rate of the measured width.
        """
        arrived = self._set_m == self._target_m
        still = abs(speed_m_s) < STALL_SPEED_M_S
        self._still_s = self._still_s + duration_s if still else 0.0
        stalled = self._still_s >= STALL_S and (
            arrived or abs(measured_m - self._set_m) > BLOCKED_M
        )
        if self.phase is Phase.MOVING:
            self._moving(measured_m, arrived and abs(speed_m_s) < ARRIVED_SPEED_M_S, stalled)
        elif self.phase is Phase.HOMING:
            self._homing(measured_m, stalled)
        elif self.phase is Phase.GRASPING and stalled:
            self._squeeze(measured_m)
        elif self.phase is Phase.SQUEEZING:
            self._squeezed_s += duration_s
            if self._squeezed_s >= SQUEEZE_S and stalled:
                self._judge(measured_m)
        step = self._speed_m_s * duration_s
        self._set_m += min(max(self._target_m - self._set_m, -step), step)
        return GripperCommand(self._set_m, self._force_n)

    def _moving(self, measured_m: float, settled: bool, stalled: bool) -> None:
        if settled and abs(measured_m - self._target_m) <= WIDTH_TOLERANCE_M:
            self.phase = Phase.IDLE
            self._finish(GoalStatus.SUCCEEDED, measured_m, success=True, error='')
        elif stalled:
            self._fail(measured_m, FAILED_TEXT)
            self._freeze(measured_m)

    def _homing(self, measured_m: float, stalled: bool) -> None:
        if stalled and self._target_m == 0.0:
            self._set_m = measured_m
            self._go(Phase.HOMING, self._hand.max_width_m, HOMING_SPEED_M_S, MOVE_FORCE_N)
        elif stalled:
            self.max_width_m = min(round(measured_m, 4), self._hand.max_width_m)
            self.phase = Phase.IDLE
            self._finish(GoalStatus.SUCCEEDED, measured_m, success=True, error='')

    def _squeeze(self, measured_m: float) -> None:
        """The fingers stand: press with the full force, which the servo gives when far off."""
        grasp = self._grasp
        assert grasp is not None  # set with the phase
        reach = 1.5 * grasp.force_n / 2 / SERVO_STIFFNESS_N_M
        if self._closes:
            self._set_m = self._target_m = min(measured_m - reach, -0.005)
        else:
            self._set_m = self._target_m = measured_m + reach
        self.phase, self._squeezed_s = Phase.SQUEEZING, 0.0

    def _judge(self, measured_m: float) -> None:
        grasp = self._grasp
        assert grasp is not None  # set with the phase
        low, high = grasp.width_m - grasp.inner_m, grasp.width_m + grasp.outer_m
        missed, self.miss_next = self.miss_next, False
        if low < measured_m < high and not missed:
            self.phase = Phase.HOLDING
            self._finish(GoalStatus.SUCCEEDED, measured_m, success=True, error='')
            return
        self._fail(measured_m, '')
        self._set_m = measured_m
        self._go(Phase.MOVING, self._opened_m, self._speed_m_s, MOVE_FORCE_N)

    def _begin(self, measured_m: float) -> GripperPending:
        if self._pending is not None:
            self.stop(measured_m)
        self._pending = pending = GripperPending()
        if self.fail_next:
            self.fail_next = False
            self._fail(measured_m, FAILED_TEXT)
        return pending

    def _go(self, phase: Phase, target_m: float, speed_m_s: float, force_n: float) -> None:
        self.phase = phase
        self._target_m = target_m
        self._speed_m_s = min(speed_m_s, self._hand.max_speed_m_s)
        self._force_n = force_n
        self._still_s = 0.0

    def _freeze(self, measured_m: float) -> None:
        """Stay where the fingers are; what they press on, they go on pressing as they do now."""
        if self.phase is Phase.SQUEEZING:
            self.phase = Phase.HOLDING
            return
        self.phase = Phase.IDLE
        if abs(self._set_m - measured_m) < BLOCKED_M:
            self._set_m = measured_m
        self._target_m = self._set_m

    def _fail(self, measured_m: float, error: str) -> None:
        self._finish(GoalStatus.ABORTED, measured_m, success=False, error=error)

    def _finish(self, status: GoalStatus, measured_m: float, *, success: bool, error: str) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.finish(
                GripperResult(status=status, success=success, error=error, width_m=measured_m)
            )
