"""The readings of what pulls at the hand, and who hears of them."""

import threading

import numpy as np
import pytest

from bbllm.arm.force_estimator import ForceEstimator


def test_a_pull_is_the_mean_of_the_last_twenty_milliseconds() -> None:
    meter = ForceEstimator()
    assert meter.mean_n() is None
    assert not meter.known
    for i in range(100):
        meter.add(float(i), 5.0 + 0.001 * i)
    assert meter.known
    assert meter.mean_n() == pytest.approx(np.mean(range(80, 100)), abs=0.51)
    assert meter.wait_until(5.05, 0.0)
    assert not meter.wait_until(5.2, 0.0)


def test_a_clock_that_begins_anew_forgets_the_readings_of_before() -> None:
    meter = ForceEstimator()
    meter.add(100.0, 5.0)
    meter.add(1.0, 0.1)
    assert meter.mean_n() == 1.0


def test_what_was_measured_before_a_time_does_not_count_where_that_is_asked_for() -> None:
    meter = ForceEstimator()
    for i in range(10):
        meter.add(float(i), 1.0 + 0.001 * i)
    assert meter.mean_n() == pytest.approx(4.5)
    assert meter.mean_n(since_s=1.0075) == pytest.approx(8.5)
    assert meter.mean_n(since_s=2.0) is None


def test_a_listener_that_is_done_is_not_called_until_the_next_one_is_set() -> None:
    meter = ForceEstimator()
    readings: list[float | None] = []

    def on_reading() -> bool:
        readings.append(meter.mean_n())
        return readings[-1] == 2.0

    for _ in range(2):
        with meter.watched_by(on_reading):
            for i in range(1, 5):
                meter.add(float(i), 0.1 * i)
    assert readings == [1.0, 2.0] * 2


def test_a_call_that_is_under_way_is_waited_for_before_nobody_listens_any_more() -> None:
    meter = ForceEstimator()
    called, may_go_on = threading.Event(), threading.Event()
    answer: list[str] = []

    def on_reading() -> bool:
        called.set()
        may_go_on.wait(60.0)
        answer.append('heard')
        return False

    reading = threading.Thread(target=meter.add, args=(1.0, 0.1))

    def listen() -> None:
        with meter.watched_by(on_reading):
            reading.start()
            called.wait(60.0)
            threading.Timer(0.1, may_go_on.set).start()
        answer.append('over')

    listen()
    reading.join()

    assert answer == ['heard', 'over']
