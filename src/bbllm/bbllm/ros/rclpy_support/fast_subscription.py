"""
Reads fast topics beside the executor.

rclpy's executor builds a new wait set for every message, which costs it a third of a core for a
hundred messages a second, and the real driver sends a thousand. Taking what has come every few
milliseconds costs a hundredth of that and loses nothing that anybody waits for.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.qos import QoSProfile

from bbllm.ros.rclpy_support.diagnostics import Rate
from bbllm.ros.rclpy_support.entities import take_all
from bbllm.ros.rclpy_support.stack_node import StackNode

PERIOD_S = 0.005
"""Wall time between looks [s]."""


class _Never(CallbackGroup):
    """A group whose subscriptions the executor leaves alone."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        """Nothing ever begins."""


class Poller:
    """A thread that takes the messages of some topics of one node."""

    def __init__(self, node: StackNode):
        self._node = node
        self._group = _Never()
        self._feeds: list[tuple[Any, Callable[[Any], None]]] = []
        self.rates: dict[str, Rate] = {}
        """How often messages of each topic come."""
        self._thread = threading.Thread(target=self._run, name='poller', daemon=True)

    def subscribe(
        self, kind: Any, topic: str, callback: Callable[[Any], None], qos: QoSProfile | int
    ) -> None:
        """Call *callback* with every message of a topic, in the poller's thread."""
        rate = self.rates.setdefault(f'{topic} [Hz]', Rate())

        def take(message: Any) -> None:
            rate.count()
            callback(message)

        subscription = self._node.create_subscription(
            kind, topic, take, qos, callback_group=self._group
        )
        self._feeds.append((subscription, take))

    def start(self) -> None:
        """Begin to look; called when everything is subscribed."""
        self._thread.start()

    def _run(self) -> None:
        try:
            while True:
                for subscription, callback in self._feeds:
                    take_all(subscription, callback)
                time.sleep(PERIOD_S)
        except InvalidHandle:
            return  # the node was destroyed: its process ends
        except Exception:  # a node that no longer hears its robot must not look alive
            self._node.fail(f'fault in reading a topic:\n{traceback.format_exc()}')
