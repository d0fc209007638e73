"""
Whether whoever gave a goal may still be there, as far as the graph tells.

No server is told by rclpy whose goal it has. So a goal counts as left when none of the programs is
left that heard the feedback of its action when it was taken. One that ended well is missed at
once, one that was killed when DDS gives it up, after up to 20 s.
"""

from __future__ import annotations

import time

from rclpy.node import Node

FOUND_S = 1.0
"""How long the graph may take to tell of one whose goal has come already [s]."""


class GoalClients:
    """
    The clients of one action at the moment when it took a goal.

    Args:
        node: Who serves it.
        action: Its name.
        besides: Names of nodes that never gave the goal.
        found_s: How long it may take to hear of one whose goal has come already [s].
    """

    def __init__(self, node: Node, action: str, besides: frozenset[str], found_s: float = FOUND_S):
        self._node = node
        self._topic = node.resolve_topic_name(f'{action}/_action/feedback')
        self._besides = besides
        self._found_s = time.monotonic() + found_s
        self._first = self._here()

    @property
    def gone(self) -> bool:
        """Whether all of them have gone; never where none was known."""
        here = self._here()
        if time.monotonic() < self._found_s:
            self._first |= here
        return bool(self._first) and not self._first & here

    def _here(self) -> frozenset[bytes]:
        infos = self._node.get_subscriptions_info_by_topic(self._topic)
        return frozenset(
            bytes(info.endpoint_gid) for info in infos if info.node_name not in self._besides
        )
