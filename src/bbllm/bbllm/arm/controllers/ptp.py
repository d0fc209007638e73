"""
Point-to-point motions that the robot itself plans, as `action_server/ptp_motion` offers them.

States and texts are those of libfranka's asynchronous position control. All joints start and end
together, along quintics; how the real robot shapes its motions is not published.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from bbllm.arm.controllers.pending import Pending
from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.motion.trajectory import Spline
from bbllm.robots.joint_limits import JointLimits

SIZE_TEXT = 'Goal joint configuration size does not match number of joints.'
INPUT_TEXT = 'libfranka: Move command aborted: invalid input provided!'
BUSY_TEXT = (
    'libfranka robot: Cannot perform this operation while another control or read operation is '
    'running.'
)
REFLEX_TEXT = 'Control aborted due to reflex.'
USER_STOP_TEXT = 'Control aborted due to user stop.'
LIMIT_ERROR = 'joint_motion_generator_position_limits_violation'
STOPPED_RAD_S = 0.01
ACCELERATION_SHARE = 0.5
# Of a quintic from rest to rest over 1 rad in 1 s.
_PEAK_SPEED, _PEAK_ACCELERATION = 1.875, 10 / np.sqrt(3)


class TargetStatus(IntEnum):
    """The twin of franka_msgs/TargetStatus."""

    IDLE = 0
    EXECUTING = 1
    TARGET_REACHED = 2
    ABORTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PtpResult:
    """How a motion ended."""

    status: TargetStatus
    message: str = ''


PtpPending = Pending[PtpResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class PtpGoal:
    """A goal as it was sent, unchecked."""

    position_rad: tuple[float, ...]
    max_velocity_rad_s: tuple[float, ...]
    """Of each joint [rad/s]."""
    tolerance_rad: float


class PtpMotion:
    """Drives one motion, then keeps its end; `sim.playback` plays it."""

    def __init__(self, limits: JointLimits) -> None:
        self._limits = limits
        self.reference = Spline.still(np.zeros(N_JOINTS))
        self._target: Array = np.zeros(N_JOINTS)
        self._tolerance_rad = 0.0
        self._pending: PtpPending | None = None

    @property
    def busy(self) -> bool:
        return self._pending is not None

    def start(self, goal: PtpGoal, now_s: float, q: Array) -> PtpPending:
        """Move from desired positions *q*, at rest, to a goal that `fault_of` has found fit."""
        self._target = np.array(goal.position_rad)
        self._tolerance_rad = goal.tolerance_rad
        speed = np.minimum(goal.max_velocity_rad_s, self._limits.velocity_rad_s)
        acceleration = ACCELERATION_SHARE * self._limits.acceleration_rad_s2
        way = _rest_to_rest(q, self._target, speed, acceleration)
        self.reference = replace(way, start_s=now_s)
        self._pending = PtpPending()
        return self._pending

    def delay(self, duration_s: float) -> None:
        """Count the motion from later on: the arm began it after it was taken [s]."""
        self.reference = replace(self.reference, start_s=self.reference.start_s + duration_s)

    def check(self, now_s: float) -> None:
        """End the motion where the robot's own set point has reached the target."""
        if self._pending is None:
            return
        q, dq, _ = self.reference.at_one(now_s)
        near = float(np.linalg.norm(q - self._target)) < self._tolerance_rad
        if near and float(np.linalg.norm(dq)) < STOPPED_RAD_S:
            self._end(PtpResult(status=TargetStatus.TARGET_REACHED))

    def abort(self, reason: str, now_s: float, q: Array, dq: Array) -> None:
        """Give the motion up and come to rest from *q* and *dq* as measured, (7,) [rad, rad/s]."""
        self.reference = Spline.braking(self._limits, q, dq, now_s)
        self._end(PtpResult(status=TargetStatus.ABORTED, message=reason))

    def _end(self, result: PtpResult) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.finish(result)


def fault_of(goal: PtpGoal) -> str:
    if len(goal.position_rad) != N_JOINTS:
        return SIZE_TEXT
    limits: Sequence[float] = goal.max_velocity_rad_s
    numbers = np.array([*goal.position_rad, *limits, goal.tolerance_rad])
    if len(limits) != N_JOINTS or not np.isfinite(numbers).all() or min(limits) <= 0:
        return INPUT_TEXT
    return ''


def _rest_to_rest(start: Array, end: Array, speed: Array, acceleration: Array) -> Spline:
    way = np.abs(end - start)
    T = max(
        float(np.max(_PEAK_SPEED * way / speed)),
        float(np.max(np.sqrt(_PEAK_ACCELERATION * way / acceleration))),
    )
    if T < 1e-3:
        return Spline.still(end)
    zero = np.zeros((2, N_JOINTS))
    return Spline.through(np.array([0.0, T]), np.array([start, end]), zero, zero)
