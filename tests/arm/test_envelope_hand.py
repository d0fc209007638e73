"""The safety envelope and the hand: where it may open, close and let go, and how hard it grips."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_tables import PICK, PLACE, Recorded, old_scene, refused

from bbllm.arm.driver import Array
from bbllm.arm.envelope import SafetyRule
from bbllm.arm.execution.executor import ExecutorParams
from bbllm.arm.failures import SkillError
from bbllm.arm.kinematics import forward
from bbllm.core.types import Code, SkillCall, Status
from bbllm.skills.motions import MotionParams

BESIDE_THE_FINGERS = {'name': 'glass', 'min_m': [0.3, 0.035, 0.46], 'max_m': [0.32, 0.05, 0.5]}
"""Beside the hand at base: open fingers are in it, closed ones are not."""


def closed_beside(box: dict[str, Any]) -> Recorded:
    """Return a table on which the fingers were closed before the box came."""
    table = Recorded({'keep_out': [box]})
    table.world.driver.move_gripper(0.0, 0.1)
    return table


def test_fingers_do_not_open_into_a_box_and_open_where_there_is_none() -> None:
    table = closed_beside(BESIDE_THE_FINGERS)

    (outcome,) = table.run(SkillCall('open_gripper'))

    assert refused(outcome, SafetyRule.KEEP_OUT), outcome.message
    assert 'finger would enter glass' in outcome.message
    assert outcome.status is Status.REJECTED
    assert table.world.driver.joint_state().width_m < 0.005
    further = {**BESIDE_THE_FINGERS, 'min_m': [0.3, 0.08, 0.46], 'max_m': [0.32, 0.1, 0.5]}
    (outcome,) = closed_beside(further).run(SkillCall('open_gripper'))
    assert outcome.succeeded, outcome.message


def test_a_box_that_is_thinner_than_a_step_of_the_fingers_is_not_jumped_over() -> None:
    thin = {'name': 'card', 'min_m': [0.3, 0.03, 0.46], 'max_m': [0.32, 0.0305, 0.5]}
    table = closed_beside(thin)

    (outcome,) = table.run(SkillCall('open_gripper'))

    assert refused(outcome, SafetyRule.KEEP_OUT), outcome.message


def test_fingers_that_are_in_a_box_may_close_out_of_it() -> None:
    around = {**BESIDE_THE_FINGERS, 'min_m': [0.3, 0.045, 0.46], 'max_m': [0.32, 0.1, 0.5]}
    table = Recorded({'keep_out': [around]})

    (outcome,) = table.run(SkillCall('close_gripper'))

    assert outcome.succeeded, outcome.message
    assert table.world.driver.joint_state().width_m < 0.005


def test_a_thing_is_not_carried_to_where_the_hand_may_not_let_go_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Recorded()
    assert table.run(PICK)[0].succeeded
    above_m = table.world.driver.joint_state().position_rad

    def check_hand(position_rad: Array, width_m: float, doing: str) -> None:
        if forward(position_rad)[1, 3] < -0.15:  # at location_A
            raise SkillError(Code.UNSAFE, f'no {doing}')

    monkeypatch.setattr(table.world.guard, 'check_hand', check_hand)
    sent = len(table.sent)

    (outcome,) = table.run(PLACE)

    assert outcome.status is Status.REJECTED
    assert outcome.message == 'no opening the hand to let go of red_cube'
    assert len(table.sent) == sent
    assert table.world.driver.joint_state().position_rad == pytest.approx(above_m, abs=0.01)


@pytest.mark.parametrize('skill', ['open_gripper', 'close_gripper'])
def test_a_hand_does_not_move_on_a_stale_scene(skill: str) -> None:
    table = Recorded()
    table.world.driver.move_gripper(0.05, 0.1)
    old_scene(table)

    (outcome,) = table.run(SkillCall(skill))

    assert refused(outcome, SafetyRule.STALE_SCENE), outcome.message
    assert outcome.status is Status.REJECTED
    assert table.world.driver.joint_state().width_m == pytest.approx(0.05, abs=2e-3)


def test_a_force_beyond_what_is_allowed_is_refused_before_the_arm_sets_out() -> None:
    params = ExecutorParams(motions=MotionParams(force_n=90.0))
    table = Recorded(params=params)

    outcomes = table.run(PICK, SkillCall('close_gripper'))

    assert [refused(outcome, SafetyRule.GRIP_FORCE) for outcome in outcomes] == [True, True]
    assert {outcome.status for outcome in outcomes} == {Status.REJECTED}
    assert table.sent == []
