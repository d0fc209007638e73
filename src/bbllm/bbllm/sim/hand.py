"""The hand of the simulated robot: its goals from any thread, each kept in the log of goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bbllm.arm.driver import RobotMode
from bbllm.arm.model import MAX_WIDTH_M
from bbllm.sim.goal_log import GoalLog, GoalSeen
from bbllm.sim.gripper import Gripper, GripperPending
from bbllm.sim.shared import SharedSimulation
from bbllm.sim.simulation import Simulation
from bbllm.sim.trajectory_goal import TrajectoryGoal


class HandedSimulation(SharedSimulation):
    """A simulation whose hand takes goals; the arm is added by `sim.robot`."""

    def __init__(
        self,
        simulation: Simulation,
        *,
        homed: bool = True,
        on_goal: Callable[[GoalSeen], None] | None = None,
    ) -> None:
        """Take over a simulation; see `sim.robot.SimulatedRobot`."""
        super().__init__(simulation)
        self._homed = homed
        self.goals = GoalLog(on_goal)
        """What the robot was told, oldest first."""
        self._gripper = Gripper(MAX_WIDTH_M, homed=homed)

    @property
    def mode(self) -> RobotMode:
        """The robot's mode."""
        return RobotMode.IDLE

    @property
    def width_m(self) -> float:
        """Distance between the fingers, also while the arm's driver hangs [m]."""
        return self._simulation.width_m

    @property
    def max_width_m(self) -> float:
        """Widest opening of the hand, as last homed; 0 before that [m]."""
        return self._gripper.max_width_m

    def move_gripper(
        self, width_m: float, speed_m_s: float, *, kind: str = 'move'
    ) -> GripperPending:
        """Send the hand to a width; *kind* is the action that asks, for the log of goals."""
        with self._command() as simulation:
            self.note_goal(kind)
            return self._gripper.move(width_m, speed_m_s, simulation.width_m)

    def grasp(
        self,
        width_m: float,
        speed_m_s: float,
        force_n: float,
        epsilon_inner_m: float,
        epsilon_outer_m: float,
        *,
        kind: str = 'grasp',
    ) -> GripperPending:
        """Send the hand to grasp something of a width; see `gripper.Gripper.grasp`."""
        with self._command() as simulation:
            self.note_goal(kind)
            return self._gripper.grasp(
                width_m,
                speed_m_s,
                force_n,
                epsilon_inner_m,
                epsilon_outer_m,
                simulation.width_m,
            )

    def home_gripper(self) -> GripperPending:
        """Let the hand find its widest opening."""
        with self._command() as simulation:
            self.note_goal('homing')
            return self._gripper.home(simulation.width_m)

    def stop_gripper(self) -> None:
        """Stop the hand; its goal ends as aborted, a grip is kept."""
        with self._command() as simulation:
            self._gripper.stop(simulation.width_m)

    def cancel_gripper(self) -> None:
        """Cancel the hand's goal: stops it, and the goal ends as canceled."""
        with self._command() as simulation:
            self._gripper.cancel(simulation.width_m)

    def note_goal(
        self, kind: str, *, refused: str = '', trajectory: TrajectoryGoal | None = None
    ) -> None:
        """Keep in the log that a goal came, and why it was refused where it was."""
        goal = GoalSeen(
            kind=kind, stamp_s=self.time_s, mode=self.mode, accepted=not refused, reason=refused
        )
        if trajectory is not None:
            goal = replace(
                goal,
                joints=trajectory.joint_names,
                start_s=trajectory.start_s,
                lasts_s=max(trajectory.time_s, default=0.0),
            )
        self.goals.add(goal)
