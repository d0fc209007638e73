from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bbllm.arm.driver import JointTrajectory
from bbllm.arm.limits import Q_READY
from bbllm.arm.motion.trajectory import joint_move
from bbllm.bench.safety.limit_audit import NOTHING, audit


def rest_to_rest(
    way: np.ndarray, duration_s: float, start: np.ndarray = Q_READY
) -> JointTrajectory:
    """One quintic: it reaches 1.875 way / time, 5.77 way / time^2, 60 way / time^3."""
    zero = np.zeros((2, 7))
    return JointTrajectory(
        time_s=np.array([0.0, duration_s]),
        position_rad=np.stack([start, start + way]),
        velocity_rad_s=zero,
        acceleration_rad_s2=zero,
    )


def test_a_slow_motion_breaks_nothing() -> None:
    report = audit(rest_to_rest(np.full(7, 0.2), 1.0))

    assert report.violations == 0
    assert report.samples == 1000
    assert 0 < report.worst < 1


def test_too_much_acceleration_is_counted() -> None:
    report = audit(rest_to_rest(0.2 * np.eye(7)[0], 0.3))  # 12.8 rad/s^2

    assert report.acceleration > 0
    assert report.steps > 0
    assert report.velocity == report.jerk == report.position == 0
    assert report.worst == pytest.approx(1.283, abs=0.01)


def test_too_much_jerk_is_counted() -> None:
    report = audit(rest_to_rest(0.01 * np.eye(7)[0], 0.04))  # 9375 rad/s^3 at the ends

    assert report.jerk > 0


def test_a_speed_that_is_legal_elsewhere_is_counted_near_a_stop() -> None:
    way = 1.2 * np.eye(7)[1]
    elsewhere = rest_to_rest(way, 1.2, np.array([0, -1.2, 0, -1.5, 0, 1.5, 0.0]))
    near_stop = rest_to_rest(way, 1.2, np.array([0, 0.55, 0, -1.5, 0, 1.5, 0.0]))

    assert audit(elsewhere).velocity == 0
    assert audit(near_stop).velocity > 0


def test_a_position_beyond_the_limit_is_counted() -> None:
    report = audit(rest_to_rest(0.2 * np.eye(7)[3], 2.0, np.array([0, 0, 0, -0.3, 0, 1.5, 0.0])))

    assert report.position > 0


def test_a_jump_of_velocity_between_pieces_is_counted() -> None:
    move = joint_move(Q_READY, Q_READY + 0.3)
    velocity = move.velocity_rad_s.copy()
    velocity[3] *= 1.3

    assert audit(move).violations == 0
    assert audit(replace(move, velocity_rad_s=velocity)).violations > 0


def test_reports_add_up() -> None:
    good, bad = (
        audit(joint_move(Q_READY, Q_READY + 0.1)),
        audit(rest_to_rest(0.2 * np.eye(7)[0], 0.3)),
    )
    total = NOTHING + good + bad

    assert total.samples == good.samples + bad.samples
    assert total.violations == bad.violations
    assert total.worst == bad.worst
