"""A goal of the joint trajectory controller, and the rules by which it is refused."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import yaml

from bbllm.arm.driver import N_JOINTS, Array, JointTrajectory, Tolerances
from bbllm.arm.motion.trajectory import Spline
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.robots.fr3 import FR3
from bbllm.robots.robot_model import RobotModel

STOPPED_RAD_S = 0.01
ERASED = -1.0
"""What a goal writes for no limit at all."""
CONTROLLERS_FILE = 'franka/controllers.yaml'


def _none() -> Array:
    return np.zeros(N_JOINTS)


def _stopped() -> Array:
    return np.full(N_JOINTS, STOPPED_RAD_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Largest errors of each joint, shape (7,) each; 0: not checked."""

    path_rad: Array = field(default_factory=_none)
    """Of the position on the way [rad]."""
    path_rad_s: Array = field(default_factory=_none)
    """Of the velocity on the way [rad/s]."""
    goal_rad: Array = field(default_factory=_none)
    """Of the position at the end [rad]."""
    goal_rad_s: Array = field(default_factory=_stopped)
    """Of the velocity at the end [rad/s]."""
    goal_time_s: float = 0.0
    """How late the end may be met; 0: waits for ever [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTolerances:
    """Tolerances of a goal, shape (7,) each; 0: the default, -1: no limit."""

    path_rad: Array = field(default_factory=_none)
    path_rad_s: Array = field(default_factory=_none)
    goal_rad: Array = field(default_factory=_none)
    goal_rad_s: Array = field(default_factory=_none)
    goal_time_s: float = 0.0
    legible: bool = True
    """False where they name an unknown joint: then all defaults apply."""


def in_force(asked: AskedTolerances, default: Constraints) -> Constraints:
    """Return the limits of a goal; one value that has no meaning leaves all at the defaults."""
    arrays = (asked.path_rad, asked.path_rad_s, asked.goal_rad, asked.goal_rad_s)
    values = np.concatenate([*arrays, [asked.goal_time_s]])
    if not asked.legible or bool(((values < 0) & (values != ERASED)).any()):
        return default

    def resolved(value: Array, otherwise: Array) -> Array:
        return np.where(value == 0, otherwise, np.maximum(value, 0.0))

    return Constraints(
        path_rad=resolved(asked.path_rad, default.path_rad),
        path_rad_s=resolved(asked.path_rad_s, default.path_rad_s),
        goal_rad=resolved(asked.goal_rad, default.goal_rad),
        goal_rad_s=resolved(asked.goal_rad_s, default.goal_rad_s),
        goal_time_s=max(asked.goal_time_s or default.goal_time_s, 0.0),
    )


@cache
def driver_constraints() -> Constraints:
    """Return the defaults of the driver's controller; raises ConfigError without the file."""
    path = config_dir() / CONTROLLERS_FILE
    try:
        content = yaml.safe_load(path.read_text('utf-8'))
        given = content['/**']['fr3_arm_controller']['ros__parameters'].get('constraints', {})
        return _constraints(given)
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f'The constraints of fr3_arm_controller cannot be read from {path}: {error!r}. '
            'It needs /**: fr3_arm_controller: ros__parameters: constraints.'
        ) from error


def _constraints(given: Any) -> Constraints:
    def each(name: str) -> Array:
        return np.array([float(given.get(joint, {}).get(name, 0.0)) for joint in FR3.joints])

    stopped = float(given.get('stopped_velocity_tolerance', STOPPED_RAD_S))
    return Constraints(
        path_rad=each('trajectory'),
        goal_rad=each('goal'),
        goal_rad_s=np.full(N_JOINTS, stopped),
        goal_time_s=float(given.get('goal_time', 0.0)),
    )


Rows = tuple[tuple[float, ...], ...]
ZERO_RAD_S = float(np.finfo(np.float32).eps)
"""What the last point's velocity may be, at most [rad/s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryGoal:
    """FollowJointTrajectory's goal as it was sent, not yet checked."""

    joint_names: tuple[str, ...]
    """Columns of the arrays, in any order."""
    time_s: tuple[float, ...]
    """time_from_start of each point [s]."""
    position_rad: Rows
    velocity_rad_s: Rows = ()
    """One row per point, or nothing at all; an empty row means that this point has none."""
    acceleration_rad_s2: Rows = ()
    effort_nm: Rows = ()
    """Added to what the controller gives [Nm]."""
    start_s: float | None = None
    """header.stamp on the robot's clock; None starts at once [s]."""
    tolerances: AskedTolerances = field(default_factory=AskedTolerances)


def goal_from_trajectory(
    robot: RobotModel, trajectory: JointTrajectory, tolerances: Tolerances
) -> TrajectoryGoal:
    """Return the goal that the ROS driver would send for a trajectory."""

    def rows(values: Array) -> Rows:
        return tuple(map(tuple, np.asarray(values).tolist()))

    return TrajectoryGoal(
        joint_names=robot.joints,
        time_s=tuple(np.asarray(trajectory.time_s).tolist()),
        position_rad=rows(trajectory.position_rad),
        velocity_rad_s=rows(trajectory.velocity_rad_s),
        acceleration_rad_s2=rows(trajectory.acceleration_rad_s2),
        tolerances=AskedTolerances(
            path_rad=np.full(N_JOINTS, tolerances.path_rad),
            goal_rad=np.full(N_JOINTS, tolerances.goal_rad),
            goal_time_s=tolerances.goal_time_s,
        ),
    )


def refusal(joints: Sequence[str], goal: TrajectoryGoal, now_s: float) -> str | None:
    """
    Return why the controller of these joints would refuse a goal, None where it would take it.

    The rules are those of ros2_controllers' joint_trajectory_controller on Jazzy with the settings
    of config/franka/controllers.yaml: no partial goals, no velocity at the end; efforts are taken,
    because the controller's own interface is effort. It is stricter where the original would drive
    the arm to nowhere: joints named twice, numbers that are none, times before the start, efforts
    of a wrong number.
    """
    # in this order: each relies on what those before it have found in order
    reason = _names_refusal(joints, goal) or _points_refusal(goal) or _values_refusal(goal)
    if reason:
        return reason
    if goal.start_s is not None and goal.start_s + goal.time_s[-1] < now_s:
        return (
            f'Received trajectory with non-zero start time ({goal.start_s:.3f} s) that ends in '
            f'the past; it is {now_s:.3f} s now. Use 0 to start at once.'
        )
    return None


def goal_spline(
    joints: Sequence[str], goal: TrajectoryGoal, now_s: float, q: Array, dq: Array
) -> Spline:
    """
    Interpolate an accepted goal of the controller of these joints on the clock.

    Before its first point the motion comes from the measured state, taken as not accelerating. A
    goal whose first point has passed already is joined where it is by now.
    """
    order = [goal.joint_names.index(name) for name in joints]
    absent = (np.nan,) * N_JOINTS

    def column(rows: Rows, missing: tuple[float, ...]) -> Array | None:
        return np.asarray([row or missing for row in rows])[:, order] if rows else None

    times = np.asarray(goal.time_s) + (now_s if goal.start_s is None else goal.start_s)
    position = np.asarray(goal.position_rad)[:, order]
    velocity = column(goal.velocity_rad_s, absent)
    acceleration = column(goal.acceleration_rad_s2, absent)
    effort = column(goal.effort_nm, (0.0,) * N_JOINTS)
    if times[0] > now_s + 1e-9:

        def joined(rows: Array | None, first: Array) -> Array | None:
            return None if rows is None else np.vstack([first, rows])

        still = np.zeros(N_JOINTS)
        times = np.concatenate([[now_s], times])
        position = np.vstack([q, position])
        velocity, effort = joined(velocity, dq), joined(effort, still)
        acceleration = joined(acceleration, still)
    spline = Spline.through(times - times[0], position, velocity, acceleration, effort)
    return replace(spline, start_s=float(times[0]))


def _names_refusal(joints: Sequence[str], goal: TrajectoryGoal) -> str | None:
    names, expected = goal.joint_names, ', '.join(joints)
    if not names:
        return f'Empty joint names; expected {expected}.'
    unknown = [name for name in names if name not in joints]
    if unknown:
        return f'Unknown joints {", ".join(unknown)}; expected {expected}.'
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
        ('efforts', goal.effort_nm),
    ):
        if rows and (len(rows) != n or any(len(row) not in (0, N_JOINTS) for row in rows)):
            return f'Wrong number of {kind}; a point has {N_JOINTS} of them or none.'
    return None


def _values_refusal(goal: TrajectoryGoal) -> str | None:
    times = np.asarray(goal.time_s)
    if not np.all(np.isfinite(times)) or times[0] < 0 or np.any(np.diff(times) <= 0):
        return 'time_from_start must be finite, not negative and strictly increasing.'
    kinds = (goal.position_rad, goal.velocity_rad_s, goal.acceleration_rad_s2, goal.effort_nm)
    if not all(map(math.isfinite, chain.from_iterable(chain.from_iterable(kinds)))):
        return 'Positions, velocities, accelerations and efforts must be finite numbers.'
    if goal.velocity_rad_s and np.any(np.abs(goal.velocity_rad_s[-1]) > ZERO_RAD_S):
        return 'The velocity of the last point must be zero.'
    return None
