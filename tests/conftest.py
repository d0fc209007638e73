"""What holds in every test: no model is called, nobody's home is touched."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

HAS_ROS = importlib.util.find_spec('rclpy') is not None

DOMAINS = range(1, 102)
"""ROS domains whose ports are free under Linux; higher ones meet those of other programs."""

# Also for the processes that tests start, and before any fixture could look.
for name in [name for name in os.environ if name.startswith('OPENAI_')]:
    del os.environ[name]

# A run in the background of a script starts with Ctrl-C ignored, and so would its processes.
signal.signal(signal.SIGINT, signal.default_int_handler)

# With the environment of `make setup` a missing rclpy is a fault, and shows as one.
collect_ignore = [] if HAS_ROS or 'BBLLM_ROS' in os.environ else ['nodes']


def pytest_report_header() -> list[str]:
    """Say what is left out, and why."""
    if collect_ignore:
        return ['rclpy is not installed here: tests/nodes is left out (make test has it)']
    return []


@pytest.fixture(scope='session', autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep journals out of the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_STATE_HOME', str(tmp_path_factory.mktemp('state')))
        yield


@pytest.fixture(scope='session', autouse=True)
def _no_network() -> Iterator[None]:
    """Let tests connect to this machine only, so that no real model can be called."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host != 'localhost' and host != '::1' and not host.startswith('127.'):
                raise AssertionError(f'a test tried to connect to {host}')
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, 'connect', connect_here)
        yield


@pytest.fixture(scope='session')
def repository() -> Path:
    """Return the root of the checkout."""
    return Path(__file__).resolve().parent.parent


@contextmanager
def _own_domain() -> Iterator[int]:
    """Keep a ROS domain that no other test run on this machine uses."""
    for domain in DOMAINS:
        lock = (Path(tempfile.gettempdir()) / f'bbllm-test-domain-{domain}.lock').open('w')
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield domain
            return
    pytest.fail('all ROS domains are in use by other test runs')


@pytest.fixture(scope='module')
def ros_domain() -> Iterator[int]:
    """Take a domain of one's own, for this process and those that it starts."""
    with _own_domain() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv('ROS_DOMAIN_ID', str(domain))
        patch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        yield domain


@pytest.fixture
def empty_domain() -> Iterator[int]:
    """Take one more domain, in which nothing runs; the environment stays as it is."""
    with _own_domain() as domain:
        yield domain
