"""Real processes, each module on a ROS domain that no other test run on this machine uses."""

from __future__ import annotations

import fcntl
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The helpers of these tests, and the server that plays a language model.
for folder in (Path(__file__).parent, Path(__file__).parent.parent / 'llm'):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from stacks import Running, started  # noqa: E402  # found only now

DOMAINS = range(1, 100)
# How long an example takes depends on what else the machine does.
settings.register_profile('patient', deadline=None)
settings.load_profile('patient')


@pytest.fixture(scope='module')
def ros_domain() -> Iterator[int]:
    """Take a domain of one's own, for this process and those that it starts."""
    for domain in DOMAINS:
        lock = (Path(tempfile.gettempdir()) / f'bbllm-test-domain-{domain}.lock').open('w')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        with lock, pytest.MonkeyPatch.context() as patch:
            patch.setenv('ROS_DOMAIN_ID', str(domain))
            patch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
            yield domain
        return
    pytest.fail('all ROS domains are in use by other test runs')


@pytest.fixture(scope='module')
def running(ros_domain: int) -> Iterator[Running]:
    """Start the whole stack, as fast as it can simulate."""
    with started() as stack:
        yield stack
