"""One topic, listened to for as long as a check needs it."""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from bbllm.core.closable import Closable
from bbllm.nodes.driver_checks.check import CheckFailedError
from bbllm.nodes.driver_checks.recording import Recording
from bbllm.ros.convert.qos import LATCHED

LOOK_S = 0.002
"""How often a topic is looked at: the driver sends a thousand messages a second [s]."""
ANY = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Fits publishers of every reliability; which one they have is checked elsewhere."""


class Ear(Closable):
    """
    A subscription that is read by hand; close it, or use it with `with`.

    No executor knows its node: rclpy's takes too long for a thousand messages a second.
    """

    def __init__(
        self, node: Node, kind: Any, topic: str, recording: Recording, *, latched: bool = False
    ):
        self._node = node
        self._topic = topic
        self._recording = recording
        self._subscription = node.create_subscription(
            kind, topic, _nothing, LATCHED if latched else ANY
        )

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_subscription(self._subscription)

    def take(self) -> Any:
        """Return the next message that has come, None where there is none."""
        handle, kind = self._subscription.handle, self._subscription.msg_type
        with handle:
            taken = handle.take_message(kind, self._subscription.raw)
        if taken is None:
            return None
        self._recording.note('received', self._topic, taken[0])
        return taken[0]

    def drain(self) -> list[Any]:
        """Return all messages that have come and were not taken yet."""
        messages = []
        while (message := self.take()) is not None:
            messages.append(message)
        return messages

    def next(self, timeout_s: float) -> Any:
        """
        Wait for the next message.

        Raises:
            CheckFailedError: None came in time.
        """
        return self.wait_for(lambda _: True, 'a message', timeout_s)

    def wait_for(self, fits: Any, what: str, timeout_s: float) -> Any:
        """
        Wait for a message that fits.

        Raises:
            CheckFailedError: None came in time; names what was waited for.
        """
        deadline_s = time.monotonic() + timeout_s
        last = None
        while True:
            message = self.take()
            if message is not None:
                if fits(message):
                    return message
                last = message
            elif time.monotonic() > deadline_s:
                seen = 'nothing' if last is None else 'others'
                raise CheckFailedError(f'{what} on {self._topic} within {timeout_s:g} s', seen)
            else:
                time.sleep(LOOK_S)

    def some(self, count: int, timeout_s: float) -> list[Any]:
        """Return the next so many messages, fewer where they do not come in time."""
        messages: list[Any] = []
        deadline_s = time.monotonic() + timeout_s
        while len(messages) < count and time.monotonic() < deadline_s:
            message = self.take()
            if message is None:
                time.sleep(LOOK_S)
            else:
                messages.append(message)
        return messages

    def hear_for(self, duration_s: float) -> list[Any]:
        """Return everything that comes in a stretch of wall time [s]."""
        deadline_s = time.monotonic() + duration_s
        messages = self.drain()
        while time.monotonic() < deadline_s:
            time.sleep(LOOK_S)
            messages += self.drain()
        return messages


def _nothing(_: Any) -> None:
    """Never called: the messages are taken by hand."""
