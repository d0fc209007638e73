"""One client of one driver for all checks. The robot is made to stop three times in all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from franka_driver_conformance.client import DriverClient, NoDriverError
from franka_driver_conformance.motions import Arm
from franka_driver_conformance.plugin import allows_motion, ask, check_name, need_alone
from franka_driver_conformance.recording import Recording
from franka_driver_conformance.stop_scenario import (
    Cause,
    PersonProvoker,
    Provoker,
    SimProvoker,
    SocketProvoker,
    StopScenario,
    stop_while_idle,
    stop_while_moving,
)

FIND_S = 5.0


@pytest.fixture(scope='session')
def driver(pytestconfig: pytest.Config) -> Iterator[DriverClient]:
    """Connect to the driver; before anything moves, look for other commanders and ask."""
    option = pytestconfig.option
    recording = Recording(Path(option.record_messages) if option.record_messages else None)
    client = DriverClient(
        option.robot_namespace,
        controller=option.robot_controller,
        gripper='' if option.robot_gripper == 'none' else option.robot_gripper,
        recording=recording,
        patience_s=option.patience,
    )
    try:
        client.await_driver(option.await_driver)
        if allows_motion(pytestconfig):
            need_alone(client, FIND_S)
            ask(pytestconfig)
            client.prepare_goals()
        yield client
    except NoDriverError as error:
        pytest.exit(str(error), returncode=1)
    finally:
        client.close()
        recording.close()


@pytest.fixture(autouse=True)
def _current_check(request: pytest.FixtureRequest, driver: DriverClient) -> None:
    """Name the check in the recording; before it moves something, look for other commanders."""
    driver.recording.check = check_name(request.node)
    if allows_motion(request.config):
        need_alone(driver)


@pytest.fixture(scope='session')
def arm(driver: DriverClient) -> Arm:
    return Arm(driver)


@pytest.fixture(scope='session')
def provoker(pytestconfig: pytest.Config, driver: DriverClient) -> Provoker:
    if pytestconfig.option.provoke == 'sim':
        return SimProvoker(driver)
    if pytestconfig.option.provoke == 'socket':
        return SocketProvoker(pytestconfig.option.provoke_socket, pytestconfig.option.patience)
    return PersonProvoker(lambda text: ask(pytestconfig, text))


@pytest.fixture(scope='session')
def reflex(arm: Arm, provoker: Provoker) -> StopScenario:
    return stop_while_moving(arm, provoker, Cause.REFLEX)


@pytest.fixture(scope='session')
def user_stop(arm: Arm, provoker: Provoker) -> StopScenario:
    return stop_while_moving(arm, provoker, Cause.USER_STOP)


@pytest.fixture(scope='session')
def idle_user_stop(arm: Arm, provoker: Provoker) -> StopScenario:
    return stop_while_idle(arm, provoker, Cause.USER_STOP)
