"""Logs of nodes: text from outside steers no terminal that shows them."""

from __future__ import annotations

import pytest
import rclpy.logging

from bbllm.ros.rclpy_support.diagnostics import PlainLogger

pytestmark = pytest.mark.ros


def test_hidden_characters_are_text_in_the_log_and_the_caller_is_named(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rclpy.logging.initialize()

    logger = PlainLogger('outside')
    logger.warning('heard \x1b[2J\u202e\x9b and 红色')

    said = capfd.readouterr().err
    assert r'heard \x1b[2J\u202e\x9b and 红色' in said
    assert '\x1b[2J' not in said
    (caller,) = logger.contexts
    assert caller.file_path == __file__
