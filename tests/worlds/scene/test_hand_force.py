"""What the hand feels: readings at rest, averaged, and what a thing in it weighs by them."""

import math

import pytest

from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.motion.motion_planner import GraspPlannerParams
from bbllm.core.observation import observed
from bbllm.core.types import Pose
from bbllm.scene.hand_force import ForceFilter, hand_reading
from bbllm.scene.scene_file import ObjectSpec, SceneFile
from bbllm.skills.grasps import Hand
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.worlds.small_tables import RED, run

DOWN = (0.0, 0.0, -1.0)
UP = (0.0, 0.0, 1.0)
GRAVITY_M_S2 = 9.81


def test_the_force_is_the_mean_of_the_readings_in_the_window() -> None:
    force = ForceFilter()
    for stamp_s, reading in ((0.5, UP), (1.0, (1.0, 0.0, -2.0)), (1.1, (3.0, 0.0, -4.0))):
        force.add(reading, stamp_s)

    assert force.force_n(1.1) == pytest.approx((2.0, 0.0, -3.0))
    assert force.force_n(1.25) == pytest.approx((3.0, 0.0, -4.0))
    assert force.force_n(1.4) is None


def test_readings_that_come_closer_than_a_hundred_a_second_are_left_out() -> None:
    force = ForceFilter()
    force.add(DOWN, 1.0)
    for i in range(1, 10):
        force.add(UP, 1.0 + i * 1e-3)
    force.add(DOWN, 1.01)

    assert force.force_n(1.01) == DOWN


def test_what_was_read_before_and_during_a_motion_does_not_count() -> None:
    force = ForceFilter()
    force.add(UP, 1.0)
    force.add(UP, 1.01, 0.5)
    assert force.force_n(1.01) is None

    force.add(DOWN, 1.02)

    assert force.force_n(1.02) == DOWN


def test_a_clock_that_goes_back_begins_anew() -> None:
    force = ForceFilter()
    force.add(UP, 9.0)
    force.add(DOWN, 0.5)

    assert force.force_n(0.5) == DOWN


@pytest.mark.parametrize('yaw_deg', [*range(-180, 181, 15), *range(-160, 161, 20)])
def test_a_hand_that_trembles_about_a_usual_yaw_does_not_change_the_sign_of_its_quaternion(
    yaw_deg: float,
) -> None:
    reported = []
    for tremble_deg in (-0.1, 0.1):
        half = math.radians(yaw_deg + tremble_deg) / 2
        tcp = Pose(position_m=(0.4, 0, 0.1), quat_xyzw=(math.cos(half), math.sin(half), 0, 0))
        reported.append(hand_reading(Hand(tcp=tcp, width_m=0.04), DOWN).tcp.quat_xyzw)

    assert reported[0] == pytest.approx(reported[1], abs=0.01)


@pytest.mark.parametrize('mass_kg', [0.05, 0.15, 0.4])
def test_an_object_in_the_hand_pulls_it_down_by_its_weight(mass_kg: float) -> None:
    world = _world(mass_kg)

    [outcome] = run(world, 'pick red_cube')

    assert outcome.message == ''
    hand = world.observe().hand
    assert hand is not None and hand.force_n is not None
    assert hand.force_n == pytest.approx((0.0, 0.0, -GRAVITY_M_S2 * mass_kg), abs=0.02)
    assert hand.width_m == pytest.approx(0.04, abs=1e-3)
    assert hand.tcp.position_m[:2] == pytest.approx(RED.xy, abs=2e-3)
    assert hand.tcp.position_m[2] > 0.09
    run(world, 'return_to_base')
    hand = world.observe().hand
    assert hand is not None and hand.force_n is not None
    assert hand.force_n[2] == pytest.approx(-GRAVITY_M_S2 * mass_kg, abs=0.02)


def test_only_a_world_that_weighs_lets_time_pass_for_a_force_and_only_once() -> None:
    for weighs in (False, True):
        world = TabletopWorld(SceneFile(objects=(RED,)), weighs=weighs)
        run(world, 'pick red_cube')
        ended_s = world.time_s
        hand, felt_s = world.observe().hand, world.time_s
        assert hand is not None and hand.force_n is not None
        assert (felt_s - ended_s >= 0.2) is weighs
        assert world.observe().hand is not None
        assert world.time_s == felt_s


def test_the_mean_scatters_less_than_a_reading_and_has_the_bias_of_its_episode() -> None:
    world = _world(0.1, seed=3)
    run(world, 'pick red_cube')
    first = world.observe().hand
    readings = [world.robot.flange_wrench()[2] for _ in range(400)]
    run(world, 'wait 1')
    second = world.observe().hand

    assert first is not None and first.force_n is not None
    assert second is not None and second.force_n is not None
    # the flange's z points down, the world's up; three standard deviations of a mean of twenty
    mean_n = -sum(readings) / len(readings)
    for hand in (first, second):
        assert hand.force_n is not None
        assert hand.force_n[2] == pytest.approx(mean_n, abs=3 * 0.2 / math.sqrt(20))
    assert first.force_n != second.force_n


def test_the_same_calls_give_the_same_readings_whatever_time_the_motions_take() -> None:
    reported, times_s = [], []
    for scale in (0.8, 0.7):
        params = ExecutorParams(ways=GraspPlannerParams(scale=scale))
        world = TabletopWorld(SceneFile(objects=(RED,)), seed=3, weighs=True, params=params)
        lines = [str(observed(world.observe()))]
        for call in ('pick red_cube', 'wait 1', 'place 0.4 0.2 0.02'):
            [outcome] = run(world, call)
            assert outcome.message == ''
            lines.append(str(observed(world.observe())))
        reported.append([line.partition('Force: ')[2].partition(']')[0] for line in lines])
        times_s.append(world.time_s)

    assert times_s[1] > times_s[0] + 0.1
    assert reported[0] == reported[1]
    assert len(set(reported[0])) == 4


def _world(mass_kg: float, seed: int | None = None) -> TabletopWorld:
    red = ObjectSpec(name=RED.name, kind=RED.kind, xy=RED.xy, yaw_deg=RED.yaw_deg, mass=mass_kg)
    return TabletopWorld(SceneFile(objects=(red,)), seed=seed, weighs=True)
