"""
A motion as the robot receives it: one row of joint positions for each of its milliseconds.

The robot judges differences of these rows, so every change of plan goes on from a row that is
still to come, with its velocity and acceleration. Where a row was lost, the robot goes on by
itself, with the acceleration that it had, and the rows go on from there.
"""

import math
from dataclasses import replace
from functools import reduce
from operator import itemgetter

import numpy as np
from numpy.polynomial.polynomial import polyval
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
REJOINS = 0, 50, 100, 200, 400
"""Numbers of rows in which the way back to the trajectory is tried, after lost ones."""
REJOIN_SHARE = 0.9
"""
Share of the limits that they may take. The robot's state is single precision: positions of 2 rad
are 1.2e-7 rad off, and what is computed from three of them up to 0.3 rad/s^2 and 500 rad/s^3.
"""
BLENDS_S = (0.1, 0.2, 0.4, 0.8)
"""Durations that are tried for fading from one motion into another [s]."""
KNOT_S = 0.02
"""Distance of the knots of such a piece [s]."""
WAY_S, WAY_S_RAD = 0.06, 10.0
"""
Duration of a way to another set point, at least and for each radian [s, s/rad].

A quintic over d in T has 5.8 d/T^2 and 60 d/T^3: for 1 mrad 1.7 rad/s^2 and 175 rad/s^3.
"""

State = tuple[Array, Array, Array]
"""Position, velocity and acceleration, shape (7,) each [rad, rad/s, rad/s^2]."""


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
        self._planned = np.empty((0, N_JOINTS))
        """The rows of the spline, and before it those that were sent, shape (n, 7) [rad]."""
        self._shift = NO_SHIFT
        """What is added to them since rows were lost."""
        self.rows: list[list[float]] = []
        """Joint positions at each millisecond from the beginning [rad]."""
        self._extend()

    @property
    def last(self) -> int:
        return len(self.rows) - 1

    def stop_after(self, row: int) -> None:
        """Brake within the limits of plans, `LEAD` rows after this one."""
        begin = min(row + LEAD, self.last)
        self._replace(begin, Spline.stopping(self._robot, *self._state_at(begin), 0.0))

    def rejoin_after(self, row: int, set_point: State) -> None:
        """
        Go on from where the robot led the arm itself, when it did not get the rows up to this one.

        *set_point* is the robot's at *row*: it keeps the last acceleration where rows are lost,
        at most for 20 of them. What that is off the trajectory is faded out, over the shortest of
        `REJOINS` that keeps the limits. It takes less than the millisecond in which the robot
        waits for the next row.
        """
        self._stay_until(row)
        # Differences, as the robot's own velocity and acceleration are.
        rows = np.arange(row - 2, max(row + REJOINS[-1] + 3, self._shift.last) + 1)
        planned = self._planned.take(rows, axis=0, mode='clip')
        bends = planned[2:] - 2 * planned[1:-1] + planned[:-2]
        at, step, bend = (x * TICK_S**n for n, x in enumerate(set_point))
        off = np.stack([at - planned[2], step - planned[2] + planned[1], bend - bends[0]])
        tried = []
        for fade in FADES:
            tried.append((self._hardest(bends[: len(fade.bends)], fade, off), fade))
            if tried[-1][0] <= REJOIN_SHARE:
                break
        _, fade = min(tried, key=itemgetter(0))
        end = max(row + fade.n + 3, self._shift.last)
        self._shift = _Shift(row, fade, off)
        rows = np.arange(row + 1, end + 1)
        sent = planned[3 : 3 + len(rows)] + self._shift.at(rows)
        self._stay_until(end)
        self.rows[row + 1 : end + 1] = sent.tolist()

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
        whole, ahead_s = joined(self._robot, self._state_at(begin), trajectory)
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
        if (more := row - self.last) > 0:
            self.rows.extend([self.rows[-1]] * more)
            self._planned = np.pad(self._planned, ((0, more), (0, 0)), mode='edge')

    def _replace(self, begin: int, spline: Spline) -> None:
        del self.rows[begin + 1 :]
        kept = max(begin - 2, 0)
        self._planned = np.vstack([self._planned[:kept], self.rows[kept:]])
        self._spline, self._first, self._shift = spline, begin, NO_SHIFT
        self._extend()

    def _extend(self) -> None:
        """Add the rows up to the end of spline and shift, from the first that is missing."""
        end = max(self._first + math.ceil(self._spline.duration_s / TICK_S), self._shift.last)
        rows = np.arange(len(self.rows), end + 1)
        more = self._spline.positions_at(np.maximum(rows - self._first, 0) * TICK_S)
        self._planned = np.vstack([self._planned[: len(self.rows)], more])
        self.rows.extend((more + self._shift.at(rows)).tolist())

    def _state_at(self, row: int) -> State:
        one = self._spline.at_one((row - self._first) * TICK_S)
        other = self._shift.state_at(row)
        q, dq, ddq = (a + b for a, b in zip(one, other, strict=True))
        return q, dq, ddq

    def _hardest(self, bends: Array, fade: '_Fade', off: Array) -> float:
        """Return the largest share of a limit, of rows with these second differences [rad]."""
        bends = bends + fade.bends @ off
        limits = self._robot.limits
        hardest = np.abs(bends).max(axis=0) / (limits.acceleration_rad_s2 * TICK_S**2)
        jerks = np.abs(bends[1:] - bends[:-1]).max(axis=0) / (limits.jerk_rad_s3 * TICK_S**3)
        return float(max(hardest.max(), jerks.max()))


class _Fade:
    """Quintics of *n* rows that fade out a distance, a difference and a second difference of 1."""

    def __init__(self, n: int) -> None:
        self.n = n
        # By powers of the time from 0 to 1; the second derivative of the last begins as 2.  The
        # difference over the last millisecond is the velocity in its middle.
        powers = np.array([[1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 1, -3, 3, -1]])
        scale = np.array([[1, 0, 0], [0, n, n / 2], [0, 0, n * n / 2]])
        x = np.arange(1, n + 1) / n
        led = np.array([[1, -2, 1], [1, -1, 0], [1, 0, 0]])
        self.rows = np.vstack([led, polyval(x, powers.T).T @ scale, np.zeros((3, 3))])
        """Shape (n + 6, 3): three rows of the robot, the quintics, three rows of nothing."""
        self.bends = np.diff(self.rows, n=2, axis=0)
        """Their second differences, shape (n + 4, 3)."""


class _Shift:
    """What is faded out, by rows."""

    def __init__(self, row: int, fade: _Fade, off: Array) -> None:
        """*off*, shape (3, 7): distance and differences at *row* [rad]."""
        self._row, self._fade, self._off = row, fade, off

    @property
    def last(self) -> int:
        """Row from which on nothing is left."""
        return self._row + self._fade.n

    def at(self, rows: NDArray[np.int_]) -> Array:
        """Return what is left at rows, shape (n,): (n, 7) [rad]."""
        within = self._fade.rows.take(rows - self._row + 2, axis=0, mode='clip')
        return np.asarray(within @ self._off)

    def state_at(self, row: int) -> State:
        """Return what is left at one row, and its derivatives in time by differences."""
        before, at, after = self.at(np.arange(row - 1, row + 2))
        return at, (after - before) / (2 * TICK_S), (after - 2 * at + before) / TICK_S**2


FADES = tuple(map(_Fade, REJOINS))
NO_SHIFT = _Shift(0, FADES[0], np.zeros((3, N_JOINTS)))


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
