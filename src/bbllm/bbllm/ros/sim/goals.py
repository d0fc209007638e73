"""Every goal that reaches the simulated robot, for tests and benches: the topic `sim/goals`."""

from __future__ import annotations

from bbllm_interfaces.msg import SimGoal
from rclpy.node import Node
from rclpy.qos import QoSProfile

from bbllm.ros.convert.arm import duration_to_msg
from bbllm.ros.convert.records import header, stamp_to_msg
from bbllm.ros.sim.hand import GRIPPER
from bbllm.sim.controllers.manager import ARM_CONTROLLER
from bbllm.sim.robot import GoalSeen

GOALS = QoSProfile(depth=1000)
"""Reliable, and nothing is lost while whoever counts them is slow."""
SERVERS = {
    'follow_joint_trajectory': ARM_CONTROLLER,
    'joint_trajectory': ARM_CONTROLLER,
    'ptp_motion': 'action_server',
}
"""Which part of the driver serves an action or topic; all others are of the hand."""
LONGEST_S = 2.0**31 - 1
"""Of a Duration; a goal that is refused may ask for anything [s]."""


class SimGoals:
    """Publishes every goal of arm and hand that arrives, also the rejected ones."""

    def __init__(self, node: Node):
        self._publisher = node.create_publisher(SimGoal, 'sim/goals', GOALS)

    def publish(self, goal: GoalSeen, stamp_s: float) -> None:
        """
        Publish one goal.

        Args:
            goal: What arrived.
            stamp_s: When, on the world's clock [s].
        """
        self._publisher.publish(goal_to_msg(goal, stamp_s))


def goal_to_msg(goal: GoalSeen, stamp_s: float) -> SimGoal:
    """Write a goal that arrived at a time on the world's clock [s]."""
    delay_s = 0.0 if goal.start_s is None else goal.start_s - goal.stamp_s
    return SimGoal(
        header=header(stamp_s, ''),
        name=f'{SERVERS.get(goal.kind, GRIPPER)}/{goal.kind}',
        joint_names=list(goal.joints),
        start=stamp_to_msg(stamp_s + delay_s),
        duration=duration_to_msg(goal.lasts_s if 0.0 <= goal.lasts_s <= LONGEST_S else 0.0),
        robot_mode=int(goal.mode),
        accepted=goal.accepted,
        reason=goal.reason,
    )
