"""What holds in every test: no model is called, nobody's home is touched."""

import importlib.util
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from bbllm.core.forked import ONE_THREAD
from bbllm_ros.rclpy_support.dds_boundary import bounded
from bbllm_ros.rclpy_support.domains import own_domain
from tests.sampling import entries, is_left_out, left_out_files
from tests.worlds.household.original_virtualhome import why_not_here

REQUIRED = 'BBLLM_REQUIRE'
"""Variable that names what tests may not be skipped without, with commas between; see .ci/run."""
HAS_ROS = importlib.util.find_spec('rclpy') is not None

# How long an example takes depends on what else the machine does. Few are drawn, but with
# --hypothesis-profile=full; see drawn.py.
settings.register_profile('full', deadline=None, max_examples=100)
settings.register_profile('few', deadline=None, max_examples=10)
settings.load_profile('few')

# Also for the processes that tests start, and before any fixture could look.
os.environ.setdefault(*ONE_THREAD)
for name in [name for name in os.environ if name.startswith('OPENAI_')]:
    del os.environ[name]

# A run in the background of a script starts with Ctrl-C ignored, and so would its processes.
signal.signal(signal.SIGINT, signal.default_int_handler)

COLLECTED = pytest.StashKey[frozenset[str]]()

# With the environment of `make setup` a missing rclpy is a fault, and shows as one.
ROS_TESTS = ['ros', 'conformance', 'benchmarks/test_faults.py']
collect_ignore = [] if HAS_ROS or 'BBLLM_ROS' in os.environ else ROS_TESTS


def pytest_report_header() -> list[str]:
    """Say what is left out, and why."""
    if collect_ignore:
        return [f'rclpy is not installed here: {ROS_TESTS} are left out (make test has them)']
    return []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which nothing would be played, as some of them import for seconds."""
    if 'not slow' not in config.option.markexpr or collection_path.suffix != '.py':
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    return True if name in left_out_files(entries()) else None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves out; mix files that wait for nodes with those that compute."""
    config.stash[COLLECTED] = frozenset(item.nodeid for item in items)
    sampled = entries()
    for item in items:
        if is_left_out(item.nodeid, sampled):
            item.add_marker(pytest.mark.slow)
    places = {}
    for waits in (True, False):
        files = list(
            dict.fromkeys(x.path for x in items if bool(x.get_closest_marker('ros')) is waits)
        )
        # With several workers none is left alone with the longest file in the end.
        files.sort(key=lambda path: path.name != 'test_readme.py')
        places |= {path: i / len(files) for i, path in enumerate(files)}
    items.sort(key=lambda item: places[item.path])


@pytest.fixture(scope='session')
def collected(pytestconfig: pytest.Config) -> frozenset[str]:
    """Return the ids of all tests, also of those that are not played in this run."""
    return pytestconfig.stash[COLLECTED]


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


@pytest.fixture(scope='session')
def original_household() -> None:
    """Skip a test that runs VirtualHome beside ours where that is not here, or fail it."""
    why = why_not_here()
    if why and 'virtualhome' in os.environ.get(REQUIRED, '').split(','):
        pytest.fail(
            f'{why}. ${REQUIRED} asks for it, as in .ci/run: without it nothing proves that the '
            'household agrees with VirtualHome. Unset the variable to skip this test.',
            pytrace=False,
        )
    if why:
        pytest.skip(why)


@pytest.fixture(scope='module')
def ros_domain() -> Iterator[int]:
    """Take a domain of one's own, for this process and those that it starts."""
    with own_domain() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv('ROS_DOMAIN_ID', str(domain))
        for name, value in bounded(os.environ).items():
            patch.setenv(name, value)
        yield domain


@pytest.fixture
def empty_domain() -> Iterator[int]:
    """Take one more domain, in which nothing runs; the environment stays as it is."""
    with own_domain() as domain:
        yield domain
