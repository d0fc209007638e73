"""A server of franka-sim and a driver that is connected to it."""

import importlib.util
import os
from collections.abc import Iterator

import pytest

from bbllm.core.errors import ConfigError
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.messages import IGNORE
from bbllm_franka.simulated_server import franka_sim, interpreter

OBJECT_M = 0.04
"""Width of what is always between the fingers [m]."""


@pytest.fixture(scope='module')
def address() -> Iterator[str]:
    """Return the address of a server of this module alone."""
    for module in ('franky', 'pylibfranka'):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: make extras')
    try:
        interpreter()
    except ConfigError as error:
        pytest.skip(str(error))
    high, low = divmod(os.getpid() % 65024, 254)
    address = f'127.7.{high}.{low + 1}'
    with franka_sim(address, object_width_m=OBJECT_M):
        yield address


@pytest.fixture(scope='module')
def connected(address: str) -> Iterator[FrankaDriver]:
    driver = FrankaDriver(address, realtime=IGNORE)
    yield driver
    driver.close()


@pytest.fixture
def driver(connected: FrankaDriver) -> FrankaDriver:
    """Return the driver of this module, without what another test may have left."""
    if not connected.condition().able:
        connected.clear_errors()
    return connected
