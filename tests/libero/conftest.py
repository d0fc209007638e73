"""The benchmark itself, where `make libero` has installed it."""

from collections.abc import Iterator

import pytest

from bbllm.core.errors import ConfigError
from bbllm_libero.client import Worker


@pytest.fixture(scope='module')
def worker() -> Iterator[Worker]:
    """Return its process; skips the test, with the reason, where it is not installed."""
    try:
        started = Worker()
    except ConfigError as error:
        pytest.skip(str(error))
    with started:
        yield started
