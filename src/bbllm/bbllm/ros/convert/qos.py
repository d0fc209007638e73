"""The qualities of service that are not the default."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and the last message is kept for those who come later."""

EVENTS = QoSProfile(depth=500, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and a late subscriber still receives the beginning of an episode."""

BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""The newest message only, and none is sent twice."""
