"""`bbllm up sim --clock`: every node takes its time from the simulation."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')
pytestmark = pytest.mark.ros

WAIT_S = 120.0
NODES = 5


def test_every_node_uses_the_clock_of_the_simulation(ros_domain: int, tmp_path: Path) -> None:
    from bbllm.ros.stack.client import StackClient

    process = subprocess.Popen(
        [sys.executable, '-u', '-m', 'bbllm', 'up', 'sim', '--clock', '--speed', '0'],
        env={**os.environ, 'XDG_STATE_HOME': str(tmp_path), 'COLUMNS': '200'},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = ''
        for line in process.stdout:
            said += line
            if 'Ctrl-C here ends all nodes' in line:
                break
        with StackClient() as client:
            deadline_s = time.monotonic() + WAIT_S
            while (
                client.node.count_subscribers('/clock') < NODES
                or client.node.count_publishers('/clock') < 1
            ):
                assert time.monotonic() < deadline_s, f'not all nodes use /clock:\n{said}'
                time.sleep(0.05)
            assert client.node.count_publishers('/clock') == 1
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT_S)
