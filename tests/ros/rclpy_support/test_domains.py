"""Domains for stacks that are to meet nobody, and one process for each node name in one."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_ros.rclpy_support import domains
from bbllm_ros.rclpy_support.domains import check_names_free, domain_of, lock_name, own_domain

TWO = range(30, 32)


@pytest.fixture
def own_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be two domains, which no other process of this machine asks for."""
    monkeypatch.setattr(domains, 'DOMAINS', TWO)
    monkeypatch.setattr(domains, 'PREFIX', f'test of bbllm {tmp_path.name} {os.getpid()}')


def test_two_episodes_never_share_a_domain_and_leave_theirs_to_others(
    own_names: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_domain() as one:
        with own_domain() as other:
            assert {one, other} == set(TWO)
            # As in the workers of a bench.
            monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
            with pytest.raises(ConfigError, match='All 2 ROS domains'), own_domain():
                pass
        with own_domain() as again:
            assert again == other


def test_the_domain_is_that_of_the_environment_and_a_wrong_one_is_named_with_the_range() -> None:
    assert domain_of({}) == 0
    for text, domain in (('', 0), ('0', 0), (' 42 ', 42), ('232', 232)):
        assert domain_of({'ROS_DOMAIN_ID': text}) == domain
    for wrong in ('abc', '-1', '233', '1.0', '٣', '9' * 5000):
        with pytest.raises(ConfigError, match=r'ROS_DOMAIN_ID=.* from 0 to 232'):
            domain_of({'ROS_DOMAIN_ID': wrong})


DOMAIN = 230
"""No test of ROS uses it."""


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


NOBODY = 65534
TAKE = """
import os, sys
from bbllm.core.errors import ConfigError
from bbllm_ros.rclpy_support.domains import lock_name
os.setuid(int(sys.argv[2]))
try:
    lock = lock_name(sys.argv[1], '/held', 230)
    print('locked', flush=True)
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


def test_name_is_free_again_when_its_process_was_killed() -> None:
    process = taking('node_c', os.getuid())
    assert process.stdout is not None
    assert process.stdout.readline() == 'locked\n'
    with pytest.raises(ConfigError, match=f'process {process.pid}'):
        check_names_free(['node_c'], 'held', DOMAIN)

    process.kill()
    process.communicate()

    check_names_free(['node_c'], 'held', DOMAIN)


@as_root
def test_a_name_that_another_user_has_is_refused_with_process_and_user() -> None:
    process = taking('node_d', NOBODY)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == 'locked\n'
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


def test_names_that_are_long_and_nearly_the_same_are_two() -> None:
    place = 'a' * 200
    lock = lock_name('node_f', f'/{place}b', DOMAIN)

    with pytest.raises(ConfigError, match='runs already'):
        lock_name('node_f', f'/{place}b', DOMAIN)
    check_names_free(['node_f'], f'/{place}c', DOMAIN)
    os.close(lock)
