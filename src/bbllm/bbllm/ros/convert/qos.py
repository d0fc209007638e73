"""The qualities of service that are not the default."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and the last message is kept for those who come later."""

EVENTS = QoSProfile(depth=500, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and whoever comes in the middle of an episode still hears its beginning."""

BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""The newest message only, and none is sent twice."""
RESULT_TIMEOUT_S = 10
"""How long an action server keeps the result of a goal that has ended. Clients of this project ask
for it when the goal is accepted, and again each second; rclpy keeps it for 900 s, whole
trajectories included [s]."""
