"""A driver that keeps every trajectory that goes through it."""

from __future__ import annotations

from collections.abc import Callable

from bbllm.arm.driver import (
    ArmDriver,
    ContactLimits,
    FollowResult,
    GripperResult,
    JointState,
    JointTrajectory,
    RobotCondition,
    Tolerances,
)


class RecordingDriver:
    """Passes everything on to another driver and keeps what `follow` was sent."""

    def __init__(self, driver: ArmDriver) -> None:
        self._driver = driver
        self.trajectories: list[JointTrajectory] = []
        """In the order in which they were sent."""
        self.stops: list[int] = []
        """How many trajectories had been sent each time the hand closed on, or let go of,
        something: the arm had to stand still there."""
        self._closed = False

    def now_s(self) -> float:
        """Return the world's clock [s]."""
        return self._driver.now_s()

    def joint_state(self) -> JointState:
        """Return the newest measured state."""
        return self._driver.joint_state()

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        until: Callable[[], bool] | None = None,
    ) -> FollowResult:
        """Keep the trajectory and follow it."""
        self.trajectories.append(trajectory)
        return self._driver.follow(trajectory, tolerances, until)

    def vertical_force_n(self, *, settled: bool = False) -> float | None:
        """Return what pushes the hand up [N]."""
        return self._driver.vertical_force_n(settled=settled)

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        """Open or close the fingers to a width."""
        if self._closed:
            self.stops.append(len(self.trajectories))
            self._closed = False
        return self._driver.move_gripper(width_m, speed_m_s)

    def grasp(
        self,
        width_m: float,
        speed_m_s: float,
        force_n: float,
        epsilon_inner_m: float,
        epsilon_outer_m: float,
    ) -> GripperResult:
        """Close with a force."""
        self.stops.append(len(self.trajectories))
        self._closed = True
        return self._driver.grasp(width_m, speed_m_s, force_n, epsilon_inner_m, epsilon_outer_m)

    def home_gripper(self) -> GripperResult:
        """Close and open once to find the widest opening."""
        return self._driver.home_gripper()

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        """Return what is known of the robot."""
        return self._driver.condition(patience_s)

    def clear_errors(self) -> None:
        """Run the error recovery."""
        self._driver.clear_errors()

    def activate_hardware(self) -> None:
        """Bring the hardware component up."""
        self._driver.activate_hardware()

    def activate_broadcasters(self) -> None:
        """Bring up what publishes the states."""
        self._driver.activate_broadcasters()

    def wait_fresh(self, timeout_s: float) -> None:
        """Wait for new states [s]."""
        self._driver.wait_fresh(timeout_s)

    def activate_controller(self) -> None:
        """Bring the controller of the arm up."""
        self._driver.activate_controller()

    @property
    def contact_limits(self) -> ContactLimits | None:
        """Return what the robot was told."""
        return self._driver.contact_limits

    def limit_contacts(self, limits: ContactLimits) -> None:
        """Tell the robot where to stop."""
        self._driver.limit_contacts(limits)

    def wait(self, duration_s: float) -> None:
        """Let time pass [s]."""
        self._driver.wait(duration_s)

    def begin(self) -> None:
        """Forget an earlier stop."""
        self._driver.begin()

    def stop(self) -> None:
        """Cancel whatever runs."""
        self._driver.stop()
