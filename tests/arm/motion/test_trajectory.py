import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.arm.driver import JointTrajectory
from bbllm.arm.motion.cartesian_path import cubic
from bbllm.arm.motion.trajectory import (
    NoPathError,
    Spline,
    amended,
    backwards,
    blend,
    concatenate,
    hastened_blend,
    joint_move,
    sample,
    spline_of,
    time_optimal,
    waypoint_move,
)
from bbllm.robots.fr3 import FR3
from bbllm.robots.joint_limits import Q_MARGIN_RAD
from bbllm_bench.safety.limit_audit import audit
from tests.drawn import examples

LOW, HIGH = FR3.limits.lower_rad + Q_MARGIN_RAD, FR3.limits.upper_rad - Q_MARGIN_RAD
shares = st.lists(st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0), min_size=7, max_size=7)


def posture(share: list[float]) -> np.ndarray:
    return LOW + np.array(share) * (HIGH - LOW)


def assert_rest_to_rest(move: JointTrajectory, start: np.ndarray, goal: np.ndarray) -> None:
    assert move.time_s[0] == 0.0
    assert (np.diff(move.time_s) > 0).all()
    np.testing.assert_allclose(move.position_rad[0], start, atol=1e-12)
    np.testing.assert_allclose(move.position_rad[-1], goal, atol=1e-9)
    for rows in (move.velocity_rad_s, move.acceleration_rad_s2):
        assert (rows[[0, -1]] == 0.0).all()


@examples(40)
@given(shares, shares, st.sampled_from([0.1, 0.5, 0.8, 1.0]))
def test_any_joint_move_is_legal_and_ends_at_rest_at_its_goal(
    start: list[float], goal: list[float], scale: float
) -> None:
    move = joint_move(FR3, posture(start), posture(goal), scale=scale)

    assert_rest_to_rest(move, posture(start), posture(goal))
    assert audit(move).violations == 0


@pytest.mark.parametrize('goal', [FR3.home_rad + 0.4, np.where(FR3.home_rad < 0.5, LOW, HIGH)])
def test_a_joint_move_is_straight_and_its_message_sparse(goal: np.ndarray) -> None:
    start = FR3.home_rad - 0.3
    move = joint_move(FR3, start, goal)
    position = sample(move, np.linspace(0, move.duration_s, 300))[0]

    share = (position - start) @ (goal - start) / ((goal - start) @ (goal - start))
    np.testing.assert_allclose(position, start + share[:, None] * (goal - start), atol=1e-9)
    assert (np.diff(share) >= -1e-12).all()
    assert len(move.time_s) <= 10 + move.duration_s / 0.02


def test_controller_interpolation_of_a_free_move_has_constant_jerk_between_knots() -> None:
    """That is: the quintic between knots is the planned cubic, so nothing is approximated."""
    move = joint_move(FR3, FR3.home_rad, FR3.home_rad + 0.4)
    for begin, end in zip(move.time_s, move.time_s[1:], strict=False):
        inside = np.linspace(begin + 1e-9, end - 1e-9, 9)
        acceleration = sample(move, inside)[2]
        bend = np.diff(acceleration, n=2, axis=0)
        assert np.abs(bend).max() < 1e-6
    assert np.diff(move.time_s).min() > 1e-4


def test_a_free_move_takes_the_time_that_its_limits_allow() -> None:
    way = 0.5
    move = joint_move(FR3, FR3.home_rad, FR3.home_rad + way * np.eye(7)[0])

    acceleration, jerk = FR3.limits.acceleration_rad_s2[0], FR3.limits.jerk_rad_s3[0] / 5
    fastest = (
        2 * np.sqrt(way / acceleration + (acceleration / jerk / 2) ** 2) + acceleration / jerk
    )
    assert move.duration_s == pytest.approx(fastest, rel=0.005)


@examples(40)
@given(shares, shares, st.sampled_from([0.2, 0.5, 0.8]))
def test_the_share_holds_for_the_velocity_limits_near_the_stops_too(
    start: list[float], goal: list[float], scale: float
) -> None:
    move = joint_move(FR3, posture(start), posture(goal), scale=scale)

    position, velocity, acceleration = sample(move, np.arange(0.0, move.duration_s, 0.001))
    lower, upper = FR3.limits.velocity_limits(position)
    legal = np.where(velocity > 0, upper, -lower)
    assert (np.abs(velocity) <= scale * legal + 1e-9).all()
    assert (np.abs(acceleration) <= 1.001 * scale * FR3.limits.acceleration_rad_s2).all()


def test_a_curved_path_is_played_exactly_and_with_a_joint_at_its_limit_almost_all_the_time() -> (
    None
):
    angle = np.linspace(0.0, 2.0, 30)
    points = np.tile(FR3.home_rad, (30, 1))
    points[:, 0] += 0.4 * np.sin(angle)
    points[:, 3] += 0.4 * np.cos(angle)
    move = time_optimal(FR3, cubic(points))

    time_s = np.arange(0.0, move.duration_s, 0.001)
    position, _, acceleration = sample(move, time_s)
    off = np.hypot(position[:, 0] - FR3.home_rad[0], position[:, 3] - FR3.home_rad[3]) - 0.4
    assert np.abs(off).max() < 1e-5
    assert audit(move).violations == 0
    used = (np.abs(acceleration) / FR3.limits.acceleration_rad_s2).max(axis=1)
    assert (used > 0.9).mean() > 0.75


def test_near_a_stop_the_move_is_slower_than_with_constant_limits_but_not_by_much() -> None:
    goal = FR3.home_rad.copy()
    goal[1] = HIGH[1]
    move = joint_move(FR3, FR3.home_rad, goal)

    speed, acceleration = 2.62, 10.0
    constant = (goal[1] - FR3.home_rad[1]) / speed + speed / acceleration
    assert constant < move.duration_s < 2.0 * constant
    assert audit(move).worst > 0.97  # it uses what is legal


def test_a_goal_outside_the_limits_is_refused_with_the_joint_and_its_range() -> None:
    goal = FR3.home_rad.copy()
    goal[3] = 0.5
    with pytest.raises(
        NoPathError, match=r'Joint 4 .* 0\.500 rad; it can from -3\.042 to -0\.152'
    ):
        joint_move(FR3, FR3.home_rad, goal)


def test_a_move_back_is_legal_where_only_that_direction_is_slow() -> None:
    stop = FR3.home_rad.copy()
    stop[1] = HIGH[1]
    away = joint_move(FR3, stop, FR3.home_rad)
    back = backwards(FR3, away)

    assert_rest_to_rest(back, FR3.home_rad, stop)
    assert audit(back).violations == 0


def test_concatenated_moves_follow_each_other() -> None:
    a, b, c = FR3.home_rad, FR3.home_rad + 0.2, FR3.home_rad - 0.1
    first, second = joint_move(FR3, a, b), joint_move(FR3, b, c)
    both = concatenate(first, second)

    assert_rest_to_rest(both, a, c)
    assert both.duration_s == pytest.approx(first.duration_s + second.duration_s)
    np.testing.assert_allclose(sample(both, np.array([first.duration_s]))[0][0], b, atol=1e-9)
    assert audit(both).violations == 0


@examples(25)
@given(shares, shares, shares, st.sampled_from([0.5, 1.0]))
def test_blended_moves_are_legal_and_never_slower(
    a: list[float], b: list[float], c: list[float], scale: float
) -> None:
    first = joint_move(FR3, posture(a), posture(b), scale=scale)
    second = joint_move(FR3, posture(b), posture(c), scale=scale)
    both, saved_s = blend(FR3, first, second, scale=scale)

    assert saved_s >= 0
    assert both.duration_s == pytest.approx(first.duration_s + second.duration_s - saved_s)
    assert_rest_to_rest(both, posture(a), posture(c))
    assert audit(both).violations == 0


def test_moves_of_different_joints_overlap() -> None:
    a = FR3.home_rad
    b = a + 0.6 * np.eye(7)[0]
    c = b + 0.6 * np.eye(7)[3]

    stopping = concatenate(joint_move(FR3, a, b), joint_move(FR3, b, c))
    passing = waypoint_move(FR3, [a, b, c])

    assert passing.duration_s < 0.75 * stopping.duration_s
    assert audit(passing).violations == 0


def test_an_amended_motion_is_the_same_before_and_shifted_as_a_whole_after() -> None:
    move = joint_move(FR3, FR3.home_rad, FR3.home_rad + 0.8, scale=0.8)
    start_s, end_s = 0.4 * move.duration_s, 0.7 * move.duration_s
    shift = np.linspace(-0.004, 0.004, 7)

    both = amended(move, shift, start_s, end_s)

    assert audit(both).violations == 0
    assert_rest_to_rest(both, FR3.home_rad, FR3.home_rad + 0.8 + shift)
    assert both.duration_s == pytest.approx(move.duration_s)
    for times, off in (((0.0, start_s), 0.0), ((end_s, move.duration_s), shift)):
        time_s = np.linspace(*times, 100)
        for order, expected in enumerate((off, 0.0, 0.0)):
            difference = sample(both, time_s)[order] - sample(move, time_s)[order]
            np.testing.assert_allclose(difference - expected, 0.0, atol=1e-7)


def test_positions_alone_are_those_of_the_whole_state() -> None:
    move = joint_move(
        FR3, FR3.home_rad, FR3.home_rad + np.array([0.4, 0.1, -0.3, 0.2, 0.0, 0.3, 0.9])
    )
    time_s = np.linspace(-0.1, move.duration_s + 0.1, 200)
    spline = spline_of(move)

    np.testing.assert_array_equal(spline.positions_at(time_s), spline.at(time_s)[0])
    still = Spline.still(FR3.home_rad)
    np.testing.assert_array_equal(still.positions_at(time_s), still.at(time_s)[0])


@pytest.mark.parametrize('hasten', [False, True])
def test_a_motion_that_is_not_hastened_stays_itself_until_the_next_one_begins(
    hasten: bool,
) -> None:
    random, stayed = np.random.default_rng(9), 0
    for _ in range(20):
        middle = FR3.home_rad + random.uniform(-0.4, 0.4, 7)
        first = joint_move(FR3, FR3.home_rad, middle, scale=0.8)
        second = joint_move(FR3, middle, middle + random.uniform(-0.2, 0.2, 7), scale=0.8)
        early, both, saved_s = hastened_blend(FR3, first, second, scale=0.8, hasten=hasten)
        if early is not first:
            assert hasten
            continue
        stayed += 1
        time_s = np.linspace(0.0, first.duration_s - saved_s, 100)
        np.testing.assert_allclose(sample(both, time_s)[0], sample(first, time_s)[0], atol=1e-8)
    assert stayed > 0
