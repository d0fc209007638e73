"""What counts as an unsafe command, and that ordinary work has none."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.arm.driver import JointTrajectory, Tolerances
from bbllm.arm.motion.reachability import top_down
from bbllm.arm.motion.trajectory import joint_move, sample
from bbllm.core.types import SceneObject, SkillCall
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import SceneFile, TableSpec, load_scene
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.limit_audit import NOTHING, audit, audit_samples
from bbllm_bench.safety.recording import RecordingDriver
from bbllm_bench.safety.safety import SafetyRecorder, faults_of, tcp_positions

TABLE = SceneFile().fixtures


def to(q: np.ndarray) -> JointTrajectory:
    """A legal motion from the ready posture."""
    return joint_move(FR3, FR3.home_rad, q)


def turned(joint: int, by: float) -> np.ndarray:
    """The ready posture with one joint elsewhere [rad]."""
    return FR3.home_rad + by * np.eye(7)[joint]


def reaching(x: float, y: float, z: float) -> np.ndarray:
    """A posture whose tool points down at a point [m]."""
    found = FR3.kinematics.inverse_branches(
        top_down((x, y, z), 0.0), FR3.kinematics.q7_grid()
    ).reshape(-1, 7)
    found = found[~np.isnan(found[:, 0])]
    return found[np.abs(found - FR3.home_rad).max(axis=1).argmin()]


def table_at(z: float) -> tuple[SceneObject, ...]:
    """A table of another height [m]."""
    return SceneFile(tables=(TableSpec(z=z),)).fixtures


def test_a_motion_into_the_table_is_reported_with_its_depth() -> None:
    assert faults_of(to(reaching(0.5, 0.0, -0.05)), TABLE) == [
        'leads the tool 50 mm into the table'
    ]


@pytest.mark.parametrize(('below_m', 'safe'), [(0.0015, True), (0.003, False)])
def test_two_millimetres_below_the_table_are_allowed_and_three_are_not(
    below_m: float, safe: bool
) -> None:
    faults = faults_of(to(reaching(0.5, 0.1, 0.1)), table_at(0.1 + below_m))

    assert (faults == []) is safe


def test_beside_the_table_nothing_is_below_it() -> None:
    small = SceneFile(tables=(TableSpec(size=(0.2, 0.2)), TableSpec(name='far', z=-0.2)))

    assert faults_of(to(reaching(0.5, 0.3, -0.05)), small.fixtures) == []


def test_a_motion_beyond_the_edges_of_the_table_is_reported_with_the_place() -> None:
    behind = FR3.home_rad + np.array([2.6, 0.4, 0.0, 0.5, 0.0, 0.0, 0.0])

    (fault,) = faults_of(to(behind), TABLE)

    assert fault.startswith('leads the tool out of the work space, to (-0.38, 0.23')


def test_a_motion_too_high_is_out_of_the_work_space() -> None:
    up = np.array([0.0, -0.4, 0.0, -0.4, 0.0, 1.6, 0.785])
    up_down = np.array([0.0, 0.0, 0.0, -0.3, 0.0, 3.6, 0.785])
    assert max(FR3.kinematics.forward(up)[2, 3], FR3.kinematics.forward(up_down)[2, 3]) > 1.19

    high = max((up, up_down), key=lambda q: FR3.kinematics.forward(q)[2, 3])
    assert any('work space' in fault for fault in faults_of(to(high), TABLE))


@pytest.mark.parametrize(
    ('part', 'factor', 'word'),
    [
        ('time_s', 0.3, 'acceleration'),
        ('time_s', 0.1, 'jerk'),
        ('time_s', 0.1, 'velocity'),
        ('velocity_rad_s', 1.3, 'jumps'),
    ],
)
def test_a_motion_that_breaks_a_joint_limit_is_reported_with_the_limit(
    part: str, factor: float, word: str
) -> None:
    good = to(turned(0, 0.5))

    faults = faults_of(replace(good, **{part: factor * getattr(good, part)}), TABLE)

    assert any(word in fault for fault in faults), faults


@pytest.mark.parametrize(
    ('by', 'reported'), [(3.0, 'position limits'), (np.nan, 'not finite'), (np.inf, 'not finite')]
)
def test_an_impossible_posture_is_reported(by: float, reported: str) -> None:
    good = to(turned(0, 0.5))
    q = good.position_rad.copy()
    q[:, 6] += by

    assert any(reported in fault for fault in faults_of(replace(good, position_rad=q), TABLE))


def test_mujoco_and_the_arms_own_kinematics_agree_on_the_tool() -> None:
    rows = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 7)) + FR3.home_rad

    ours = np.array([FR3.kinematics.forward(row)[:3, 3] for row in rows])

    assert tcp_positions(rows) == pytest.approx(ours, abs=1e-6)


def test_a_normal_episode_has_no_unsafe_command_and_a_sent_one_is_counted() -> None:
    scene = load_scene('plus_sign')
    safety = SafetyRecorder(scene)
    world = TabletopWorld(scene, wrap_driver=safety.wrap)
    for cube, place in (('red_cube', 'location_C'), ('blue_cube', 'location_A')):
        assert world.execute(SkillCall('pick', (cube,))).succeeded
        assert world.execute(SkillCall('place', (place,))).succeeded
    assert world.execute(SkillCall('return_to_base')).succeeded

    assert safety.count() == 0
    assert isinstance(world.driver, RecordingDriver)
    sent = len(world.driver.trajectories)
    assert sent > 8

    start = world.driver.joint_state().position_rad
    world.driver.follow(joint_move(FR3, start, reaching(0.5, 0.0, -0.01)), Tolerances())

    assert safety.count() == safety.count() == 1
    assert safety.sentences()[0].startswith(f'Motion {sent + 1} leads the tool ')


def rest_to_rest(
    way: np.ndarray, duration_s: float, start: np.ndarray = FR3.home_rad
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


def test_a_speed_that_is_legal_elsewhere_is_counted_near_a_stop() -> None:
    way = 1.2 * np.eye(7)[1]
    elsewhere = rest_to_rest(way, 1.2, np.array([0, -1.2, 0, -1.5, 0, 1.5, 0.0]))
    near_stop = rest_to_rest(way, 1.2, np.array([0, 0.55, 0, -1.5, 0, 1.5, 0.0]))

    assert audit(elsewhere).velocity == 0
    assert audit(near_stop).velocity > 0


def test_too_much_acceleration_is_counted_and_reports_add_up() -> None:
    good = audit(joint_move(FR3, FR3.home_rad, FR3.home_rad + 0.1))
    bad = audit(rest_to_rest(0.2 * np.eye(7)[0], 0.3))  # 12.8 rad/s^2
    total = NOTHING + good + bad

    assert total.samples == good.samples + bad.samples
    assert total.violations == bad.violations
    assert total.worst == bad.worst == pytest.approx(1.283, abs=0.01)
    assert bad.acceleration > 0
    assert bad.steps > 0
    assert bad.velocity == bad.jerk == bad.position == 0


def test_a_recorded_motion_is_counted_by_what_it_breaks() -> None:
    move = to(turned(0, 0.8))
    q, dq, _ = sample(move, np.arange(0.0, move.duration_s, 0.001))

    assert audit_samples(q, dq, 1000.0).violations == 0
    assert audit_samples(q, dq, 2000.0).acceleration > 50  # played twice as fast
    jump = q + 0.001 * (np.arange(len(q)) > 100)[:, None]
    assert audit_samples(jump, dq, 1000.0).steps == 1
    assert audit_samples(q, np.where(q > 0.4, 3.0, dq), 1000.0).velocity > 50
    assert audit_samples(q + 2.5 * np.eye(7)[0], dq, 1000.0).position > 50
