import numpy as np
import pytest

from bbllm.arm.motion.trajectory import joint_move
from bbllm.robots.fr3 import FR3
from bbllm.robots.joint_limits import Q_MARGIN_RAD
from bbllm_bench.benchmarks.arm.time_bound import time_optimal_bound

FIRST = np.eye(7)[0]


def test_a_short_move_takes_two_ramps() -> None:
    bound = time_optimal_bound([FR3.home_rad, FR3.home_rad + 0.1 * FIRST])

    assert bound == pytest.approx(2 * np.sqrt(0.1 / 10.0), rel=1e-3)


def test_a_long_move_takes_its_way_at_full_speed_and_one_ramp() -> None:
    start = FR3.home_rad - 1.5 * FIRST
    bound = time_optimal_bound([start, start + 3.0 * FIRST])

    # The velocity limit of joint 1 begins to fall 0.9 rad before the stop at 2.75.
    assert bound == pytest.approx(3.0 / 2.62 + 2.62 / 10.0, rel=2e-3)


def test_passing_a_point_on_the_way_costs_nothing_but_stopping_there_does() -> None:
    points = [FR3.home_rad, FR3.home_rad + 0.2 * FIRST, FR3.home_rad + 0.4 * FIRST]

    passing = time_optimal_bound(points, stops=())
    assert passing == pytest.approx(time_optimal_bound([points[0], points[2]]))
    assert time_optimal_bound(points) > 1.3 * passing
    assert time_optimal_bound(points, stops=[1]) == time_optimal_bound(points)


def test_no_planned_move_beats_the_bound_and_most_come_near() -> None:
    random = np.random.default_rng(6)
    ratios = []
    for _ in range(40):
        start, goal = random.uniform(
            FR3.limits.lower_rad + Q_MARGIN_RAD, FR3.limits.upper_rad - Q_MARGIN_RAD, size=(2, 7)
        )
        ratios.append(joint_move(FR3, start, goal).duration_s / time_optimal_bound([start, goal]))

    assert min(ratios) > 1.0
    assert np.median(ratios) < 1.15
