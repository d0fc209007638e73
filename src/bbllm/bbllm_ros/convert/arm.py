"""The arm's records to the driver's messages and back."""

from collections.abc import Callable, Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory as TrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from bbllm.arm.controllers.trajectory_goal import AskedTolerances, TrajectoryGoal
from bbllm.arm.driver import Array, FollowError, JointTrajectory, Tolerances
from bbllm.robots.fr3 import FR3
from bbllm.robots.urdf import BASE_LINK
from bbllm.scene.hand_force import Force
from bbllm_ros.convert.records import header, stamp_from_msg

BASE_FRAME = BASE_LINK
"""The root of the robot description: the driver writes its state in it."""
FINGERS = FR3.hand.joints
"""Joints of the hand: each is half of its width [m]."""


def duration_to_msg(duration_s: float) -> Duration:
    seconds, nanoseconds = divmod(round(duration_s * 1e9), 1_000_000_000)
    return Duration(sec=seconds, nanosec=nanoseconds)


def trajectory_to_goal(
    trajectory: JointTrajectory, tolerances: Tolerances
) -> FollowJointTrajectory.Goal:
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(FR3.joints)
    rows = zip(
        trajectory.time_s.tolist(),
        trajectory.position_rad.tolist(),
        trajectory.velocity_rad_s.tolist(),
        trajectory.acceleration_rad_s2.tolist(),
        strict=True,
    )
    goal.trajectory.points = [
        JointTrajectoryPoint(
            positions=position,
            velocities=velocity,
            accelerations=acceleration,
            time_from_start=duration_to_msg(time_s),
        )
        for time_s, position, velocity, acceleration in rows
    ]
    goal.path_tolerance = _tolerances(tolerances.path_rad)
    goal.goal_tolerance = _tolerances(tolerances.goal_rad)
    goal.goal_time_tolerance = duration_to_msg(tolerances.goal_time_s)
    return goal


def goal_to_record(
    goal: FollowJointTrajectory.Goal, to_sim_s: Callable[[float], float]
) -> TrajectoryGoal:
    """Read a goal as the simulated controller takes it; *to_sim_s* maps stamps [s]."""
    return trajectory_to_record(goal.trajectory, to_sim_s, _asked(goal))


def trajectory_to_record(
    msg: TrajectoryMsg,
    to_sim_s: Callable[[float], float],
    tolerances: AskedTolerances | None = None,
) -> TrajectoryGoal:
    points = msg.points
    stamp_s = stamp_from_msg(msg.header.stamp)
    return TrajectoryGoal(
        joint_names=tuple(msg.joint_names),
        time_s=tuple(stamp_from_msg(point.time_from_start) for point in points),
        position_rad=tuple(tuple(point.positions) for point in points),
        velocity_rad_s=_rows([tuple(point.velocities) for point in points]),
        acceleration_rad_s2=_rows([tuple(point.accelerations) for point in points]),
        effort_nm=_rows([tuple(point.effort) for point in points]),
        start_s=to_sim_s(stamp_s) if stamp_s > 0 else None,
        tolerances=tolerances or AskedTolerances(),
    )


def joint_state_to_msg(
    names: Sequence[str],
    position: Array,
    velocity: Array,
    effort: Array,
    stamp_s: float,
    frame: str = BASE_FRAME,
) -> JointStateMsg:
    """Write joint states as the driver does; all arrays of shape (len(names),)."""
    return JointStateMsg(
        header=header(stamp_s, frame),
        name=list(names),
        position=position.tolist(),
        velocity=velocity.tolist(),
        effort=effort.tolist(),
    )


def arm_from_msg(msg: JointStateMsg) -> tuple[Array, Array] | None:
    """Return positions and velocities of the arm, shape (7,) each; None if joints are missing."""
    try:
        order = [msg.name.index(name) for name in FR3.joints]
    except ValueError:
        return None
    position = np.asarray(msg.position, dtype=float)
    velocity = np.asarray(msg.velocity, dtype=float)
    if len(position) != len(msg.name) or len(velocity) != len(msg.name):
        return None
    return position[order], velocity[order]


def width_from_msg(msg: JointStateMsg) -> float | None:
    """Return the distance between the fingers [m]; None if joints are missing."""
    places = dict(zip(msg.name, msg.position, strict=False))
    if not all(name in places for name in FINGERS):
        return None
    return float(sum(places[name] for name in FINGERS))


def force_from_wrench(force_n: Force) -> Force | None:
    """
    Read the force of the driver's wrench as what the world does to the hand, same axes [N].

    libfranka counts what the robot does to the world as positive
    (`franka::RobotState::O_F_ext_hat_K`), so it is turned round. None for all zeros: near a
    singularity, where it is undefined.
    """
    x, y, z = force_n
    return (-x, -y, -z) if x or y or z else None


def follow_error(code: int) -> FollowError:
    """Read an error code; one that this version does not have is INVALID_GOAL."""
    return FollowError(code) if code in list(FollowError) else FollowError.INVALID_GOAL


def _tolerances(position_rad: float) -> list[JointTolerance]:
    return [JointTolerance(name=name, position=float(position_rad)) for name in FR3.joints]


def _rows(rows: list[tuple[float, ...]]) -> tuple[tuple[float, ...], ...]:
    return tuple(rows) if any(rows) else ()


def _asked(goal: FollowJointTrajectory.Goal) -> AskedTolerances:
    """Read all tolerances of a goal; joints that are not named keep 0, the default."""
    values = {name: np.zeros(len(FR3.joints)) for name in _TOLERANCES}
    legible = True
    for part, given in (('path', goal.path_tolerance), ('goal', goal.goal_tolerance)):
        for item in given:
            if item.name not in FR3.joints:
                legible = False
                continue
            i = FR3.joints.index(item.name)
            values[f'{part}_rad'][i], values[f'{part}_rad_s'][i] = item.position, item.velocity
    time_s = stamp_from_msg(goal.goal_time_tolerance)
    return AskedTolerances(**values, goal_time_s=time_s, legible=legible)


_TOLERANCES = ('path_rad', 'path_rad_s', 'goal_rad', 'goal_rad_s')
