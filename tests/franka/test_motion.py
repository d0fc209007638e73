"""The rows that the robot is sent have no steps, whatever a goal begins with."""

import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.trajectory import joint_move
from bbllm.robots.fr3 import FR3
from bbllm_franka.motion import LEAD, TICK_S, TimedMotion

WAY = np.array([0.4, 0.1, -0.2, -0.2, 0.3, 0.2, 0.3])


def worst(rows: Array) -> tuple[float, float]:
    """Return the largest shares of the limits of acceleration and jerk, by differences."""
    acceleration = np.diff(rows, n=2, axis=0) / TICK_S**2
    jerk = np.diff(rows, n=3, axis=0) / TICK_S**3
    shares = (
        np.abs(acceleration).max(axis=0) / FR3.limits.acceleration_rad_s2,
        np.abs(jerk).max(axis=0) / FR3.limits.jerk_rad_s3,
    )
    return float(shares[0].max()), float(shares[1].max())


def padded(motion: TimedMotion) -> Array:
    """Return the rows with the rest before and after them."""
    rows = np.array(motion.rows)
    return np.vstack([np.tile(rows[0], (4, 1)), rows, np.tile(rows[-1], (4, 1))])


@pytest.mark.parametrize('row', [1, 150, 400, 10_000])
@pytest.mark.parametrize('to', [WAY, -WAY, np.zeros(7)])
def test_a_trajectory_is_joined_without_a_step(row: int, to: Array) -> None:
    start = FR3.home_rad
    motion = TimedMotion(FR3, start, joint_move(FR3, start, start + WAY, scale=0.5))
    here = np.array(motion.rows[min(row, motion.last)])
    trajectory = joint_move(FR3, here, start + to, scale=0.5)

    begin = motion.join_after(row, trajectory)

    assert begin >= row + LEAD
    assert motion.rows[-1] == pytest.approx((start + to).tolist())
    assert max(worst(padded(motion))) <= 1.001


def test_an_arm_at_rest_begins_with_an_acceleration_without_a_step() -> None:
    start, end = FR3.home_rad, FR3.home_rad + WAY
    zero = np.zeros((2, 7))
    hard = np.array([np.full(7, 2.0), np.zeros(7)])
    trajectory = JointTrajectory(np.array([0.0, 2.0]), np.array([start, end]), zero, hard)

    motion = TimedMotion(FR3, start, trajectory)

    assert motion.rows[-1] == pytest.approx(end.tolist())
    assert max(worst(padded(motion))) <= 1.001


def test_a_trajectory_far_away_is_gone_to_first() -> None:
    start = FR3.home_rad
    motion = TimedMotion(FR3, start, joint_move(FR3, start, start + WAY, scale=0.5))
    there = start - 4 * WAY

    begin = motion.join_after(300, joint_move(FR3, there, there + WAY / 4, scale=0.5))

    assert begin > 300 + LEAD
    assert motion.rows[-1] == pytest.approx((there + WAY / 4).tolist())
    assert max(worst(padded(motion))) <= 1.001


def lost(rows: list[list[float]], n: int) -> Array:
    """Return rows and *n* more, as the robot makes them of lost ones: its acceleration stays."""
    led = np.array(rows[-3:])
    step, bend = led[-1] - led[-2], np.diff(led, n=2, axis=0)[0]
    more = [led[-1]]
    for _ in range(n):
        step = step + bend
        more.append(more[-1] + step)
    return np.vstack([rows, more[1:]])


def state_of(rows: Array) -> tuple[Array, Array, Array]:
    step, bend = np.diff(rows[-3:], axis=0)[-1] / TICK_S, np.diff(rows[-3:], n=2, axis=0)[0]
    return rows[-1], step, bend / TICK_S**2


@pytest.mark.parametrize('n', [1, 3, 10, 19])
@pytest.mark.parametrize('row', [2, 40, 120, 300, 10_000])
def test_after_lost_rows_the_motion_goes_on_from_where_the_robot_is(row: int, n: int) -> None:
    start = FR3.home_rad
    motion = TimedMotion(FR3, start, joint_move(FR3, start, start + WAY, scale=0.5))
    planned = [list(each) for each in motion.rows]
    row = min(row, motion.last)
    led = lost(motion.rows[: row + 1], n)

    motion.rejoin_after(row + n, state_of(led))

    whole = np.vstack([led, motion.rows[row + n + 1 :]])
    assert max(worst(whole)) <= 1.001
    assert motion.rows[-1] == pytest.approx(planned[-1])
    if row + n + 400 < len(planned):
        assert motion.rows[row + n + 400 :] == planned[row + n + 400 :]
    if row == 2 and n > 1:  # where the acceleration changes, what was planned is a step away
        assert max(worst(np.vstack([led, planned[row + n + 1 :]]))) > 1.001


def test_a_step_that_the_limits_allow_leaves_the_rows_as_they_were() -> None:
    start = FR3.home_rad
    motion = TimedMotion(FR3, start, joint_move(FR3, start, start + WAY, scale=0.1))
    planned = [list(each) for each in motion.rows]
    led = lost(motion.rows[:264], 1)  # where the acceleration changes

    motion.rejoin_after(264, state_of(led))

    assert np.abs(led[-1] - planned[264]).max() > 1e-7
    assert motion.rows == planned
    assert max(worst(np.vstack([led, planned[265:]]))) <= 1.0


@pytest.mark.parametrize('n', [1, 5, 19])
def test_rows_go_on_from_a_state_in_single_precision(n: int) -> None:
    start = FR3.home_rad
    motion = TimedMotion(FR3, start, joint_move(FR3, start, start + WAY, scale=0.8))
    led = lost(motion.rows[:41], n)

    q, dq, ddq = (each.astype(np.float32).astype(np.float64) for each in state_of(led))
    motion.rejoin_after(40 + n, (q, dq, ddq))

    assert max(worst(np.vstack([led, motion.rows[41 + n :]]))) <= 1.0


def test_a_motion_is_stopped_and_joined_without_a_step_after_lost_rows() -> None:
    start = FR3.home_rad
    for change in (
        lambda motion, row: motion.stop_after(row),
        lambda motion, row: motion.join_after(row, joint_move(FR3, start, start - WAY, scale=0.5)),
    ):
        motion = TimedMotion(FR3, start, joint_move(FR3, start, start + WAY, scale=0.5))
        led = lost(motion.rows[:121], 10)
        motion.rejoin_after(130, state_of(led))
        change(motion, 140)
        assert max(worst(np.vstack([led, motion.rows[131:]]))) <= 1.001
