"""
`/diagnostics` and the log of a node.

Level and meaning follow REP 107: OK while the node is active, WARN after an error in the last
`RECENT_S` or while it is inactive, STALE is left to aggregators.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.impl import rcutils_logger
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node

from bbllm.core.text import escape_hidden
from bbllm_ros.rclpy_support.entities import steady_timer

TOPIC = '/diagnostics'
PERIOD_S = 1.0
"""Time between two messages, wall clock [s]."""
RECENT_S = 30.0
"""How long an error keeps the level at WARN, wall clock [s]."""


class Diagnostics:
    """Publishes the state of one node at 1 Hz, as long as the node exists."""

    def __init__(self, node: Node, state: Callable[[], str]):
        self._node = node
        self._state = state
        self._values: dict[str, Callable[[], object]] = {}
        self._error, self._error_s = '', float('-inf')
        self._publisher = node.create_publisher(DiagnosticArray, TOPIC, 10)
        steady_timer(node, PERIOD_S, self._publish)

    def measure(self, values: Mapping[str, Callable[[], object]]) -> None:
        """Replace what is measured: by name, with its unit, a function that returns the value."""
        self._values = dict(values)

    def error(self, message: str) -> None:
        self._error, self._error_s = message, time.monotonic()

    def _publish(self) -> None:
        state = self._state()
        age_s = time.monotonic() - self._error_s
        well = state == 'active' and age_s > RECENT_S
        values = {'state': state}
        if self._error:
            values |= {'last error': self._error, 'last error, age [s]': f'{age_s:.0f}'}
        for name, value in tuple(self._values.items()):
            measured = value()
            values[name] = f'{measured:.3g}' if isinstance(measured, float) else str(measured)
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if well else DiagnosticStatus.WARN,
            name=self._node.get_fully_qualified_name(),
            message=self._error if age_s <= RECENT_S else state,
            hardware_id='fr3',
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


class Rate:
    """Counts events of one thread; a call returns the rate since the last call [Hz]."""

    def __init__(self) -> None:
        self._count = 0
        self._since_s = time.monotonic()

    def count(self) -> None:
        self._count += 1

    def __call__(self) -> float:
        now_s = time.monotonic()
        count, self._count = self._count, 0
        spent_s, self._since_s = now_s - self._since_s, now_s
        return count / spent_s if spent_s > 0 else 0.0


class PlainLogger(RcutilsLogger):
    """A logger whose lines show in terminals and in /rosout as they were written."""

    def log(self, message: str, severity: Any, **options: Any) -> bool:
        return bool(super().log(escape_hidden(str(message)), severity, **options))


# The caller that a line of the log names is the one of `PlainLogger`, and not this module.
rcutils_logger._internal_callers.append(__file__)
