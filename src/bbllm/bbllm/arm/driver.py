"""
The protocol of an arm driver: the calls that the interfaces of franka_ros2 offer.

`sim.driver` implements it on physics in the same process, `bbllm_ros.driver.ros_driver` on the ROS
actions of the real driver or of `mujoco_sim`; `arm.execution.executor` depends on neither.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from bbllm.core.errors import BbllmError

if TYPE_CHECKING:
    from bbllm.robots.robot_model import RobotModel


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactLimits:
    """
    Thresholds of the external torques and wrench that the robot itself estimates at 1 kHz.

    A contact stops nothing, a collision stops the robot. Joints have shape (7,) [Nm], wrenches
    shape (6,) [N, Nm].
    """

    contact_joint_nm: tuple[float, ...]
    collision_joint_nm: tuple[float, ...]
    contact_wrench: tuple[float, ...]
    collision_wrench: tuple[float, ...]


Array = NDArray[np.float64]

N_JOINTS = 7


class GoalStatus(Enum):
    """How an action goal ended."""

    SUCCEEDED = 'succeeded'
    ABORTED = 'aborted'
    CANCELED = 'canceled'
    REJECTED = 'rejected'
    TIMED_OUT = 'timed out'
    """It never ended by itself; cancelled in the end, it did."""
    ENDLESS = 'endless'
    """It did not even end when it was cancelled."""


class FollowError(IntEnum):
    """Error codes of control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class RobotMode(IntEnum):
    """Those of FrankaRobotState.robot_mode."""

    OTHER = 0
    IDLE = 1
    MOVE = 2
    GUIDING = 3
    REFLEX = 4
    USER_STOPPED = 5
    AUTOMATIC_ERROR_RECOVERY = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class JointState:
    """What the arm and hand measure at one moment."""

    position_rad: Array
    """Shape (7,) [rad]."""
    velocity_rad_s: Array
    """Shape (7,) [rad/s]."""
    width_m: float
    """Distance between the fingers, 0 to 0.08 [m]."""
    stamp_s: float


@dataclass(frozen=True, slots=True, eq=False)
class JointTrajectory:
    """
    A motion in joint space; interpolated by quintics, so all three derivatives are given.

    It is equal to itself alone, and its arrays never change: what follows from it is remembered.
    """

    time_s: Array
    """Strictly increasing, shape (n,), time_s[0] = 0 is the state at the start [s]."""
    position_rad: Array
    """Shape (n, 7) [rad]."""
    velocity_rad_s: Array
    """Shape (n, 7), zero in the last row [rad/s]."""
    acceleration_rad_s2: Array
    """Shape (n, 7), zero in the last row [rad/s^2]."""

    @property
    def duration_s(self) -> float:
        return float(self.time_s[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """Limits that the controller enforces on a goal (all joints alike)."""

    path_rad: float = 0.1
    goal_rad: float = 0.015
    """Largest position error at the end; friction leaves joint 7 off by 9 mrad [rad]."""
    goal_time_s: float = 1.0
    """How much later than planned the goal tolerance may be met [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowResult:
    """How a trajectory goal ended."""

    status: GoalStatus
    error_code: FollowError = FollowError.SUCCESSFUL
    error_string: str = ''


@dataclass(frozen=True, slots=True)
class GraspGoal:
    """A grasp: it succeeds where the width ends between width - inner and width + outer."""

    width_m: float
    speed_m_s: float
    force_n: float
    """Force of both fingers together [N]."""
    inner_m: float
    outer_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerMove:
    """A motion of the fingers to a width, without gripping, while the arm moves."""

    width_m: float
    speed_m_s: float
    due_s: float = math.inf
    """How long after the arm has begun they must have arrived; else the arm is stopped [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """How a motion may go on, decided while the arm moves."""

    at_s: float
    """How long after the motion has begun `make` is called [s]."""
    until_s: float
    """Up to then the amended motion is what it was; it must be in force by then [s]."""
    lasts_s: float
    """Duration of the amended motion, from its beginning [s]."""
    make: Callable[[], JointTrajectory | None]
    """Returns the whole motion from its beginning; None to leave it as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperResult:
    """How a goal of the hand ended."""

    status: GoalStatus
    begun: bool = True
    """False where it was rejected, or never sent."""
    success: bool = False
    error: str = ''
    """The driver's text; empty when a grasp missed its width window."""
    width_m: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotCondition:
    """Whether the arm takes goals, and what the robot reports."""

    controllers_active: bool = True
    hardware_active: bool = True
    mode: RobotMode | None = None
    """The newest mode received; None where there is none since the last recovery."""
    current_errors: tuple[str, ...] = ()
    """Fields of franka_msgs/Errors that are set now."""
    last_errors: tuple[str, ...] = ()
    """Those that ended the last motion."""

    @property
    def able(self) -> bool:
        stopped = self.mode in (RobotMode.REFLEX, RobotMode.USER_STOPPED)
        return self.controllers_active and self.hardware_active and not stopped


class RecoveryError(BbllmError):
    """A step of the recovery failed; the text gives the reason."""


class ArmDriver(Protocol):
    """
    The interface of an arm. All motions block until they end.

    Raises:
        WorldError: The driver is gone, or its joint states are too old. Not while the driver
            reports that the robot is stopped: then `now_s` and `joint_state` return their last
            values, and `condition` reports the stop.
    """

    @property
    def robot_model(self) -> 'RobotModel':
        """What the arm and its hand are."""

    def now_s(self) -> float:
        """Return the world's clock [s]."""

    def joint_state(self) -> JointState:
        """Return the newest measured state."""

    def set_point(self) -> Array | None:
        """
        Return where the controller keeps an arm at rest, shape (7,) [rad].

        Waits until an arm that brakes has come to rest. None where the controller does not report
        its set point in time.
        """

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        """
        Follow a trajectory to its end; gives up where the controller never ends.

        *stop_condition* is polled during the motion, and cancels the goal where it returns True.
        """

    def move_both(
        self, trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        """
        Follow a trajectory while the fingers move; both have ended when this returns.

        The fingers begin once the arm's goal is accepted, and stop where it does not succeed. The
        arm is cancelled where they have not arrived in time. `stop` stops both.
        """

    def follow_amended(
        self, trajectory: JointTrajectory, tolerances: Tolerances, amendment: Amendment
    ) -> tuple[FollowResult, bool]:
        """
        Follow a trajectory that may be amended on the way; also returns whether it was.

        An amendment that is refused or comes too late changes nothing: the trajectory is followed
        to its own end. `stop` brakes wherever the arm is.
        """

    def vertical_force_n(self, *, settled: bool = False) -> float | None:
        """
        Return the force of the world on the hand along z of the base, a mean over 20 ms [N].

        Upward is positive. *settled* uses only measurements since the last motion, and waits for
        one. None where the driver has never reported a force.

        Raises:
            SilentForceError: The driver has reported a force before, and none arrives now.
        """

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        """Open or close the fingers to a width, without gripping."""

    def grasp(self, goal: GraspGoal) -> GripperResult:
        """Close with a force; success where the width ends inside the goal's window."""

    def home_gripper(self) -> GripperResult:
        """Close and open once to find the widest opening."""

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        """
        Return what is known of the robot; never fails because it is stopped.

        Signs of a stop may come later than the result of the goal that it ended: *patience_s* is
        how long to wait for them, wall clock [s].
        """

    def clear_errors(self) -> None:
        """First step of a recovery: error recovery. Raises RecoveryError where it is refused."""

    def activate_hardware(self) -> None:
        """Second step: the hardware component; raises RecoveryError, as the next ones do."""

    def activate_broadcasters(self) -> None:
        """Third step: what publishes the states of joints and robot."""

    def wait_fresh(self, timeout_s: float) -> None:
        """Fourth step: wait for states that were measured after this was called [s]."""

    def activate_controller(self) -> None:
        """Fifth and last step: the controller of the arm, which keeps its position."""

    @property
    def contact_limits(self) -> ContactLimits | None:
        """What was set with `limit_contacts`; None where the robot has begun anew since."""

    def limit_contacts(self, limits: ContactLimits) -> None:
        """
        Set the robot's contact and collision thresholds while the arm is at rest.

        Only an idle robot accepts them: an active controller of the arm is deactivated and
        activated again. Raises RecoveryError with the robot's message.
        """

    def wait(self, duration_s: float) -> None:
        """Let time pass on the world's clock; returns early after `stop` and from a stop [s]."""

    def begin(self) -> None:
        """Forget a stop that came while nothing ran; called once before a call's motions."""

    def stop(self) -> None:
        """
        Cancel whatever runs, from any thread; the arm keeps its position and its grip.

        May be repeated. A stop between two motions ends the next of them.
        """


FREE_RAD = 0.001
"""An arm nearer to its set point than this is not held back: in free motion it is 0.4 mrad away at
most, and against a fixed object 10 N of a lift are more than this [rad]."""
CLOSED_M = 0.003
"""Fingers that have closed by this were not yet on what they grip: pads and objects give way by
less [m]."""


def may_be_cut(sent_m: float, now_m: float, *, grips: bool) -> bool:
    """
    Return whether to cancel a goal of the hand because the robot has stopped.

    The hand is a separate device: no stop of the arm ends its goal, so the sender cancels it and
    the fingers stay where they are. That must not drop anything:

    * Fingers that move to a width, or home, are cancelled at once: opening on would release what
      they grip.
    * Fingers that grip are cancelled once they have closed by some distance: what they close on
      then was not gripped before, and stands by itself. Those that have not closed may press on a
      grasped object already, and no driver guarantees that a grip survives a cancel before it is
      complete: they keep pressing, with the force that the safety envelope allows.

    What a cancelled goal leaves in the hand counts as loose until the next call grips it again,
    after a person has let the robot go on. *sent_m* and *now_m* are the distances between the
    fingers when it was sent and now [m].
    """
    return not grips or sent_m - now_m > CLOSED_M
