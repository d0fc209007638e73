"""One topic, subscribed to for as long as a check needs it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from franka_driver_conformance.expectations import CheckFailedError
from franka_driver_conformance.recording import Recording

POLL_S = 0.002
"""Interval between polls; the driver publishes a thousand messages a second [s]."""
ANY = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Matches publishers of every reliability; other checks look at which one they have."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class TopicProbe:
    """A subscription that is polled: rclpy's executor is too slow for 1,000 messages a second."""

    def __init__(
        self, node: Node, kind: Any, topic: str, recording: Recording, *, latched: bool = False
    ):
        self._node, self._topic, self._recording = node, topic, recording
        self._subscription = node.create_subscription(
            kind, topic, lambda _: None, LATCHED if latched else ANY
        )

    def __enter__(self) -> TopicProbe:
        return self

    def __exit__(self, *_: object) -> None:
        self._node.destroy_subscription(self._subscription)

    def take(self) -> Any:
        handle = self._subscription.handle
        with handle:
            taken = handle.take_message(self._subscription.msg_type, self._subscription.raw)
        if taken is None:
            return None
        self._recording.note('received', self._topic, taken[0])
        return taken[0]

    def drain(self) -> list[Any]:
        return list(iter(self.take, None))

    def next(self, timeout_s: float) -> Any:
        return self.wait_for(lambda _: True, 'a message', timeout_s)

    def wait_for(self, matches: Callable[[Any], bool], what: str, timeout_s: float) -> Any:
        """Wait for a message that matches; raises CheckFailedError, which names *what*."""
        deadline_s = time.monotonic() + timeout_s
        others = 0
        while True:
            message = self.take()
            if message is not None:
                if matches(message):
                    return message
                others += 1
            elif time.monotonic() > deadline_s:
                raise CheckFailedError(
                    f'{what} on {self._topic} within {timeout_s:g} s', f'{others} other messages'
                )
            else:
                time.sleep(POLL_S)

    def some(self, count: int, timeout_s: float) -> list[Any]:
        messages: list[Any] = []
        deadline_s = time.monotonic() + timeout_s
        while len(messages) < count and time.monotonic() < deadline_s:
            message = self.take()
            if message is None:
                time.sleep(POLL_S)
            else:
                messages.append(message)
        return messages

    def collect(self, duration_s: float) -> list[Any]:
        time.sleep(duration_s)
        return self.drain()
