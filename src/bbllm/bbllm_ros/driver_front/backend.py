"""What serves as a driver of franka_ros2 is asked of a robot, simulated or not."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from bbllm.arm.controllers.manager import ControllerManager, LifeCycle, Switched
from bbllm.arm.controllers.pending import GripperPending, TrajectoryPending
from bbllm.arm.controllers.ptp import PtpGoal, PtpPending
from bbllm.arm.controllers.trajectory import Query, Setpoint
from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal
from bbllm.arm.driver import Array, GraspGoal, JointState, RobotMode
from bbllm.arm.robot_settings import Order
from bbllm.arm.robot_state import Mounted, RobotState


class ControlledRobot(Protocol):
    """A robot with the controllers of franka_ros2; every call may come from any thread."""

    @property
    def controllers(self) -> ControllerManager:
        """States of controllers and hardware; read them while `paused`."""

    @property
    def hangs(self) -> bool:
        """Whether its states freeze, a fault that is injected for tests of clients."""

    @property
    def mode(self) -> RobotMode:
        """What it reports."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Fields of franka_msgs/Errors that are set now."""

    @property
    def trajectory_time_s(self) -> float:
        """Time since the trajectory in force has begun [s]."""

    @property
    def width_m(self) -> float:
        """Distance between the fingers [m]."""

    @property
    def max_width_m(self) -> float:
        """Widest opening, as last homed; 0 before that [m]."""

    def paused(self) -> AbstractContextManager[object]:
        """Keep controllers from changing, to read values that belong together."""

    def joint_state(self) -> JointState:
        """Return the newest measured state."""

    def set_point(self) -> Setpoint:
        """Return where the arm should be."""

    def refuse(self, goal: TrajectoryGoal) -> str | None:
        """Return why a goal would be rejected; None: `follow` it."""

    def follow(self, goal: TrajectoryGoal) -> TrajectoryPending:
        """Take a goal; one that runs is preempted."""

    def replace_trajectory(self, goal: TrajectoryGoal) -> str | None:
        """Follow a trajectory from the topic; return why it is ignored, if it is."""

    def cancel_follow(self) -> None:
        """Cancel the goal that runs; the arm brakes."""

    def query_trajectory(self, time_s: float) -> Query | None:
        """Return the trajectory in force at a time [s]; None without a controller."""

    def move_to(self, goal: PtpGoal) -> PtpPending | str:
        """Start a motion that the robot plans itself; return why it does not start, if so."""

    def recover_errors(self) -> str | None:
        """Clear the errors; return why that failed, None where it worked."""

    def order(self, order: Order) -> str:
        """Apply a setting that requires an idle robot; return why it is refused, or ''."""

    def set_hardware(self, target: LifeCycle | None) -> bool:
        """Bring the hardware component into a state; False where that is not possible."""

    def switch_controllers(
        self, activate: Sequence[str], deactivate: Sequence[str], *, strict: bool = False
    ) -> Switched:
        """Activate some controllers and deactivate others, in one step."""

    def move_gripper(
        self, width_m: float, speed_m_s: float, *, kind: str = 'move'
    ) -> GripperPending:
        """Send the hand to a width; *kind* is the action's name."""

    def grasp(self, goal: GraspGoal, *, kind: str = 'grasp') -> GripperPending:
        """Close the hand on an object of a width."""

    def home_gripper(self) -> GripperPending:
        """Find the widest opening."""

    def stop_gripper(self) -> None:
        """Stay at this width; what runs is aborted."""

    def cancel_gripper(self) -> None:
        """Stop because a client cancelled its goal."""

    def note_goal(self, kind: str) -> None:
        """Record a goal of the hand that is answered without a motion."""


class Backend(Protocol):
    """A robot and its clock. Stamps are of the clock of the graph, other times the robot's own."""

    @property
    def robot(self) -> ControlledRobot:
        """The robot; a simulation may replace it by another."""

    @property
    def now_s(self) -> float:
        """Stamp of the newest state [s]."""

    @property
    def hurries(self) -> bool:
        """Whether a goal runs, whose end is published at once."""

    def to_robot_s(self, stamp_s: float) -> float:
        """Return a time on the robot's clock [s]."""

    def goal(self) -> AbstractContextManager[None]:
        """Mark that a goal runs."""

    def state(self) -> tuple[RobotState, Mounted, float]:
        """Return what the robot reports, what is mounted on it, and the stamp [s]."""

    def wrenches(self) -> tuple[Array, Array]:
        """Return `k_f_ext` and `o_f_ext`, as `sim.reading.wrenches_of`."""

    def measured(self) -> tuple[Array, Array, Array]:
        """Return positions, velocities and torques of the arm, shape (7,) each."""
