"""The way between the points of a trajectory, as the joint trajectory controller samples it."""

from __future__ import annotations

import numpy as np
import pytest
from trajectory_goals import END, START, STILL, ZEROS, goal

from bbllm.sim.controllers.trajectory import TrajectoryController


def test_positions_alone_are_joined_by_straight_lines() -> None:
    controller = TrajectoryController(START)
    controller.start(goal(velocity_rad_s=(), acceleration_rad_s2=()), 0.0, START, STILL)
    q, dq, ddq = controller.sample(np.array([0.5, 1.5]))
    assert q[0] == pytest.approx(START + 0.25 * (END - START))
    assert dq[1] == pytest.approx((END - START) / 2)
    assert np.all(ddq == 0)


def test_positions_and_velocities_are_joined_by_cubics() -> None:
    controller = TrajectoryController(START)
    controller.start(goal(acceleration_rad_s2=()), 0.0, START, STILL)
    q, dq, _ = controller.sample(np.array([0.5]))
    assert q[0] == pytest.approx(START + (END - START) * (3 * 0.25**2 - 2 * 0.25**3))
    assert dq[0] == pytest.approx((END - START) * (6 * 0.25 - 6 * 0.25**2) / 2)


def test_points_with_all_derivatives_are_joined_by_quintics() -> None:
    controller = TrajectoryController(START)
    points = goal(
        time_s=(0.0, 2.0),
        position_rad=(tuple(START), tuple(END)),
        velocity_rad_s=(ZEROS, ZEROS),
        acceleration_rad_s2=(ZEROS, ZEROS),
    )
    controller.start(points, 0.0, START, STILL)
    x = 0.3
    q, dq, ddq = controller.sample(np.array([2 * x]))
    way = END - START
    assert q[0] == pytest.approx(START + way * (10 * x**3 - 15 * x**4 + 6 * x**5))
    assert dq[0] == pytest.approx(way * (30 * x**2 - 60 * x**3 + 30 * x**4) / 2)
    assert ddq[0] == pytest.approx(way * (60 * x - 180 * x**2 + 120 * x**3) / 4)


def test_the_splines_pass_through_points_with_their_derivatives() -> None:
    rng = np.random.default_rng(3)
    position, velocity, acceleration = rng.normal(size=(3, 4, 7))
    velocity[-1] = acceleration[-1] = 0.0
    times = np.array([0.0, 0.3, 1.0, 1.2])
    controller = TrajectoryController(START)
    controller.start(
        goal(
            time_s=tuple(times),
            position_rad=tuple(map(tuple, position)),
            velocity_rad_s=tuple(map(tuple, velocity)),
            acceleration_rad_s2=tuple(map(tuple, acceleration)),
        ),
        5.0,
        START,
        STILL,
    )
    for shift in (-1e-9, 1e-9):
        q, dq, ddq = controller.sample(5.0 + times[1:3] + shift)
        assert q == pytest.approx(position[1:3], abs=1e-6)
        assert dq == pytest.approx(velocity[1:3], abs=1e-5)
        assert ddq == pytest.approx(acceleration[1:3], abs=1e-3)


def test_one_sample_equals_the_same_of_many() -> None:
    controller = TrajectoryController(START)
    controller.start(goal(), 0.0, START, STILL)
    times = np.linspace(0, 2.5, 11)
    many = controller.sample(times)
    for i, now_s in enumerate(times):
        one = controller.update(float(now_s), many[0][i], np.full(7, 1.0))
        assert one.position_rad == pytest.approx(many[0][i])
        assert one.velocity_rad_s == pytest.approx(many[1][i])
        assert one.acceleration_rad_s2 == pytest.approx(many[2][i])


def test_points_with_and_without_velocities_may_follow_each_other() -> None:
    controller = TrajectoryController(START)
    mixed = goal(
        time_s=(1.0, 2.0, 3.0),
        position_rad=(tuple(END), tuple(START), tuple(END)),
        velocity_rad_s=(ZEROS, (), ZEROS),
        acceleration_rad_s2=(),
    )
    controller.start(mixed, 0.0, START, STILL)

    q, dq, _ = controller.sample(np.array([0.5, 1.5, 2.5]))

    assert dq[0] == pytest.approx((END - START) * 1.5)  # a cubic's peak, from rest to rest
    assert dq[1] == pytest.approx(START - END)  # a straight line
    assert dq[2] == pytest.approx(END - START)
    assert q[1] == pytest.approx((START + END) / 2)


def test_a_motion_towards_an_accelerated_first_point_starts_without_acceleration() -> None:
    controller = TrajectoryController(START)
    controller.start(goal(), 0.0, START, np.full(7, 0.3))

    q, dq, ddq = controller.sample(np.array([0.0]))

    assert (q[0], dq[0], ddq[0]) == (
        pytest.approx(START),
        pytest.approx(np.full(7, 0.3)),
        pytest.approx(STILL),
    )


def test_a_goal_that_began_in_the_past_is_joined_where_it_is_by_now() -> None:
    controller = TrajectoryController(START)
    late = goal(
        time_s=(0.0, 2.0),
        position_rad=(tuple(START), tuple(END)),
        velocity_rad_s=(),
        acceleration_rad_s2=(),
        start_s=9.0,
    )
    controller.start(late, 10.0, START, STILL)
    assert controller.update(10.0, START, STILL).position_rad == pytest.approx((START + END) / 2)


def test_efforts_are_added_between_the_points_that_give_them() -> None:
    controller = TrajectoryController(START)
    pushed = goal(
        time_s=(0.0, 2.0),
        position_rad=(tuple(START), tuple(START)),
        velocity_rad_s=(),
        acceleration_rad_s2=(),
        effort_nm=((0.0,) * 7, (4.0,) * 7),
    )
    assert not controller.start(pushed, 0.0, START, STILL).done

    assert controller.effort(np.array([0.5])) == pytest.approx(np.full((1, 7), 1.0))
