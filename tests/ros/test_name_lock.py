"""One process for each node name, namespace and domain of this machine."""

import os
import subprocess
import sys

import pytest

from bbllm.core.errors import ConfigError
from bbllm.ros.rclpy_support.domains import check_names_free, lock_name

DOMAIN = 230
"""No test of ROS uses it."""
HOLD = """
import sys
from bbllm.ros.rclpy_support.domains import lock_name
lock = lock_name(sys.argv[1], '/held', 230)
print('held', flush=True)
sys.stdin.read()
"""


def test_name_is_taken_until_the_lock_is_closed() -> None:
    lock = lock_name('node_a', '/here', DOMAIN)

    with pytest.raises(
        ConfigError, match=rf'node_a runs already.*/here \(process {os.getpid()}\)'
    ):
        lock_name('node_a', 'here/', DOMAIN)
    check_names_free(['node_a'], 'elsewhere', DOMAIN)
    check_names_free(['node_a'], 'here', DOMAIN + 1)
    check_names_free(['node_b'], 'here', DOMAIN)
    os.close(lock)

    check_names_free(['node_a'], 'here', DOMAIN)


def test_name_is_free_again_when_its_process_was_killed() -> None:
    process = subprocess.Popen(
        [sys.executable, '-c', HOLD, 'node_c'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == 'held\n'
    with pytest.raises(ConfigError, match=f'process {process.pid}'):
        check_names_free(['node_c'], 'held', DOMAIN)

    process.kill()
    process.communicate()

    check_names_free(['node_c'], 'held', DOMAIN)
