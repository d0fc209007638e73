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
REJOINS_S = (0.05, 0.1, 0.2, 0.4)
"""Durations that are tried for getting back to the trajectory after lost rows [s]."""
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
STILL = Spline.still(np.zeros(N_JOINTS))


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
        self._shift, self._shift_first = STILL, 0
        """What is added to the spline since rows were lost, and from which row on."""
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
        `REJOINS_S` that keeps the limits.
        """
        # Differences, as the robot's own velocity and acceleration are.
        q = self._positions(np.arange(row - 2, row + 1))
        dq, ddq = np.diff(q, axis=0)[-1] / TICK_S, np.diff(q, n=2, axis=0)[0] / TICK_S**2
        off, off_s, off_s2 = set_point[0] - q[-1], set_point[1] - dq, set_point[2] - ddq
        # The difference over the last millisecond is the velocity in its middle.
        state = np.stack([off, off_s + off_s2 * TICK_S / 2, off_s2])
        knots = np.stack([state, np.zeros_like(state)], axis=1)
        at, step = set_point[0], set_point[1] * TICK_S
        before = at - 2 * step + set_point[2] * TICK_S**2, at - step, at
        shifted = self._shift_first + round(self._shift.duration_s / TICK_S)
        tried = []
        for T in REJOINS_S:
            shift = spline_of(JointTrajectory(np.array([0.0, T]), *knots))
            rows = np.arange(row + 1, max(row + round(T / TICK_S), shifted) + 1)
            sent = self._positions(rows) + shift.positions_at(np.asarray((rows - row) * TICK_S))
            tried.append((self._hardest(np.vstack([*before, sent])), shift, sent))
            if tried[-1][0] <= 1.0:
                break
        _, self._shift, sent = min(tried, key=itemgetter(0))
        self._shift_first = row
        self._stay_until(row)
        self.rows[row + 1 : row + 1 + len(sent)] = sent.tolist()

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
        self.rows.extend([self.rows[-1]] * max(row - self.last, 0))

    def _replace(self, begin: int, spline: Spline) -> None:
        del self.rows[begin + 1 :]
        self._spline, self._first, self._shift = spline, begin, STILL
        self._extend()

    def _extend(self) -> None:
        """Add the rows up to the end of spline and shift, from the first that is missing."""
        ends = (self._first, self._spline), (self._shift_first, self._shift)
        end = max(first + math.ceil(spline.duration_s / TICK_S) for first, spline in ends)
        rows = np.arange(len(self.rows), end + 1)
        shift = self._shift.positions_at(np.asarray((rows - self._shift_first) * TICK_S))
        self.rows.extend((self._positions(rows) + shift).tolist())

    def _positions(self, rows: NDArray[np.int_]) -> Array:
        """Return the spline alone, shape (n, 7) [rad]; before its beginning the arm rests."""
        return self._spline.positions_at(np.maximum(rows - self._first, 0) * TICK_S)

    def _state_at(self, row: int) -> State:
        one = self._spline.at_one((row - self._first) * TICK_S)
        other = self._shift.at_one((row - self._shift_first) * TICK_S)
        q, dq, ddq = (a + b for a, b in zip(one, other, strict=True))
        return q, dq, ddq

    def _hardest(self, rows: Array) -> float:
        """Return the largest share of a limit that differences of rows, shape (n, 7), take."""
        limits = self._robot.limits
        shares = (
            np.abs(np.diff(rows, n=n, axis=0)).max(axis=0) / TICK_S**n / limit
            for n, limit in ((2, limits.acceleration_rad_s2), (3, limits.jerk_rad_s3))
        )
        return float(max(share.max() for share in shares))


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
