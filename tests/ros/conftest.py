"""Real processes, each module on a ROS domain that no other test run on this machine uses."""

from collections.abc import Generator, Iterator

import numpy as np
import pytest
from bbllm_interfaces.srv import InjectFault, ResetSim

from bbllm.robots.fr3 import FR3
from bbllm_ros.driver.ros_driver import RosDriver
from tests.ros.drivers import driver_of, recover
from tests.ros.stacks import PATIENCE_S, Running, last_words, started, until


@pytest.fixture(scope='module')
def running(ros_domain: int) -> Iterator[Running]:
    """Start the whole stack, as fast as it can simulate."""
    with started() as stack:
        yield stack


@pytest.fixture(scope='module')
def sim(ros_domain: int) -> Iterator[Running]:
    """Start `mujoco_sim` alone, in real time."""
    with started(('mujoco_sim',), speed=1.0) as running:
        yield running


@pytest.fixture(scope='module')
def shared_driver(sim: Running) -> RosDriver:
    return driver_of(sim)


@pytest.fixture
def driver(sim: Running, shared_driver: RosDriver) -> RosDriver:
    assert sim.ask(InjectFault, 'sim/inject_fault', clear=True).success
    assert sim.ask(ResetSim, 'sim/reset').success
    shared_driver.wait_fresh(PATIENCE_S)
    if not shared_driver.condition().able:
        recover(shared_driver)
    until(
        lambda: np.allclose(shared_driver.joint_state().position_rad, FR3.home_rad, atol=0.01),
        'start',
    )
    shared_driver.begin()
    return shared_driver


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the nodes have printed: it is gone with the machine of CI."""
    report = yield
    if report.failed:
        report.sections += [(f'printed by {node}', words) for node, words in last_words()]
    return report
