"""Real processes, each module on a ROS domain that no other test run on this machine uses."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The helpers of these tests, and the server that plays a language model.
for folder in (Path(__file__).parent, Path(__file__).parent.parent / 'llm'):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from stacks import Running, last_words, started  # noqa: E402  # found only now

# How long an example takes depends on what else the machine does.
settings.register_profile('patient', deadline=None)
settings.load_profile('patient')


@pytest.fixture(scope='module')
def running(ros_domain: int) -> Iterator[Running]:
    """Start the whole stack, as fast as it can simulate."""
    with started() as stack:
        yield stack


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the nodes have printed: it is gone with the machine of CI."""
    report = yield
    if report.failed:
        report.sections += [(f'printed by {node}', words) for node, words in last_words()]
    return report
