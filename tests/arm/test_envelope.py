"""The safety envelope: what is refused, by which name, and that nothing moved then."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from recorded_tables import PICK, PLACE, Recorded, old_scene, refused

from bbllm.arm.driver import JointTrajectory
from bbllm.arm.envelope import KeepOut, SafetyEnvelope, SafetyRule, load_envelope
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.arm.limits import Q_READY
from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.trajectory import joint_move, slowed
from bbllm.bench.safety.limit_audit import positions
from bbllm.bench.safety.safety import tcp_positions
from bbllm.core.types import Code, SkillCall, Status

ON_THE_CUBE = {'name': 'laptop', 'min_m': [0.4, 0.15, 0.0], 'max_m': [0.5, 0.25, 0.2]}
FOLDED = np.array([0.0, 0.0, 0.0, -3.0, 0.0, 0.6, math.pi / 4])
"""A posture in which the hand is inside the forearm's own capsules."""


def small_workspace(table: Recorded) -> None:
    table.hold_to(workspace={'min_m': [0.2, -0.1, -0.02], 'max_m': [0.6, 0.1, 1.0]})


def slow_tool(table: Recorded) -> None:
    table.hold_to(tcp_speed={'max_m_s': 0.2})


def slow_joints(table: Recorded) -> None:
    table.hold_to(joint_speed={'max_share': 0.2})


def gentle_hand(table: Recorded) -> None:
    table.hold_to(grip_force={'max_n': 30})


def plan_as_well(table: Recorded) -> None:
    """Leave the rules as the planner knows them too."""


def high_table(table: Recorded) -> None:
    table.hold_to(table_height={'top_m': 0.03})


@pytest.mark.parametrize(
    ('rule', 'break_it', 'what_would_do'),
    [
        (SafetyRule.WORKSPACE, small_workspace, 'further in would do'),
        (SafetyRule.TCP_SPEED, slow_tool, 'times as slow would do'),
        (SafetyRule.JOINT_SPEED, slow_joints, 'times as slow would do'),
        (SafetyRule.GRIP_FORCE, gentle_hand, '30 N or less would do'),
        (SafetyRule.KEEP_OUT, plan_as_well, 'further from it would do'),
        (SafetyRule.TABLE_HEIGHT, high_table, 'm higher would do'),
        (SafetyRule.STALE_SCENE, old_scene, 'published again would do'),
    ],
)
def test_a_pick_that_breaks_a_rule_is_refused_by_its_name_and_nothing_moves(
    rule: SafetyRule, break_it: Callable[[Recorded], None], what_would_do: str
) -> None:
    table = Recorded({'keep_out': [ON_THE_CUBE]} if rule is SafetyRule.KEEP_OUT else {})
    break_it(table)
    before = table.world.driver.joint_state()

    (outcome,) = table.run(PICK)

    assert refused(outcome, rule), outcome.message
    assert what_would_do in outcome.message
    assert outcome.status is Status.REJECTED
    assert table.sent == []
    after = table.world.driver.joint_state()
    assert np.array_equal(after.position_rad, before.position_rad)
    assert after.width_m == before.width_m


def test_an_arm_is_not_folded_into_itself_and_nothing_moves() -> None:
    table = Recorded()
    sender = TrajectoryExecutor(table.world.driver, guard=table.world.guard)

    with pytest.raises(SkillError, match='rule self_collision forbids folding') as caught:
        sender.follow(slowed(joint_move(Q_READY, FOLDED), 2.0), 'folding')

    assert caught.value.code is Code.UNSAFE
    assert table.sent == []


def test_every_rule_of_the_file_is_tried_here() -> None:
    fields = set(SafetyEnvelope.model_fields)

    assert fields == {rule.value for rule in SafetyRule}


def test_nothing_of_a_pick_and_a_place_breaks_the_rules_of_the_project() -> None:
    table = Recorded()

    outcomes = table.run(PICK, PLACE, SkillCall('return_to_base'))

    assert [outcome.message for outcome in outcomes] == ['', '', '']


def test_the_slow_envelope_slows_the_same_work_down_and_refuses_none_of_it() -> None:
    slow = load_envelope('safety_slow').model_dump()
    table, fast = Recorded(slow), Recorded()

    outcomes = table.run(PICK, PLACE, SkillCall('return_to_base'))
    fast.run(PICK, PLACE, SkillCall('return_to_base'))

    assert [outcome.message for outcome in outcomes] == ['', '', '']
    assert max(fastest_m_s(move) for move in table.sent) <= 0.25 * 1.01
    assert max(fastest_m_s(move) for move in fast.sent) > 0.5
    assert table.world.settled()['red_cube'].position_m[:2] == pytest.approx(
        (0.45, -0.2), abs=3e-3
    )


def fastest_m_s(move: JointTrajectory) -> float:
    """Return the tool's top speed as MuJoCo's own kinematics sees it [m/s]."""
    points = tcp_positions(positions(move, 0.002))
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).max() / 0.002)


def test_ways_lead_around_a_box() -> None:
    wall = KeepOut(name='wall', min_m=(0.3, -0.03, 0.0), max_m=(0.75, 0.03, 0.3))
    table, free = Recorded({'keep_out': [wall]}), Recorded()

    outcomes = table.run(PICK, PLACE)
    free.run(PICK, PLACE)

    assert [outcome.message for outcome in outcomes] == ['', '']
    assert not any(enters(move, wall) for move in table.sent)
    assert any(enters(move, wall) for move in free.sent)


def enters(move: JointTrajectory, box: KeepOut) -> bool:
    checker = CollisionChecker([box.obstacle])
    touching = (checker.clear(q, clearance_m=0.0) for q in positions(move, 0.005))
    return any(contact.second == box.obstacle.name for found in touching for contact in found)


def test_a_scene_that_grows_old_in_mid_call_stops_the_motions_after_it() -> None:
    table = Recorded()
    table.world.guard.scene_age_s = lambda: 9.0 if table.sent else 0.1

    (outcome,) = table.run(PICK)

    assert refused(outcome, SafetyRule.STALE_SCENE)
    assert outcome.status is Status.FAILED
    assert len(table.sent) == 1
