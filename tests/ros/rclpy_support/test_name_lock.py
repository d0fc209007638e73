"""One process for each node name, namespace and domain of this machine."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_ros.rclpy_support.domains import check_names_free, lock_name

DOMAIN = 230
"""No test of ROS uses it."""
HOLD = """
import sys
from bbllm_ros.rclpy_support.domains import lock_name
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


NOBODY = 65534
TAKE = """
import os, sys
from bbllm.core.errors import ConfigError
from bbllm_ros.rclpy_support.domains import lock_name
os.setuid(int(sys.argv[2]))
try:
    lock = lock_name(sys.argv[1], '/held', 230)
    print('held', flush=True)
    sys.stdin.read()
except ConfigError as error:
    print(error)
"""
as_root = pytest.mark.skipif(os.getuid() != 0, reason='becomes another user, which root may do')


def taking(name: str, user: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, '-c', TAKE, name, str(user)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@as_root
def test_a_name_that_another_user_has_is_refused_with_process_and_user() -> None:
    process = taking('node_d', NOBODY)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == 'held\n'
        with pytest.raises(ConfigError, match=rf'\(process {process.pid} of nobody\)'):
            check_names_free(['node_d'], 'held', DOMAIN)
    finally:
        process.communicate()

    lock = lock_name('node_d', '/held', DOMAIN)
    try:
        output, _ = taking('node_d', NOBODY).communicate()
        assert f'(process {os.getpid()} of root)' in output
    finally:
        os.close(lock)


def test_no_file_that_somebody_else_may_have_put_there_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = tmp_path / 'letter.txt'
    letter.write_text('dear')
    # Where the lock of an earlier version was.
    planted = Path('/tmp') / f'bbllm-node-{DOMAIN}-here-node_e.lock'
    planted.unlink(missing_ok=True)
    planted.symlink_to(letter)
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    try:
        os.close(lock_name('node_e', '/here', DOMAIN))
    finally:
        planted.unlink()

    assert letter.read_text() == 'dear'
    assert [*tmp_path.iterdir()] == [letter]


def test_names_that_are_long_and_nearly_the_same_are_two() -> None:
    place = 'a' * 200
    lock = lock_name('node_f', f'/{place}b', DOMAIN)

    with pytest.raises(ConfigError, match='runs already'):
        lock_name('node_f', f'/{place}b', DOMAIN)
    check_names_free(['node_f'], f'/{place}c', DOMAIN)
    os.close(lock)
