"""A goal of the joint trajectory controller, and the rules by which it is refused."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, JointTrajectory, Tolerances
from bbllm.arm.model import ARM_JOINTS
from bbllm.sim.spline import Spline

Result = TypeVar('Result')


class Pending(Generic[Result]):
    """A goal that was sent: its result is None until it has ended."""

    def __init__(self) -> None:
        self.result: Result | None = None
        self._ended = threading.Event()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.result is not None

    def finish(self, result: Result) -> None:
        """End it, once; a second result is ignored."""
        if self.result is None:
            self.result = result
            self._ended.set()

    def wait(self, timeout_s: float) -> bool:
        """Wait, in a thread that does not advance the robot; True when it has ended."""
        return self._ended.wait(timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryGoal:
    """FollowJointTrajectory's goal as it was sent, not yet checked."""

    joint_names: tuple[str, ...] = ARM_JOINTS
    """Columns of the arrays, in any order."""
    time_s: tuple[float, ...]
    """time_from_start of each point [s]."""
    position_rad: tuple[tuple[float, ...], ...]
    """One row per point [rad]."""
    velocity_rad_s: tuple[tuple[float, ...], ...] = ()
    """One row per point, or nothing at all; an empty row means that this point has none."""
    acceleration_rad_s2: tuple[tuple[float, ...], ...] = ()
    """The same."""
    has_effort: bool = False
    """Whether any point gives efforts."""
    start_s: float = 0.0
    """header.stamp on the world's clock; 0 starts at once [s]."""
    path_rad: Array = field(default_factory=lambda: np.zeros(N_JOINTS))
    """Path tolerance of each of the driver's joints, shape (7,); 0: not checked [rad]."""
    goal_rad: Array = field(default_factory=lambda: np.zeros(N_JOINTS))
    """Goal tolerance of each of the driver's joints, shape (7,); 0: not checked [rad]."""
    goal_time_s: float = 0.0
    """How late the goal tolerance may be met; 0: waits for ever [s]."""


def goal_from_trajectory(trajectory: JointTrajectory, tolerances: Tolerances) -> TrajectoryGoal:
    """Return the goal that the ROS driver would send for a trajectory."""

    def rows(values: Array) -> tuple[tuple[float, ...], ...]:
        return tuple(map(tuple, np.asarray(values).tolist()))

    return TrajectoryGoal(
        time_s=tuple(np.asarray(trajectory.time_s).tolist()),
        position_rad=rows(trajectory.position_rad),
        velocity_rad_s=rows(trajectory.velocity_rad_s),
        acceleration_rad_s2=rows(trajectory.acceleration_rad_s2),
        path_rad=np.full(N_JOINTS, tolerances.path_rad),
        goal_rad=np.full(N_JOINTS, tolerances.goal_rad),
        goal_time_s=tolerances.goal_time_s,
    )


def refusal(goal: TrajectoryGoal, now_s: float) -> str | None:
    """
    Return why the controller would refuse a goal, None where it would take it.

    The rules are those of ros2_controllers' joint_trajectory_controller on Jazzy with the
    settings that franka_ros2 ships: no partial goals, no velocity at the end, no effort.

    Args:
        goal: The goal as sent.
        now_s: The clock [s].
    """
    # in this order: each relies on what those before it have found in order
    reason = _names_refusal(goal) or _points_refusal(goal) or _values_refusal(goal)
    if reason:
        return reason
    if goal.start_s > 0 and goal.start_s + goal.time_s[-1] < now_s:
        return (
            f'Received trajectory with non-zero start time ({goal.start_s:.3f} s) that ends in '
            f'the past; it is {now_s:.3f} s now. Use 0 to start at once.'
        )
    return None


def goal_spline(goal: TrajectoryGoal, lead_s: float, q: Array, dq: Array) -> Spline:
    """
    Interpolate an accepted goal, on a time that starts now.

    The motion starts from the goal's own point where one is for now (time_from_start 0), else
    from the measured state; points whose time has passed are left out.

    Args:
        goal: What to follow.
        lead_s: How long from now the trajectory starts; negative when it has started [s].
        q: Measured positions, shape (7,) [rad].
        dq: Measured velocities, shape (7,) [rad/s].
    """
    order = [goal.joint_names.index(name) for name in ARM_JOINTS]

    def column(rows: tuple[tuple[float, ...], ...]) -> Array | None:
        return np.asarray(rows)[:, order] if rows and all(rows) else None

    times = np.asarray(goal.time_s) + lead_s
    position, velocity = np.asarray(goal.position_rad)[:, order], column(goal.velocity_rad_s)
    acceleration = column(goal.acceleration_rad_s2) if velocity is not None else None
    first = int(np.searchsorted(times, 1e-9, side='right'))  # the first point yet to come
    from_point = first > 0 and times[first - 1] > -1e-9
    if first == len(times):
        return Spline.still(position[-1])
    start = slice(first - 1, first)

    def joined(rows: Array | None, measured: Array) -> Array | None:
        if rows is None:
            return None
        return np.vstack([rows[start] if from_point else measured, rows[first:]])

    return Spline.through(
        np.concatenate([[0.0], times[first:]]),
        np.vstack([position[start] if from_point else q, position[first:]]),
        joined(velocity, dq),
        joined(acceleration, np.zeros(N_JOINTS)),
        starts_accelerated=from_point,
    )


def _names_refusal(goal: TrajectoryGoal) -> str | None:
    names = goal.joint_names
    if not names:
        return f'Empty joint names; expected {", ".join(ARM_JOINTS)}.'
    unknown = [name for name in names if name not in ARM_JOINTS]
    if unknown:
        return f'Unknown joints {", ".join(unknown)}; expected {", ".join(ARM_JOINTS)}.'
    if len(names) != N_JOINTS or len(set(names)) != N_JOINTS:
        return f'{len(set(names))} different joints of {N_JOINTS}: all must be given, once each.'
    return None


def _points_refusal(goal: TrajectoryGoal) -> str | None:
    n = len(goal.time_s)
    if n == 0:
        return 'Empty trajectory; it needs one point or more.'
    if len(goal.position_rad) != n or any(len(row) != N_JOINTS for row in goal.position_rad):
        return f'Wrong number of positions; every point needs {N_JOINTS}.'
    for kind, rows in (
        ('velocities', goal.velocity_rad_s),
        ('accelerations', goal.acceleration_rad_s2),
    ):
        if rows and (len(rows) != n or any(len(row) not in (0, N_JOINTS) for row in rows)):
            return f'Wrong number of {kind}; a point has {N_JOINTS} of them or none.'
    if goal.has_effort:
        return 'Effort is given, but this controller takes positions, velocities, accelerations.'
    return None


def _values_refusal(goal: TrajectoryGoal) -> str | None:
    times = np.asarray(goal.time_s)
    if not np.all(np.isfinite(times)) or times[0] < 0 or np.any(np.diff(times) <= 0):
        return 'time_from_start must be finite, not negative and strictly increasing.'
    for rows in (goal.position_rad, goal.velocity_rad_s, goal.acceleration_rad_s2):
        if not all(np.all(np.isfinite(row)) for row in rows):
            return 'Positions, velocities and accelerations must be finite numbers.'
    if goal.velocity_rad_s and np.any(np.abs(goal.velocity_rad_s[-1]) > 1e-6):
        return 'The velocity of the last point must be zero.'
    return None
