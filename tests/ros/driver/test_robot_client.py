"""Recoveries of a driver that does not answer everything, over DDS."""

import threading
from typing import Any

import pytest
from bbllm_interfaces.srv import InjectFault, ResetSim
from rclpy.client import Client
from rclpy.task import Future

from bbllm.arm.driver import RobotMode
from bbllm.arm.stop_causes import StopCause
from bbllm_ros.driver import ros_driver
from bbllm_ros.driver.activity_feed import ActivityFeed
from bbllm_ros.driver.ros_driver import RosDriver
from tests.ros.drivers import driver_of, recover
from tests.ros.stacks import PATIENCE_S, Running

pytestmark = pytest.mark.ros


@pytest.fixture
def driver(sim: Running, monkeypatch: pytest.MonkeyPatch) -> RosDriver:
    # ros2_control does not tell by itself that an error took everything down; mujoco_sim does.
    monkeypatch.setattr(ActivityFeed, '_take_activity', lambda feed, msg: False)
    assert sim.ask(InjectFault, 'sim/inject_fault', clear=True).success
    assert sim.ask(ResetSim, 'sim/reset').success
    driver = driver_of(sim)
    assert driver.feed.activity.wait_for_answer(PATIENCE_S)
    if not driver.condition().able:
        recover(driver, lambda: True)
    return driver


class Mute:
    """Loses all answers of one service until it is let speak."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, service: str):
        self.silent = threading.Event()
        self.silent.set()
        call = Client.call_async

        def lose(client: Client, request: Any) -> Future:
            lost = self.silent.is_set() and client.srv_name.endswith(service)
            return Future() if lost else call(client, request)

        monkeypatch.setattr(Client, 'call_async', lose)


def stop_unseen(sim: Running) -> None:
    assert sim.ask(InjectFault, 'sim/inject_fault', fault='user_stop').success
    assert sim.ask(InjectFault, 'sim/inject_fault', fault='user_stop', clear=True).success


def test_person_is_asked_where_it_is_unknown_whether_a_stop_took_the_hardware_down(
    sim: Running, driver: RosDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ros_driver, 'MANAGER_S', 2.0)
    mute = Mute(monkeypatch, 'list_hardware_components')
    stop_unseen(sim)
    assert not driver.condition(PATIENCE_S).able
    assert not driver.condition().hardware_active
    monkeypatch.setattr(
        driver, 'clear_errors', lambda: (mute.silent.clear(), RosDriver.clear_errors(driver))
    )
    modes: list[RobotMode | None] = []

    def allow() -> bool:
        modes.append(driver.condition().mode)
        return True

    stop = recover(driver, allow)

    assert (stop.cause, stop.asked) == (StopCause.USER_STOP, True)
    assert modes == [RobotMode.IDLE]  # so the robot itself no longer told of it
    assert driver.condition().able


def test_robot_whose_driver_finds_its_clients_late_is_recovered_at_the_first_try(
    sim: Running, driver: RosDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_made = driver._manager._client
    call = Client.call_async
    overheard = ['once', 'twice']

    def lose(client: Client, request: Any) -> Future:
        """Have it done, and throw the answer away as long as it has not found the last client."""
        is_feed = 'list' in client.srv_name and client is not last_made
        if not overheard or is_feed:
            return call(client, request)
        if client is last_made:
            overheard.pop()
        call(client, request)
        return Future()

    assert sim.ask(InjectFault, 'sim/inject_fault', fault='reflex').success
    monkeypatch.setattr(Client, 'call_async', lose)
    assert not driver.condition(PATIENCE_S).able

    stop = recover(driver)

    assert (stop.cause, stop.asked) == (StopCause.REFLEX, False)
    assert not overheard
    assert driver.condition().able
