"""The safety envelope: its file, its guard, the hand, and random motions against MuJoCo."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given
from hypothesis import strategies as st

from bbllm.arm.driver import N_JOINTS, ArmDriver, Array, JointTrajectory
from bbllm.arm.envelope import (
    REACH_M,
    SHOULDER_M,
    KeepOut,
    SafetyEnvelope,
    SafetyRule,
    load_envelope,
    parse_envelope,
)
from bbllm.arm.execution import skill_execution
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.trajectory import joint_move, sample, slowed
from bbllm.arm.safety.envelope_guard import EnvelopeGuard
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.core.types import Code, Kind, Outcome, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.robots.robot_model import TCP_SITE
from bbllm.scene.relations import build_scene
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.skills.grasps import Hand
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.limit_audit import positions
from bbllm_bench.safety.recording import RecordingDriver
from bbllm_bench.safety.safety import tcp_positions
from tests.drawn import examples

RED = ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.2))
PLACE_A = LocationSpec(name='location_A', xy=(0.45, -0.2))
PICK, PLACE = SkillCall('pick', ('red_cube',)), SkillCall('place', ('location_A',))


class Recorded:
    """A table of which every motion that was sent is kept."""

    def __init__(
        self,
        safety: dict[str, Any] | None = None,
        red: ObjectSpec = RED,
        a: LocationSpec = PLACE_A,
    ) -> None:
        self.sent: list[JointTrajectory] = []
        envelope = SafetyEnvelope.model_validate(safety or {})
        scene = SceneFile(objects=(red,), locations=(a,))
        self.world = TabletopWorld(scene, wrap_driver=self._wrap, safety=envelope)

    def _wrap(self, driver: ArmDriver) -> ArmDriver:
        recorder = RecordingDriver(driver)
        self.sent = recorder.trajectories
        return recorder

    def hold_to(self, **rules: Any) -> None:
        """Hold motions to other rules than those that the planner knows of."""
        self.world.guard.envelope = SafetyEnvelope.model_validate(rules)

    def run(self, *calls: SkillCall) -> list[Outcome]:
        return [self.world.execute(call) for call in calls]


def refused(outcome: Outcome, rule: SafetyRule) -> bool:
    return (
        outcome.code is Code.UNSAFE and f'the safety rule {rule.value} forbids' in outcome.message
    )


def old_scene(table: Recorded) -> None:
    table.world.guard.scene_age_s = lambda: 9.0


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


def test_between_two_places_inside_the_arm_takes_a_way_that_stays_inside() -> None:
    narrow = {'min_m': [0.2, -0.6, -0.02], 'max_m': [0.5, 0.6, 1.0]}
    ends = (
        ObjectSpec(name='red_cube', kind='cube', xy=(0.35, 0.45)),
        LocationSpec(name='location_A', xy=(0.35, -0.45)),
    )
    table, straight = Recorded({'workspace': narrow}, *ends), Recorded({}, *ends)
    straight.run(PICK)
    straight.hold_to(workspace=narrow)

    outcomes = table.run(PICK, PLACE, SkillCall('return_to_base'))
    (swung,) = straight.run(PLACE)

    assert refused(swung, SafetyRule.WORKSPACE), 'the quickest way leaves it'
    assert 'x = 0.5' in swung.message and 'may come to 0.5 m' in swung.message
    assert [outcome.message for outcome in outcomes] == ['', '', '']
    assert max(tcp_positions(positions(move, 0.02))[:, 0].max() for move in table.sent) < 0.501


def test_an_arm_is_not_folded_into_itself_and_nothing_moves() -> None:
    table = Recorded()
    sender = TrajectoryExecutor(table.world.driver, guard=table.world.guard)

    with pytest.raises(SkillError, match='rule self_collision forbids folding') as caught:
        sender.follow(slowed(joint_move(FR3, FR3.home_rad, FOLDED), 2.0), 'folding')

    assert caught.value.code is Code.UNSAFE
    assert table.sent == []


def test_every_rule_of_the_file_is_tried_here() -> None:
    fields = set(SafetyEnvelope.model_fields)

    # Constraints have names of their own, and tests in test_constraints.py.
    assert fields - {'never'} == {rule.value for rule in SafetyRule}


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
    checker = CollisionChecker(FR3, [box.obstacle])
    touching = (checker.clear(q, clearance_m=0.0) for q in positions(move, 0.005))
    return any(contact.second == box.obstacle.name for found in touching for contact in found)


def test_a_scene_that_grows_old_in_mid_call_stops_the_motions_after_it() -> None:
    table = Recorded()
    table.world.guard.scene_age_s = lambda: 9.0 if table.sent else 0.1

    (outcome,) = table.run(PICK)

    assert refused(outcome, SafetyRule.STALE_SCENE)
    assert outcome.status is Status.FAILED
    assert len(table.sent) == 1


def test_the_file_of_the_project_has_the_default_rules() -> None:
    assert load_envelope() == SafetyEnvelope()


@pytest.mark.parametrize('path', sorted(config_dir().glob('safety*.yaml')), ids=lambda p: p.stem)
def test_every_safety_file_of_the_project_can_be_used(path: Path) -> None:
    assert isinstance(load_envelope(path.stem), SafetyEnvelope)


@pytest.mark.parametrize(
    ('text', 'answer'),
    [
        ('', 'is no safety: expected the fields workspace, tcp_speed'),
        ('- 1', 'is no safety'),
        ('tcp_sped: {max_m_s: 1}', "unknown field 'tcp_sped'; did you mean 'tcp_speed'?"),
        ('tcp_speed: {max_ms: 1}', "tcp_speed: unknown field 'max_ms'; did you mean 'max_m_s'?"),
        ('tcp_speed: {max_m_s: 5}', "tcp_speed: max_m_s = '5' will not do"),
        ('tcp_speed: {max_m_s: fast}', 'should be a valid number'),
        ('tcp_speed: {max_m_s: .nan}', 'should be a finite number'),
        ('grip_force: {max_n: 141}', 'should be less than or equal to 140'),
        ('workspace: {min_m: [0, 0, 0]}', "workspace: the field 'max_m' is missing"),
        (
            'workspace: {min_m: [0, 0, 0], max_m: [1, -1, 1]}',
            'workspace: y of min_m must be below that of max_m: 0 is not below -1',
        ),
        ('keep_out: [{min: [0, 0, 0]}]', "keep_out[0]: unknown field 'min'; did you mean 'min_m'"),
        (
            'keep_out: [{name: a b, min_m: [0, 0, 0], max_m: [1, 1, 1]}]',
            'the name must be one word',
        ),
        (
            'keep_out: [{name: a, min_m: [0, 0, 0], max_m: [1, 1, 1]},'
            ' {name: a, min_m: [0, 0, 0], max_m: [1, 1, 1]}]',
            'a is there twice',
        ),
        ('tcp_speed: {max_m_s: 1}\ntcp_speed: {max_m_s: 2}', "line 2: 'tcp_speed' stands there"),
        ('tcp_speed: [', 'line 1'),
        ('stale_scene:\n  ? {a: b}\n  : 3', 'line 2: found unhashable key'),
        ('stale_scene: {1: 2}', 'stale_scene: unknown field 1. Known: max_age_s.'),
        ('stale_scene: 3', "stale_scene = '3' will not do: Input should be a valid dictionary"),
        ('tcp_speed: null', "tcp_speed = 'None' will not do"),
        ('keep_out: {name: a}', 'Input should be a list'),
        ('keep_out: [3]', "keep_out[0] = '3' will not do"),
        ('workspace: {min_m: [0, 0, 0, 0], max_m: [1, 1, 1]}', 'should have at most 3 items'),
        (
            'workspace: {min_m: [-250, -850, -20], max_m: [950, 850, 1190]}',
            'workspace, min_m[0]: -250 m is more than 3 m from the base of the robot; lengths are '
            'in metres: -250 mm is -0.25.',
        ),
        (
            'keep_out: [{name: laptop, min_m: [200, 500, 0], max_m: [600, 900, 300]}]',
            'keep_out[0] (laptop), max_m[2]: 300 m is more than 3 m',
        ),
        (
            'keep_out: [{name: laptop, min_m: [2, 2.5, 0], max_m: [2.6, 2.9, 0.3]}]',
            'keep_out[0] (laptop): no part of the arm can reach laptop, 0.6 x 0.4 x 0.3 m, from '
            '(2, 2.5, 0) to (2.6, 2.9, 0.3) m, and it would protect nothing',
        ),
        (
            'keep_out: [{name: laptop, min_m: [0.2, 0.5, -0.3], max_m: [0.6, 0.9, -0.1]}]',
            'it is below the table, whose top is at z = 0 m; a box that is higher would do',
        ),
    ],
)
def test_an_error_in_a_file_names_the_place_and_what_would_do(text: str, answer: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_envelope(text, 'my.yaml')

    assert str(caught.value).startswith('my.yaml')
    assert answer in str(caught.value)


def test_no_part_of_the_arm_comes_further_than_the_reach_by_which_boxes_are_judged() -> None:
    model = FR3.arm_model()
    data, random = mujoco.MjData(model), np.random.default_rng(1)
    solid = model.geom_contype > 0
    low, high = model.jnt_range[:N_JOINTS].T
    farthest_m = 0.0
    for _ in range(20_000):
        data.qpos[:N_JOINTS] = random.uniform(low, high)
        mujoco.mj_kinematics(model, data)
        far = np.linalg.norm(data.geom_xpos - SHOULDER_M, axis=1) + model.geom_rbound
        farthest_m = max(farthest_m, float(far[solid].max()))

    assert 0.9 < farthest_m < REACH_M


def test_boxes_have_a_line_with_their_size_for_people() -> None:
    box = {'name': 'laptop', 'min_m': [0.2, 0.5, 0.0], 'max_m': [0.6, 0.9, 0.3]}

    lines = SafetyEnvelope.model_validate({'keep_out': [box]}).boxes()

    assert lines == (
        'workspace: 1.2 x 1.7 x 1.21 m, from (-0.25, -0.85, -0.02) to (0.95, 0.85, 1.19) m',
        'keep_out laptop: 0.4 x 0.4 x 0.3 m, from (0.2, 0.5, 0) to (0.6, 0.9, 0.3) m',
    )


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'nowhere\.yaml cannot be read: No such file'):
        load_envelope(tmp_path / 'nowhere.yaml')
    with pytest.raises(ConfigError, match=r"'safty'\. Did you mean 'safety'\? Known: safety, "):
        load_envelope('safty')


def test_a_way_that_leads_through_a_box_is_refused_by_the_guard_too() -> None:
    box = {'name': 'laptop', 'min_m': [0.1, -0.6, 0.2], 'max_m': [0.6, -0.3, 0.8]}
    guard = EnvelopeGuard(FR3, SafetyEnvelope.model_validate({'keep_out': [box]}))

    with pytest.raises(SkillError, match=r'keep_out forbids turning: fr3_\w+ would enter laptop'):
        guard.check_motion(joint_move(FR3, FR3.home_rad, turned(-1.2)), 'turning')

    guard.check_motion(joint_move(FR3, FR3.home_rad, turned(1.2)), 'turning')


def turned(angle_rad: float) -> Array:
    return np.concatenate([[angle_rad], FR3.home_rad[1:]])


def test_a_scene_that_was_never_received_is_reported_as_such() -> None:
    guard = EnvelopeGuard(FR3, SafetyEnvelope(), scene_age_s=lambda: math.inf)

    with pytest.raises(SkillError, match='the scene was never received'):
        guard.check_motion(joint_move(FR3, FR3.home_rad, turned(0.1)), 'turning')


def test_an_arm_outside_may_come_back_but_not_go_further() -> None:
    out, further = turned(0.6), turned(0.9)
    edge = float(FR3.kinematics.forward(turned(0.4))[1, 3])
    workspace = {'min_m': [-1.0, -1.0, -0.02], 'max_m': [1.0, edge, 1.2]}
    guard = EnvelopeGuard(FR3, SafetyEnvelope.model_validate({'workspace': workspace}))

    guard.check_motion(joint_move(FR3, out, FR3.home_rad), 'coming back')
    guard.check_motion(joint_move(FR3, further, out), 'coming nearer')
    for goal in (further, out):
        with pytest.raises(SkillError, match='rule workspace'):
            guard.check_motion(joint_move(FR3, out, goal), 'staying out')


def test_numbers_that_are_none_are_refused() -> None:
    move = joint_move(FR3, FR3.home_rad, turned(0.2))
    broken = np.array(move.position_rad)
    broken[1, 3] = math.nan
    strange = JointTrajectory(
        time_s=move.time_s,
        position_rad=broken,
        velocity_rad_s=move.velocity_rad_s,
        acceleration_rad_s2=move.acceleration_rad_s2,
    )

    with pytest.raises(SkillError) as caught:
        EnvelopeGuard(FR3, SafetyEnvelope()).check_motion(strange, 'turning')

    assert caught.value.code is Code.UNSAFE


def holding(name: str, size_m: tuple[float, float, float], below_m: float) -> tuple[Scene, Hand]:
    """Return a scene in which the hand at rest holds a thing, its centre so far below the TCP."""
    tcp = pose_of_matrix(FR3.kinematics.forward(FR3.home_rad))
    x, y, z = tcp.position_m
    item = SceneObject(
        name=name, kind=Kind.CUBE, pose=Pose(position_m=(x, y, z - below_m)), size_m=size_m
    )
    hand = Hand(tcp=tcp, width_m=size_m[0])
    scene = build_scene([item], hand, skills=(), stamp_s=0.0, now_s=0.0)
    return scene, hand


@pytest.mark.parametrize('carried', [True, False])
def test_what_is_held_counts_as_the_hand_does(carried: bool) -> None:
    low_m = (
        float(FR3.kinematics.forward(FR3.home_rad)[2, 3]) - 0.02
    )  # so far below the hand it ends, if held
    guard = EnvelopeGuard(FR3, SafetyEnvelope())
    scene, hand = holding('pole', (0.02, 0.02, 0.2), low_m - 0.1)
    guard.update(scene, hand)
    guard.carry('pole' if carried else None, hand)
    move = joint_move(FR3, FR3.home_rad, FR3.home_rad + np.array([0, 0.1, 0, 0, 0, 0, 0]))

    if carried:
        with pytest.raises(SkillError, match='table_height forbids leaning: pole would come down'):
            guard.check_motion(move, 'leaning')
    else:
        guard.check_motion(move, 'leaning')


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


def test_an_object_is_not_carried_to_where_the_hand_may_not_release_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Recorded()
    assert table.run(PICK)[0].succeeded
    above_m = table.world.driver.joint_state().position_rad

    def check_hand(position_rad: Array, width_m: float, doing: str) -> None:
        if FR3.kinematics.forward(position_rad)[1, 3] < -0.15:  # at location_A
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


def test_a_force_beyond_what_is_allowed_is_refused_before_the_arm_sets_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(skill_execution, 'GRIP_FORCE_N', 90.0)
    table = Recorded()

    outcomes = table.run(PICK, SkillCall('close_gripper'))

    assert [refused(outcome, SafetyRule.GRIP_FORCE) for outcome in outcomes] == [True, True]
    assert {outcome.status for outcome in outcomes} == {Status.REJECTED}
    assert table.sent == []


EVERY_S = 0.004
NEAR_M = 0.004
"""What is nearer than this to the border of a rule may come out either way [m]."""
NEAR_SPEED = 0.03
"""The same for speeds, as a share of what is allowed."""
FAR_M = 1.0
MOVING = (*(f'fr3_link{i}' for i in range(2, 8)), 'fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger')


@dataclass
class SlowCheck:
    """What a motion comes to, each figure from MuJoCo at very many moments."""

    tcp_m: Array
    lowest_m: float
    speed_m_s: float
    share: float
    gap_m: float
    """Least distance to the box; negative inside it [m]."""
    own_m: float
    """Least distance at which MuJoCo sees a contact of the robot with itself [m]."""


@cache
def model() -> mujoco.MjModel:
    spec = FR3.spec()
    box = spec.worldbody.add_body(name='box', mocap=True)
    box.add_geom(
        name='box', type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 1], contype=0, conaffinity=0
    )
    # Fingers that touch each other are no collision, and neither is that the base stands there.
    spec.add_exclude(bodyname1='fr3_leftfinger', bodyname2='fr3_rightfinger')
    return spec.compile()


def solids(kind: mujoco.MjModel) -> Iterator[int]:
    """Yield the geoms of the moving arm that meet the world."""
    for geom in range(kind.ngeom):
        name = kind.body(kind.geom_bodyid[geom]).name
        if name in MOVING and kind.geom_contype[geom] & 1:
            yield geom


def check_slowly(move: JointTrajectory, box: KeepOut) -> SlowCheck:
    kind = model()
    data = mujoco.MjData(kind)
    low, high = np.array(box.min_m), np.array(box.max_m)
    data.mocap_pos[0], kind.geom('box').size[:] = (low + high) / 2, (high - low) / 2
    for name in ('fr3_finger_joint1', 'fr3_finger_joint2'):
        data.qpos[kind.joint(name).qposadr[0]] = 0.04
    times = np.linspace(0.0, move.duration_s, max(2, int(move.duration_s / EVERY_S)))
    q, velocity, _ = sample(move, times)
    tcp, lowest, gap, own = [], FAR_M, FAR_M, FAR_M
    for row in q:
        data.qpos[:N_JOINTS] = row
        mujoco.mj_kinematics(kind, data)
        mujoco.mj_collision(kind, data)
        tcp.append(data.site(TCP_SITE).xpos.copy())
        for geom in solids(kind):
            lowest = min(lowest, low_point(kind, data, geom))
            apart = mujoco.mj_geomDistance(kind, data, geom, kind.geom('box').id, 0.1, None)
            gap = min(gap, apart)
        own = min([own, *data.contact.dist.tolist()])
    points = np.array(tcp)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1) / np.diff(times)
    share = float((np.abs(velocity) / FR3.limits.velocity_rad_s).max())
    return SlowCheck(points, lowest, float(steps.max()), share, gap, own)


def low_point(kind: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Return the height of a shape's lowest point [m]."""
    size, turn = kind.geom_size[geom], data.geom_xmat[geom].reshape(3, 3)
    if kind.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
        corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        return (
            float(min((turn @ (size * corner))[2] for corner in corners)) + data.geom_xpos[geom][2]
        )
    assert kind.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE
    return float(data.geom_xpos[geom][2] - abs(turn[2, 2]) * size[1] - size[0])


def depths(seen: SlowCheck, envelope: SafetyEnvelope) -> dict[SafetyRule, float]:
    """Return how far beyond each rule a motion goes, in terms of what counts as near."""
    low, high = np.array(envelope.workspace.min_m), np.array(envelope.workspace.max_m)
    beyond = np.maximum(low - seen.tcp_m, seen.tcp_m - high).max()
    below = envelope.table_height.top_m - seen.lowest_m
    return {
        SafetyRule.WORKSPACE: float(beyond) / NEAR_M,
        SafetyRule.TABLE_HEIGHT: below / NEAR_M,
        SafetyRule.TCP_SPEED: (seen.speed_m_s / envelope.tcp_speed.max_m_s - 1) / NEAR_SPEED,
        SafetyRule.JOINT_SPEED: (seen.share / envelope.joint_speed.max_share - 1) / NEAR_SPEED,
        SafetyRule.KEEP_OUT: -seen.gap_m / NEAR_M,
        SafetyRule.SELF_COLLISION: -seen.own_m / NEAR_M,
    }


def posture(shares: Array, spread: float) -> Array:
    """Return a joint position up to a share of the range away from the ready posture."""
    wanted = FR3.home_rad + shares * spread * (FR3.limits.upper_rad - FR3.limits.lower_rad) / 2
    return np.clip(wanted, FR3.limits.lower_rad + 0.05, FR3.limits.upper_rad - 0.05)


TIGHT = [
    rule for rule in SafetyRule if rule not in (SafetyRule.GRIP_FORCE, SafetyRule.STALE_SCENE)
]
NOWHERE = KeepOut.model_construct(name='box', min_m=(5.0, 5.0, 5.0), max_m=(6.0, 6.0, 6.0))
"""Which no file may have: out of reach of the arm."""


def envelope_tight_in(
    rule: SafetyRule, reach_m: float, top_m: float, share: float, box: KeepOut
) -> Any:
    """Return an envelope of which one rule may well be broken, and the box in it."""
    box = box if rule is SafetyRule.KEEP_OUT else NOWHERE
    wide = reach_m if rule is SafetyRule.WORKSPACE else 2.0
    rules = {
        'workspace': {'min_m': [-wide, -wide, -0.8], 'max_m': [wide, wide, 1.4]},
        'table_height': {
            'top_m': top_m if rule is SafetyRule.TABLE_HEIGHT else -1.0,
            'fingers_m': 0.0,
        },
        'tcp_speed': {'max_m_s': 2 * share if rule is SafetyRule.TCP_SPEED else 3.0},
        'joint_speed': {'max_share': share if rule is SafetyRule.JOINT_SPEED else 1.0},
        'keep_out': [] if box is NOWHERE else [box],
    }
    return SafetyEnvelope.model_validate(rules), box


@examples(40, suppress_health_check=[HealthCheck.filter_too_much])
@given(tight=st.sampled_from(TIGHT), seed=st.integers(0, 2**32 - 1))
def test_the_guard_agrees_with_a_slow_check(tight: SafetyRule, seed: int) -> None:
    rng = np.random.default_rng(seed)  # evenly: near zero, nothing moves and all is allowed
    start, goal = rng.uniform(-1.0, 1.0, (2, N_JOINTS))
    spread = rng.uniform(0.2, 1.0)
    if tight is SafetyRule.SELF_COLLISION:  # folded at elbow and wrist, wherever the others go
        goal[[3, 5]], spread = -1.0, 1.0
    first = posture(start, spread * 0.2)
    move = joint_move(FR3, first, posture(goal, spread), scale=rng.uniform(0.2, 1.0))
    end_m = FR3.kinematics.forward(move.position_rad[-1])[:3, 3] + rng.uniform(-0.2, 0.2, 3)
    half_m = rng.uniform(0.05, 0.2, 3)
    box = KeepOut(name='box', min_m=tuple(end_m - half_m), max_m=tuple(end_m + half_m))
    reach_m, top_m, share = rng.uniform(0.3, 0.8), rng.uniform(-0.1, 0.27), rng.uniform(0.1, 0.8)
    envelope, box = envelope_tight_in(tight, reach_m, top_m, share, box)
    at_start = depths(check_slowly(joint_move(FR3, first, first), box), envelope)
    # One that starts outside may lead back, which is another test's matter.
    assume(all(depth < -1 for depth in at_start.values()))
    found = depths(check_slowly(move, box), envelope)

    answer = ''
    try:
        EnvelopeGuard(FR3, envelope).check_motion(move, 'moving')
    except SkillError as error:
        answer = str(error)
    broken = next((rule for rule in SafetyRule if f'rule {rule.value} ' in answer), None)

    event('allowed' if broken is None else f'refused: {broken.value}')
    if broken is None:
        assert all(depth < 1 for depth in found.values()), found
    else:
        assert found[broken] > -1, f'{answer} but {found}'


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('tcp_speed: {max_m_s: 0.5}')
    first = load_envelope(path)
    path.write_text('tcp_speed: {max_m_s: 0.25}')

    assert first.tcp_speed.max_m_s == 0.5
    assert load_envelope(str(path)).tcp_speed.max_m_s == 0.25
