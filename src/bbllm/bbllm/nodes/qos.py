"""The qualities of service that are not the default."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and the last message is kept for those who come later."""
