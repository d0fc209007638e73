"""A server of franka-sim and a driver that is connected to it."""

import importlib.util
import os
from collections.abc import Iterator

import pytest

from bbllm.core.errors import ConfigError
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.messages import IGNORE
from bbllm_franka.simulated_server import FrankaSim, franka_sim, interpreter

OBJECT_M = 0.04
"""Width of what is always between the fingers [m]."""
PATIENCE_S = 0.05
"""
How long the server waits for an answer [s], so that tests do not depend on the load. After 20 that
do not come it ends the motion: before the 2 s after which a node without joint states has gone.
`bbllm bench driver --fci franka-sim` runs in real time.
"""


@pytest.fixture(scope='module')
def server() -> Iterator[FrankaSim]:
    """Serve an arm to the tests of a module alone."""
    for module in ('franky', 'pylibfranka'):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: make extras')
    try:
        interpreter()
    except ConfigError as error:
        pytest.skip(str(error))
    high, low = divmod(os.getpid() % 65024, 254)
    address = f'127.7.{high}.{low + 1}'
    with franka_sim(address, object_width_m=OBJECT_M, patience_s=PATIENCE_S) as server:
        yield server


@pytest.fixture(scope='module')
def address(server: FrankaSim) -> str:
    return server.address


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
