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
