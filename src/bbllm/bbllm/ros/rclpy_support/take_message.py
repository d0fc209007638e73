"""
Takes all that has come of a topic at once.

An executor takes one message of a subscription in each of its rounds, however many wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def take_all(subscription: Any, callback: Callable[[Any], None]) -> None:
    """
    Hand over every message that waits, the oldest first.

    Raises:
        InvalidHandle: The node was destroyed.
    """
    # The call that rclpy's own executor makes: 7.1 has no public one.
    with subscription.handle:
        while taken := subscription.handle.take_message(subscription.msg_type, subscription.raw):
            callback(taken[0])
