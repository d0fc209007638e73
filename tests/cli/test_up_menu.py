"""`bbllm up sim --menu`: the node of rviz's menus comes and goes with the stack."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')
pytestmark = pytest.mark.ros

WAIT_S = 120.0


def test_menu_is_started_and_ended_with_the_stack(
    ros_domain: int, tmp_path: Path, repository: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, '-u', '-m', 'bbllm', 'up', 'sim', '--menu', '--speed', '0'],
        env={**os.environ, 'XDG_STATE_HOME': str(tmp_path), 'COLUMNS': '200'},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = ''
    try:
        for line in process.stdout:
            said += line
            if 'Ctrl-C here ends all nodes' in line:
                break
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_S)

    assert 'ready  task_menu' in said, errors
    assert f'rviz2 -d {repository / "config" / "rviz" / "bbllm.rviz"}' in said
    # 130 where Ctrl-C came before anybody waited for it.
    assert process.returncode in (0, 130), errors
