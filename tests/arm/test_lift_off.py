"""How a lift begins, and what happens where the thing does not come along."""

from __future__ import annotations

import numpy as np
import pytest
from kinematic_arm import DEACTIVATED, PICK_RED, KinematicArm, cube, executor_on, run

from bbllm.arm.driver import Array, GoalStatus, GripperResult
from bbllm.arm.kinematics import forward, inverse_branches
from bbllm.arm.lifting import (
    CONTROLLER_STIFFNESS,
    SERVO_STIFFNESS,
    LiftParams,
    PullMeter,
    parted,
    slow_move,
)
from bbllm.arm.limits import Q_READY
from bbllm.arm.reachability import top_down
from bbllm.core.types import Code, Status

FIXED = (
    'red_cube did not rise: the lift took more than 10 N, as it does of what is fixed to the '
    'table or weighs about 1 kg or more'
)
DONE = (Status.SUCCEEDED, Code.NONE, '')


def heights(arm: KinematicArm) -> list[float]:
    """Return where each motion ended [m]."""
    return [float(forward(sent.position_rad[-1])[2, 3]) for sent in arm.sent]


def arm_that_feels(lift_takes_n: float) -> KinematicArm:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))
    arm.lift_takes_n = lift_takes_n
    return arm


@pytest.mark.parametrize('hears_late', [False, True])
def test_what_does_not_rise_is_let_go_of_and_the_arm_goes_up_without_it(hears_late: bool) -> None:
    arm = arm_that_feels(12.0)
    arm.hears_late = hears_late

    assert run(arm, PICK_RED) == [
        (Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}; the hand has let go of it.')
    ]

    assert arm.held is None
    assert arm.width_m > 0.04
    assert len(arm.sent) == 4  # over, down, the first bit of the lift, up without it
    assert heights(arm)[3] == pytest.approx(heights(arm)[1] + 0.08, abs=2e-3)
    assert arm.recoveries == 0


def test_what_rises_is_lifted_gently_at_first_and_then_all_the_way() -> None:
    arm = arm_that_feels(9.0)

    assert run(arm, PICK_RED) == [DONE]

    over, down, first, up = heights(arm)
    assert 1e-4 < first - down < 1e-3
    assert up == pytest.approx(over, abs=1e-4)
    np.testing.assert_array_equal(arm.sent[2].position_rad[-1], arm.sent[3].position_rad[0])
    assert arm.held == 'red_cube'


def test_where_nobody_feels_the_force_a_lift_is_one_motion() -> None:
    arm = KinematicArm(cube('red_cube', 0.5, 0.1))

    assert run(arm, PICK_RED) == [DONE]

    assert len(arm.sent) == 3


def test_a_hand_that_does_not_open_is_not_said_to_have_let_go() -> None:
    arm = arm_that_feels(12.0)

    def stick() -> None:
        if len(arm.sent) == 3:
            arm.move_gripper = stuck  # type: ignore[method-assign]

    arm.on_follow = stick

    assert run(arm, PICK_RED) == [(Status.FAILED, Code.WOULD_NOT_RISE, f'{FIXED}.')]

    assert arm.held == 'red_cube'
    assert len(arm.sent) == 3  # what is held fast is not pulled at again


def test_a_person_who_stops_the_lift_is_heard_first() -> None:
    arm = arm_that_feels(12.0)
    executor = executor_on(arm)
    arm.on_follow = lambda: executor.stop() if len(arm.sent) == 3 else None

    outcome = executor.execute(PICK_RED)

    assert (outcome.code, outcome.message) == (
        Code.CANCELLED, 'the robot was stopped while lifting red_cube.',
    )  # fmt: skip
    assert arm.held == 'red_cube'


def test_a_reflex_on_the_first_bit_of_a_lift_is_told_as_one() -> None:
    arm = arm_that_feels(9.0)
    succeeded = arm.replies
    arm.on_follow = lambda: succeeded.append(DEACTIVATED) if len(arm.sent) == 3 else None

    [(status, code, message)] = run(arm, PICK_RED)

    assert (status, code) == (Status.FAILED, Code.REFLEX)
    assert 'while lifting red_cube' in message


def stuck(width_m: float, speed_m_s: float) -> GripperResult:
    return GripperResult(status=GoalStatus.ABORTED, error='it is stuck', width_m=0.04)


def grasps() -> list[Array]:
    """Return postures over the table at which a thing could be gripped, shape (7,) each [rad]."""
    found = []
    for x, y in ((0.3, 0.2), (0.5, 0.0), (0.45, -0.3), (0.65, 0.1)):
        branches = inverse_branches(top_down((x, y, 0.02), 0.0)[None], np.array([Q_READY[6]]))
        rows = branches[:, 0]
        rows = rows[~np.isnan(rows).any(axis=1)]
        found.append(rows[np.argmin(np.abs(rows - Q_READY).max(axis=1))])
    return found


def test_the_first_bit_of_a_lift_pulls_as_hard_as_was_asked_at_springs_in_the_joints() -> None:
    params = LiftParams(cap_n=10.0, pull=1.6)
    stiffness = np.array(SERVO_STIFFNESS)
    for q in grasps():
        rise = np.array([0.0, 0.0, params.rise_m(q)])
        # what holds the TCP in place from outside: force such that the springs give by the rise
        eps = 1e-6
        J = np.stack(
            [(forward(q + eps * e)[:3, 3] - forward(q - eps * e)[:3, 3]) / (2 * eps)
             for e in np.eye(7)], axis=1,
        )  # fmt: skip
        bent = np.linalg.lstsq(J / np.sqrt(stiffness), rise, rcond=None)[0] / np.sqrt(stiffness)
        force = np.linalg.lstsq(J.T, stiffness * bent, rcond=None)[0]
        assert force[2] == pytest.approx(16.0, rel=1e-4)


def test_an_arm_that_is_held_more_softly_goes_further_to_pull_as_hard() -> None:
    soft, stiff = LiftParams(stiffness_nm_rad=CONTROLLER_STIFFNESS), LiftParams()
    for q in grasps():
        assert 4 < soft.rise_m(q) / stiff.rise_m(q) < 20
        assert soft.rise_m(q) < 0.008


def test_the_way_up_is_parted_without_a_gap_and_its_first_bit_is_as_long_as_asked() -> None:
    q = grasps()[1]
    over = inverse_branches(top_down((0.5, 0.0, 0.10), 0.0)[None], q[None, 6])[:, 0]
    over = over[np.nanargmin(np.abs(over - q).max(axis=1))]
    up = q + np.linspace(0.0, 1.0, 25)[:, None] * (over - q)

    first, left = parted(up, 0.002)

    heights = forward(np.concatenate([first, left[[-1]]]))[:, 2, 3]
    assert heights[1] - heights[0] == pytest.approx(0.002, rel=0.25)
    np.testing.assert_array_equal(first[1], left[0])
    np.testing.assert_allclose(left[-1], up[-1], atol=1e-12)


def test_a_slow_move_takes_longer_where_the_joints_could_not_keep_up() -> None:
    assert slow_move(np.array([Q_READY, Q_READY + 0.001]), 0.2).duration_s == 0.2
    assert slow_move(np.array([Q_READY, Q_READY + 1.0]), 0.2).duration_s > 1.0


def test_a_pull_is_the_mean_of_the_last_twenty_milliseconds() -> None:
    meter = PullMeter()
    assert meter.mean_n() is None
    assert not meter.known
    for i in range(100):
        meter.add(float(i), 5.0 + 0.001 * i)
    assert meter.known
    assert meter.mean_n() == pytest.approx(np.mean(range(80, 100)), abs=0.51)
    assert meter.wait_until(5.05, 0.0)
    assert not meter.wait_until(5.2, 0.0)


def test_a_clock_that_begins_anew_forgets_the_readings_of_before() -> None:
    meter = PullMeter()
    meter.add(100.0, 5.0)
    meter.add(1.0, 0.1)
    assert meter.mean_n() == 1.0


def test_who_listens_hears_every_reading_and_none_afterwards() -> None:
    meter = PullMeter()
    heard: list[float | None] = []
    with meter.heard_by(lambda: heard.append(meter.mean_n())):
        meter.add(1.0, 0.1)
        meter.add(2.0, 0.2)
    meter.add(3.0, 0.3)
    assert heard == [1.0, 2.0]
