"""Goals that take too long, on a clock that the test sets."""

from collections.abc import Callable
from typing import Any

import pytest

from bbllm_ros.driver import ros_driver
from bbllm_ros.driver.ros_driver import GoalWatch

pytestmark = pytest.mark.ros


class Driver:
    def __init__(self) -> None:
        self.stopped = False
        self.cancels = 0
        self.now_s = 100.0

    def check(self) -> None:
        """The driver lives."""

    def cancel(self) -> None:
        self.cancels += 1

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setattr(ros_driver, 'time', driver)
    return driver


def watch_of(driver: Any, may_cut: Callable[[], bool] | None = None) -> GoalWatch:
    return GoalWatch(driver, driver, 10.0, driver.monotonic, may_cut=may_cut)


def test_a_goal_that_is_late_is_cancelled_once_and_left_when_that_is_in_vain(
    driver: Driver,
) -> None:
    watch = watch_of(driver)
    driver.now_s += 9.9
    watch()
    assert (watch.late, driver.cancels) == (False, 0)

    driver.now_s += 0.2
    watch()
    watch()
    assert (watch.late, driver.cancels) == (True, 1)

    driver.now_s += ros_driver.CANCEL_S + 0.1
    with pytest.raises(TimeoutError):
        watch()


def test_a_goal_of_the_hand_is_cancelled_once_when_the_robot_stops_and_left_in_the_end(
    driver: Driver,
) -> None:
    watch = watch_of(driver, lambda: True)
    watch()
    assert driver.cancels == 0
    driver.stopped = True

    watch()
    watch()

    assert (driver.cancels, watch.late) == (1, False)
    driver.now_s += ros_driver.CANCEL_S + 0.1
    with pytest.raises(TimeoutError):
        watch()


def test_a_hand_that_may_hold_something_goes_on_until_it_may_be_cut(driver: Driver) -> None:
    may_cut = False
    watch = watch_of(driver, lambda: may_cut)
    driver.stopped = True
    watch()
    driver.now_s += ros_driver.CANCEL_S + 0.1
    watch()
    assert driver.cancels == 0
    may_cut = True

    watch()

    assert driver.cancels == 1
