"""What the simulated robot was told, for tests and benches: the topic `sim/goals`."""

from __future__ import annotations

import json

from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from bbllm.sim.goal_log import GoalSeen

GOALS = QoSProfile(depth=1000)
"""Reliable, and nothing is lost while whoever counts them is slow."""


class SimGoals:
    """Publishes every goal of arm and hand that arrives, also the rejected ones."""

    def __init__(self, node: Node):
        self._publisher = node.create_publisher(String, 'sim/goals', GOALS)

    def publish(self, goal: GoalSeen, stamp_s: float) -> None:
        """
        Publish one goal as a JSON object.

        Args:
            goal: What arrived.
            stamp_s: When, on the world's clock [s].
        """
        self._publisher.publish(String(data=goal_to_json(goal, stamp_s)))


def goal_to_json(goal: GoalSeen, stamp_s: float) -> str:
    """Write a goal: kind, stamp_s on the world's clock, mode by its name, accepted, reason."""
    return json.dumps(
        {
            'kind': goal.kind,
            'stamp_s': stamp_s,
            'mode': goal.mode.name,
            'accepted': goal.accepted,
            'reason': goal.reason,
        }
    )
