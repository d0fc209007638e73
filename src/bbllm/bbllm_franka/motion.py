"""
A motion as the robot receives it: one row of joint positions for each of its milliseconds.

The robot judges differences of these rows, so every change of plan goes on from a row that is
still to come, with its velocity and acceleration.
"""

import math

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, JointTrajectory
from bbllm.arm.motion.trajectory import Spline, concatenate, spline_of
from bbllm.robots.robot_model import RobotModel

TICK_S = 0.001
"""The robot's control period [s]."""
LEAD = 4
"""How many rows stay as they were when a motion changes: the change takes time, too."""
SAME_RAD = 1e-9
"""Set points nearer to each other than this are one: in a millisecond it is 1e-3 rad/s^2 [rad]."""
WAY_S, WAY_S_RAD = 0.06, 10.0
"""
Duration of a way to another set point, at least and for each radian [s, s/rad].

A quintic over d in T has 5.8 d/T^2 and 60 d/T^3: for 1 mrad 1.7 rad/s^2 and 175 rad/s^3.
"""


class TimedMotion:
    """What the set point of the robot does, row by row."""

    def __init__(self, robot: RobotModel, set_point: Array, trajectory: JointTrajectory) -> None:
        """
        Follow a trajectory from the robot's set point, shape (7,) [rad].

        Where friction or a contact keeps the arm off its set point, plans begin where the arm is;
        the robot only accepts references that begin at its set point. So the motion begins with a
        way from there.
        """
        self._robot = robot
        self._way = _way(set_point, trajectory.position_rad[0])
        self._spline, self._first = spline_of(self._after_way(trajectory)), 0
        self.rows: list[list[float]] = []
        """Joint positions at each millisecond from the beginning [rad]."""
        self._extend()

    @property
    def last(self) -> int:
        return len(self.rows) - 1

    def stop_after(self, row: int) -> None:
        """Brake within the limits of plans, `LEAD` rows after this one."""
        begin = min(row + LEAD, self.last)
        state = self._spline.at_one((begin - self._first) * TICK_S)
        self._replace(begin, Spline.stopping(self._robot, *state, 0.0))

    def give_way_after(self, row: int, measured_rad: Array) -> None:
        """Lead the set point of an arm at rest to where the arm is, so that it pushes no more."""
        end = self.rows[-1]
        self.rows.extend([end] * max(row + LEAD - self.last, 0))
        way = _way(np.array(end), measured_rad)
        if way is not None:
            self._replace(self.last, spline_of(way))

    def amend_after(self, row: int, whole: JointTrajectory, until_s: float) -> bool:
        """
        Follow another trajectory, which is the same up to *until_s* of its time [s].

        False where it is too late for that, and nothing changes.
        """
        ahead_s = 0.0 if self._way is None else self._way.duration_s
        begin = int((ahead_s + until_s) / TICK_S)
        if row + LEAD > begin or begin > self.last:
            return False
        del self.rows[begin + 1 :]
        self._spline = spline_of(self._after_way(whole))
        self._extend()
        return True

    def _after_way(self, trajectory: JointTrajectory) -> JointTrajectory:
        return trajectory if self._way is None else concatenate(self._way, trajectory)

    def _replace(self, begin: int, spline: Spline) -> None:
        del self.rows[begin + 1 :]
        self._spline, self._first = spline, begin
        self._extend()

    def _extend(self) -> None:
        """Add the rows up to the end of the spline, from the first that is missing."""
        end = self._first + math.ceil(self._spline.duration_s / TICK_S)
        rows = np.arange(len(self.rows), end + 1) - self._first
        self.rows.extend(self._spline.positions_at(np.asarray(rows * TICK_S)).tolist())


def _way(begin: Array, end: Array) -> JointTrajectory | None:
    """Return a motion from rest to rest, shape (7,) each [rad]; None where they are one."""
    far_rad = float(np.abs(end - begin).max())
    if far_rad < SAME_RAD:
        return None
    still = np.zeros((2, N_JOINTS))
    duration_s = WAY_S + WAY_S_RAD * far_rad
    return JointTrajectory(np.array([0.0, duration_s]), np.stack([begin, end]), still, still)
