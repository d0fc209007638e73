"""Samples how arm and objects move, at a fixed rate of the robot's clock."""

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.sim.robot import SimulatedRobot


class MotionSampler:
    """
    Samples a simulated robot from now on, each time in the physics step nearest to its time.

    With the step of 1 ms a sample is at most 0.5 ms off its time. Sampling changes no state.

    Args:
        robot: It has one sampler at a time: a new one takes the place of the old one.
        rate_hz: Samples a second of simulated time [Hz].
    """

    def __init__(self, robot: SimulatedRobot, rate_hz: float) -> None:
        self._robot = robot
        with robot.paused() as simulation:
            self._steps_apart = 1.0 / (rate_hz * simulation.timestep_s)
            self._begun = self.next_step = simulation.steps
            self.names = tuple(simulation.object_poses())
            """Of the objects, in the scene's order."""
            self._rows: list[tuple[float, ...]] = []
            self.take()
            simulation.sampler = self

    def take(self) -> None:
        """Append a sample, and set when the next one is due; the simulation calls it."""
        simulation = self._robot.simulation
        state = simulation.joint_state()
        # The set point of the arm without the feed-forward of its servos.
        asked = self._robot.set_point().position_rad
        poses = simulation.object_poses().values()
        self._rows.append((
            state.stamp_s,
            *state.position_rad,
            state.width_m,
            *asked,
            simulation.width_set_point_m,
            *(value for pose in poses for value in (*pose.position_m, *pose.quat_xyzw)),
        ))  # fmt: skip
        self.next_step = self._begun + round(len(self._rows) * self._steps_apart)

    @property
    def stamps_s(self) -> Array:
        """Times on the robot's clock, shape (n,) [s]."""
        return self._table()[:, 0]

    @property
    def measured(self) -> Array:
        """Positions of the joints and the distance of the fingers, shape (n, 8) [rad, m]."""
        return self._table()[:, 1 : N_JOINTS + 2]

    @property
    def set_points(self) -> Array:
        """What they are commanded to be at the same times, shape (n, 8) [rad, m]."""
        return self._table()[:, N_JOINTS + 2 : 2 * N_JOINTS + 3]

    @property
    def poses(self) -> Array:
        """Poses of the objects in the frame of the base, x y z qx qy qz qw; shape (n, m, 7)."""
        table = self._table()
        return table[:, 2 * N_JOINTS + 3 :].reshape(len(table), len(self.names), 7)

    def _table(self) -> Array:
        return np.array(self._rows, dtype=np.float64)
