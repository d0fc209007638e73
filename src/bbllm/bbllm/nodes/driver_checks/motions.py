"""The only motions that checks ask for: joint 7 turns slowly by less than 0.1 rad, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.driver_checks.check import expect_equal
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.goal import Ended, SentGoal
from bbllm.ros.convert.arm import duration_to_msg

SWING_RAD = 0.08
"""How far joint 7 turns [rad]."""
DURATION_S = 2.0
SLOW_S = 6.0
LONG_S = 20.0
"""For motions that are broken off: nothing that is done in their middle comes too late [s]."""
N_POINTS = 20
SLACK_S = 15.0
"""Wall time beyond its duration that a motion may take, on a busy machine [s]."""
GOAL_RAD = 0.02
"""Goal tolerance: what a controller without integral part reaches against friction [rad]."""
GOAL_TIME_S = 2.0


class Arm:
    """Moves joint 7 of one driver between where it was found and a little beside it."""

    def __init__(self, driver: DriverClient):
        self.driver = driver
        self._home_rad: float | None = None

    @property
    def action(self) -> str:
        """The controller's action."""
        return f'{self.driver.controller}/follow_joint_trajectory'

    def measured(self) -> JointState:
        """Return the newest measured state, joints in the order of the robot."""
        state = self.driver.hear(JointState, 'franka/joint_states')
        return in_order(state)

    def positions(self) -> list[float]:
        """Return the measured positions in the order of the robot [rad]."""
        return list(self.measured().position)

    def stay(self) -> FollowJointTrajectory.Goal:
        """Return a goal that keeps the arm where it is for two seconds."""
        return self._goal([DURATION_S], [self.positions()], [[0.0] * 7], [])

    def swing(self, duration_s: float = DURATION_S) -> FollowJointTrajectory.Goal:
        """Return a goal that turns joint 7 to its other place."""
        start = self.positions()
        if self._home_rad is None:
            self._home_rad = start[6]
        # Towards the middle of its range, wherever the arm was found.
        side_rad = self._home_rad - (SWING_RAD if self._home_rad > 0 else -SWING_RAD)
        nearer_home = abs(start[6] - self._home_rad) < abs(start[6] - side_rad)
        turn = (side_rad if nearer_home else self._home_rad) - start[6]
        times = list[float]()
        rows = tuple(list[list[float]]() for _ in range(3))
        for i in range(1, N_POINTS + 1):
            s = i / N_POINTS
            profile = _minimum_jerk(s, duration_s)
            times.append(s * duration_s)
            for row, part in zip(rows, profile, strict=True):
                row.append([0.0] * 6 + [part * turn])
        positions = [[*start[:6], start[6] + offset[6]] for offset in rows[0]]
        goal = self._goal(times, positions, rows[1], rows[2])
        goal.goal_tolerance = [JointTolerance(name=name, position=GOAL_RAD) for name in ARM_JOINTS]
        goal.goal_time_tolerance = duration_to_msg(GOAL_TIME_S)
        return goal

    def send(self, goal: FollowJointTrajectory.Goal) -> SentGoal:
        """Send a goal; it may be rejected."""
        return self.driver.send(FollowJointTrajectory, self.action, goal)

    def follow(self, goal: FollowJointTrajectory.Goal) -> Ended:
        """Send a goal and wait for its end; raises CheckFailedError where it is rejected."""
        return self.send(goal).ended(length_s(goal) + SLACK_S)

    @contextmanager
    def moving(self, goal: FollowJointTrajectory.Goal | None = None) -> Iterator[SentGoal]:
        """Yield a goal that is under way; whatever happens, nothing moves afterwards."""
        sent = self.send(goal or self.swing(LONG_S)).need_accepted()
        try:
            sent.wait_feedback()
            yield sent
        except BaseException:
            sent.cancel()
            raise

    def must_reach(self, goal: FollowJointTrajectory.Goal) -> Ended:
        """Follow a goal, or raise CheckFailedError where that does not succeed."""
        ended = self.follow(goal)
        expect_equal('the status', ended.status, 'SUCCEEDED')
        return ended

    def _goal(
        self,
        times_s: Sequence[float],
        positions: Sequence[Sequence[float]],
        velocities: Sequence[Sequence[float]],
        accelerations: Sequence[Sequence[float]],
    ) -> FollowJointTrajectory.Goal:
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(ARM_JOINTS)
        for i, time_s in enumerate(times_s):
            point = JointTrajectoryPoint(
                positions=list(positions[i]),
                velocities=list(velocities[i]),
                accelerations=list(accelerations[i]) if accelerations else [],
                time_from_start=duration_to_msg(time_s),
            )
            goal.trajectory.points.append(point)
        return goal


def in_order(state: JointState) -> JointState:
    """Return a joint state with the arm's joints only, in the order of the robot."""
    names = list(state.name)
    for name in ARM_JOINTS:
        if name not in names:
            expect_equal('the joints', names, list(ARM_JOINTS))
    order = [names.index(name) for name in ARM_JOINTS]

    def sort(values: Any) -> list[float]:
        return [values[i] for i in order] if len(values) == len(names) else list(values)

    return JointState(
        header=state.header,
        name=list(ARM_JOINTS),
        position=sort(state.position),
        velocity=sort(state.velocity),
        effort=sort(state.effort),
    )


def length_s(goal: FollowJointTrajectory.Goal) -> float:
    """Return how long a goal's trajectory lasts [s]."""
    last = goal.trajectory.points[-1].time_from_start
    return float(last.sec + last.nanosec * 1e-9)


def seconds(stamp: Any) -> float:
    """Return a stamp or duration in seconds."""
    return float(stamp.sec + stamp.nanosec * 1e-9)


def _minimum_jerk(s: float, duration_s: float) -> tuple[float, float, float]:
    """Return share of the way, and its two derivatives [1, 1/s, 1/s^2]."""
    way = 10 * s**3 - 15 * s**4 + 6 * s**5
    speed = (30 * s**2 - 60 * s**3 + 30 * s**4) / duration_s
    acceleration = (60 * s - 180 * s**2 + 120 * s**3) / duration_s**2
    return way, speed, acceleration
