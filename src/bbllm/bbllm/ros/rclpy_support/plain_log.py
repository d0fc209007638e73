"""The log of a node, in which characters that are not visible are text."""

from __future__ import annotations

from typing import Any

from rclpy.impl import rcutils_logger
from rclpy.impl.rcutils_logger import RcutilsLogger

from bbllm.core.printable import escape_hidden


class PlainLogger(RcutilsLogger):
    """A logger whose lines show in terminals and in /rosout as they were written."""

    def log(self, message: str, severity: Any, **options: Any) -> bool:
        """Log a message; see `RcutilsLogger.log`."""
        return bool(super().log(escape_hidden(str(message)), severity, **options))


def _count_as_internal() -> None:
    """Let log lines name the code that called the logger, and not this file."""
    rcutils_logger._internal_callers.append(__file__)


_count_as_internal()
