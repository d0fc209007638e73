"""
A motion as the robot receives it: one row of joint positions for each of its milliseconds.

The robot judges differences of these rows, so every change of plan goes on from a row that is
still to come, with its velocity and acceleration.
"""

import math
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import N_JOINTS, Array, JointTrajectory
from bbllm.arm.motion.trajectory import Spline, concatenate, spline_of
from bbllm.robots.robot_model import RobotModel

TICK_S = 0.001
"""The robot's control period [s]."""
LEAD = 4
"""How many rows stay as they were when a motion changes: the change takes time, too."""
SAME_RAD = 1e-9
"""Set points nearer to each other than this are one: in a millisecond it is 1e-3 rad/s^2 [rad]."""
BLENDS_S = (0.1, 0.2, 0.4, 0.8)
"""Durations that are tried for fading from one motion into another [s]."""
KNOT_S = 0.02
"""Distance of the knots of such a piece [s]."""
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
        self._way = None
        self.ahead_s = 0.0
        """How long after the first row the trajectory begins [s]."""
        if trajectory.velocity_rad_s[0].any() or trajectory.acceleration_rad_s2[0].any():
            at_rest = set_point, np.zeros(N_JOINTS), np.zeros(N_JOINTS)
            whole, self.ahead_s = joined(robot, at_rest, trajectory)
        else:
            self._way = _way(set_point, trajectory.position_rad[0])
            self.ahead_s = 0.0 if self._way is None else self._way.duration_s
            whole = self._after_way(trajectory)
        self._spline, self._first = spline_of(whole), 0
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
        self._stay_until(row + LEAD)
        way = _way(np.array(self.rows[-1]), measured_rad)
        if way is not None:
            self._replace(self.last, spline_of(way))

    def join_after(self, row: int, trajectory: JointTrajectory) -> int:
        """
        Follow another trajectory from `LEAD` rows after this one on, without a step.

        Returns the row at which the trajectory begins, or from which on it is blended in.
        """
        self._stay_until(row + LEAD)
        begin = row + LEAD
        state = self._spline.at_one((begin - self._first) * TICK_S)
        whole, ahead_s = joined(self._robot, state, trajectory)
        self._replace(begin, spline_of(whole))
        return begin + round(ahead_s / TICK_S)

    def amend_after(self, row: int, whole: JointTrajectory, until_s: float) -> bool:
        """
        Follow another trajectory, which is the same up to *until_s* of its time [s].

        False where it is too late for that, and nothing changes.
        """
        begin = int((self.ahead_s + until_s) / TICK_S)
        if row + LEAD > begin or begin > self.last:
            return False
        del self.rows[begin + 1 :]
        self._spline = spline_of(self._after_way(whole))
        self._extend()
        return True

    def _after_way(self, trajectory: JointTrajectory) -> JointTrajectory:
        return trajectory if self._way is None else concatenate(self._way, trajectory)

    def _stay_until(self, row: int) -> None:
        self.rows.extend([self.rows[-1]] * max(row - self.last, 0))

    def _replace(self, begin: int, spline: Spline) -> None:
        del self.rows[begin + 1 :]
        self._spline, self._first = spline, begin
        self._extend()

    def _extend(self) -> None:
        """Add the rows up to the end of the spline, from the first that is missing."""
        end = self._first + math.ceil(self._spline.duration_s / TICK_S)
        rows = np.arange(len(self.rows), end + 1) - self._first
        self.rows.extend(self._spline.positions_at(np.asarray(rows * TICK_S)).tolist())


State = tuple[Array, Array, Array]
"""Position, velocity and acceleration, shape (7,) each [rad, rad/s, rad/s^2]."""


def joined(
    robot: RobotModel, state: State, trajectory: JointTrajectory
) -> tuple[JointTrajectory, float]:
    """
    Return a motion from a state into a trajectory, and after how long that begins [s].

    What moves is braked while the trajectory is faded in, over the shortest of `BLENDS_S` that
    keeps the limits. Where none does, as when it begins far away, the arm comes to rest first,
    goes to the trajectory's beginning, and follows it later.
    """
    stop = Spline.stopping(robot, *state, 0.0)
    if (blend := _blended(robot, stop, trajectory)) is not None:
        return blend, 0.0
    first = trajectory.position_rad[0]
    parts = [motion_of(stop)] if stop.duration_s else []
    if (way := _way(stop.end_rad, first)) is not None:
        parts.append(way)
    after = _blended(robot, Spline.still(first), trajectory) or trajectory
    whole = reduce(_then, [*parts, after])
    return whole, whole.duration_s - after.duration_s


def _blended(
    robot: RobotModel, stop: Spline, trajectory: JointTrajectory
) -> JointTrajectory | None:
    """Fade from one motion into another; None where no duration of `BLENDS_S` is legal."""
    goal = spline_of(trajectory)
    for T in BLENDS_S:
        time_s = np.linspace(0.0, T, round(T / KNOT_S) + 1)
        x = time_s[:, None] / T
        # s, its first and its second derivative: at both ends neither is there.
        s, ds = x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2 / T
        dds = 60 * x * (1 - x) * (1 - 2 * x) / T**2
        a, b = stop.at(time_s), goal.at(time_s)
        q, dq, ddq = (later - earlier for earlier, later in zip(a, b, strict=True))
        blend = JointTrajectory(
            time_s,
            a[0] + s * q,
            a[1] + ds * q + s * dq,
            a[2] + dds * q + 2 * ds * dq + s * ddq,
        )
        if not _is_legal(robot, blend):
            continue
        return _extended(blend, trajectory, trajectory.time_s > T)
    return None


def _then(first: JointTrajectory, second: JointTrajectory) -> JointTrajectory:
    """Play two motions one after the other; the first ends where and as the second begins."""
    later = replace(second, time_s=second.time_s + first.duration_s)
    return _extended(first, later, np.arange(len(second.time_s)) > 0)


def _extended(
    first: JointTrajectory, second: JointTrajectory, rows: NDArray[np.bool_]
) -> JointTrajectory:
    """Add some rows of another motion, which come later."""
    return JointTrajectory(
        *(
            np.concatenate([getattr(first, name), getattr(second, name)[rows]])
            for name in ('time_s', 'position_rad', 'velocity_rad_s', 'acceleration_rad_s2')
        )
    )


def _is_legal(robot: RobotModel, move: JointTrajectory) -> bool:
    limits = robot.limits
    return bool(
        (np.abs(move.velocity_rad_s) <= limits.velocity_rad_s).all()
        and (np.abs(move.acceleration_rad_s2) <= limits.acceleration_rad_s2).all()
        and (spline_of(move).jerks() <= limits.jerk_rad_s3).all()
    )


def motion_of(spline: Spline) -> JointTrajectory:
    """Return the knots of a quintic spline that ends at rest."""
    c = spline.coefficients
    still = np.zeros((1, N_JOINTS))
    return JointTrajectory(
        spline.time_s,
        np.vstack([c[0], spline.end_rad]),
        np.vstack([c[1], still]),
        np.vstack([2 * c[2], still]),
    )


def _way(begin: Array, end: Array) -> JointTrajectory | None:
    """Return a motion from rest to rest, shape (7,) each [rad]; None where they are one."""
    far_rad = float(np.abs(end - begin).max())
    if far_rad < SAME_RAD:
        return None
    still = np.zeros((2, N_JOINTS))
    duration_s = WAY_S + WAY_S_RAD * far_rad
    return JointTrajectory(np.array([0.0, duration_s]), np.stack([begin, end]), still, still)
