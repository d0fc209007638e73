"""The ROS clock of a node: the wall clock, or `/clock` where use_sim_time is set."""

from __future__ import annotations

from rclpy.node import Node


def now_s(node: Node) -> float:
    """Return the time for the stamps of a node's own messages [s]."""
    return float(node.get_clock().now().nanoseconds) * 1e-9
