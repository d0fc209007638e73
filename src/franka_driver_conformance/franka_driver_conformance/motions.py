"""The only motions that checks request: joint 7 turns slowly by less than 0.1 rad, and back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from franka_driver_conformance.client import DriverClient, Ended, SentGoal
from franka_driver_conformance.expectations import expect

ARM_JOINTS = tuple(f'fr3_joint{i}' for i in range(1, 8))
SWING_RAD = 0.08
DURATION_S = 2.0
SLOW_S = 6.0
LONG_S = 20.0
"""For motions that are interrupted: the interruption never comes after their end [s]."""
N_POINTS = 20
SLACK_S = 15.0
"""Wall time beyond its duration that a motion may take on a busy machine [s]."""
GOAL_RAD = 0.02
"""Goal tolerance: what a controller without integral part reaches against friction [rad]."""
GOAL_TIME_S = 2.0


class Arm:
    """Moves joint 7 of one driver between where it was found and a position beside it."""

    def __init__(self, driver: DriverClient):
        self.driver = driver
        self._home_rad: float | None = None

    def measured(self) -> JointState:
        return in_order(self.driver.receive(JointState, 'franka/joint_states'))

    def positions(self) -> list[float]:
        return list(self.measured().position)

    def stay(self) -> FollowJointTrajectory.Goal:
        """Return a goal that keeps the arm where it is for two seconds."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(ARM_JOINTS)
        goal.trajectory.points = [
            JointTrajectoryPoint(
                positions=self.positions(),
                velocities=[0.0] * 7,
                time_from_start=duration_msg(DURATION_S),
            )
        ]
        return goal

    def swing(self, duration_s: float = DURATION_S) -> FollowJointTrajectory.Goal:
        """Return a goal that turns joint 7 to its other position."""
        start = self.positions()
        if self._home_rad is None:
            self._home_rad = start[6]
        # Towards the middle of its range, wherever the arm was found.
        side_rad = self._home_rad - (SWING_RAD if self._home_rad > 0 else -SWING_RAD)
        nearer_home = abs(start[6] - self._home_rad) < abs(start[6] - side_rad)
        turn_rad = (side_rad if nearer_home else self._home_rad) - start[6]
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(ARM_JOINTS)
        for i in range(1, N_POINTS + 1):
            s = i / N_POINTS
            # Minimum jerk: the share of the way and its two derivatives.
            way = 10 * s**3 - 15 * s**4 + 6 * s**5
            speed = (30 * s**2 - 60 * s**3 + 30 * s**4) / duration_s
            acceleration = (60 * s - 180 * s**2 + 120 * s**3) / duration_s**2
            goal.trajectory.points.append(
                JointTrajectoryPoint(
                    positions=[*start[:6], start[6] + way * turn_rad],
                    velocities=[0.0] * 6 + [speed * turn_rad],
                    accelerations=[0.0] * 6 + [acceleration * turn_rad],
                    time_from_start=duration_msg(s * duration_s),
                )
            )
        goal.goal_tolerance = [JointTolerance(name=name, position=GOAL_RAD) for name in ARM_JOINTS]
        goal.goal_time_tolerance = duration_msg(GOAL_TIME_S)
        return goal

    def send(self, goal: FollowJointTrajectory.Goal) -> SentGoal:
        action = f'{self.driver.controller}/follow_joint_trajectory'
        return self.driver.send(FollowJointTrajectory, action, goal)

    def follow(self, goal: FollowJointTrajectory.Goal) -> Ended:
        return self.send(goal).ended(length_s(goal) + SLACK_S)

    def must_reach(self, goal: FollowJointTrajectory.Goal) -> None:
        status = self.follow(goal).status
        expect(status == 'SUCCEEDED', 'the status SUCCEEDED', status)

    @contextmanager
    def moving(self, goal: FollowJointTrajectory.Goal | None = None) -> Iterator[SentGoal]:
        """Yield a goal that is executing; after an error nothing moves."""
        sent = self.send(goal or self.swing(LONG_S)).need_accepted()
        try:
            sent.wait_feedback()
            yield sent
        except BaseException:
            sent.cancel()
            raise


def in_order(state: JointState) -> JointState:
    names = list(state.name)
    expect(set(ARM_JOINTS) <= set(names), f'the joints {ARM_JOINTS}', names)
    order = [names.index(name) for name in ARM_JOINTS]

    def pick(values: Any) -> list[float]:
        return [values[i] for i in order] if len(values) == len(names) else list(values)

    return JointState(
        header=state.header,
        name=list(ARM_JOINTS),
        position=pick(state.position),
        velocity=pick(state.velocity),
        effort=pick(state.effort),
    )


def length_s(goal: FollowJointTrajectory.Goal) -> float:
    return seconds(goal.trajectory.points[-1].time_from_start)


def seconds(stamp: Any) -> float:
    return float(stamp.sec + stamp.nanosec * 1e-9)


def duration_msg(duration_s: float) -> Duration:
    return Duration(sec=int(duration_s), nanosec=int(duration_s % 1 * 1e9))


def stamp_msg(time_s: float) -> Time:
    return Time(sec=int(time_s), nanosec=int(time_s % 1 * 1e9))
