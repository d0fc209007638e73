"""The world's clock on /clock, for nodes with use_sim_time."""

from __future__ import annotations

import time

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from bbllm.ros.convert.records import stamp_to_msg

TOPIC = '/clock'
PERIOD_S = 0.025
"""Least wall time between messages: the 40 Hz of `ros2 bag play --clock`, since rclpy takes long
for each message in each node [s]."""


class WorldClock:
    """Publishes the world's clock while anybody subscribes; it never runs backwards."""

    def __init__(self, node: Node):
        self._publisher = node.create_publisher(Clock, TOPIC, QoSProfile(depth=1))
        self._due_s = float('-inf')
        self._newest_s = 0.0

    def publish(self, stamp_s: float) -> None:
        """Publish a time on the world's clock, at most every `PERIOD_S` by the wall clock [s]."""
        steady_s = time.monotonic()
        self._newest_s = max(self._newest_s, stamp_s)
        if steady_s < self._due_s or not self._publisher.get_subscription_count():
            return
        self._due_s = steady_s + PERIOD_S
        self._publisher.publish(Clock(clock=stamp_to_msg(self._newest_s)))
