"""Poses of the hand in physics: where the hand is, and where things come to rest by it."""

import math

import numpy as np
import pytest

from bbllm.core.types import Code, Pose, Status
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.scene.scene_file import ObjectSpec
from bbllm.scene.transforms import angle_between, compose, inverse
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.worlds.small_tables import RED, run, world_of

GREEN = ObjectSpec(name='green_cube', kind='cube', xy=(0.5, -0.05), yaw_deg=-10)


HALF_TURN = Pose(position_m=(0.0, 0.0, 0.0), quat_xyzw=(0.0, 0.0, 1.0, 0.0))


def down(x: float, y: float, z: float, yaw_deg: float) -> Pose:
    half = math.radians(yaw_deg) / 2
    return Pose(position_m=(x, y, z), quat_xyzw=(math.cos(half), math.sin(half), 0.0, 0.0))


def written(pose: Pose) -> str:
    return ' '.join(f'{value:.5f}' for value in (*pose.position_m, *pose.quat_xyzw))


def tcp_of(world: TabletopWorld) -> Pose:
    """Return where the hand is, by the joints and not by what was asked."""
    return pose_of_matrix(FR3.kinematics.forward(world.driver.joint_state().position_rad))


def turned_by_deg(one: Pose, other: Pose, alike_deg: float) -> float:
    """Return by how much two yaws differ, for what looks the same after some turn [deg]."""
    turn = compose(inverse(one), other).quat_xyzw
    yaw_deg = math.degrees(2 * math.atan2(turn[2], turn[3]))
    return abs(math.remainder(yaw_deg, alike_deg))


@pytest.mark.parametrize('yaw_deg', [35.0, -120.0, 180.0])
def test_reach_brings_the_hand_to_the_pose_or_half_a_turn_from_it(yaw_deg: float) -> None:
    world = world_of(RED)
    asked = down(0.5, -0.1, 0.2, yaw_deg)

    [outcome] = run(world, f'reach {written(asked)}')

    assert outcome.succeeded, outcome.message
    reached = tcp_of(world)
    assert reached.position_m == pytest.approx(asked.position_m, abs=2e-3)
    turned = compose(asked, HALF_TURN)
    error_rad = min(angle_between(reached.quat_xyzw, pose.quat_xyzw) for pose in (asked, turned))
    assert math.degrees(error_rad) < 0.5


@pytest.mark.parametrize('yaw_deg', [35.0, -120.0, 180.0])
def test_a_cube_stands_where_the_pose_of_the_hand_has_it_at_any_yaw(yaw_deg: float) -> None:
    world = world_of(RED)
    run(world, 'pick red_cube')
    in_hand = compose(inverse(tcp_of(world)), world.settled()['red_cube'])
    asked = down(0.5, -0.1, 0.035, yaw_deg)

    [outcome] = run(world, f'place {written(asked)}')

    assert outcome.succeeded, outcome.message
    rests, wanted = world.settled()['red_cube'], compose(asked, in_hand)
    assert rests.position_m[:2] == pytest.approx(wanted.position_m[:2], abs=2e-3)
    assert rests.position_m[2] == pytest.approx(0.02, abs=1e-3)
    assert turned_by_deg(wanted, rests, 90.0) < 1.0
    # The hand has risen straight up from where it let go.
    left = tcp_of(world)
    assert left.position_m[:2] == pytest.approx(asked.position_m[:2], abs=2e-3)
    assert turned_by_deg(asked, left, 180.0) < 0.5


def test_poses_that_will_not_do_are_refused_and_nothing_moves() -> None:
    world = world_of(RED, GREEN)
    run(world, 'pick red_cube')
    before = world.driver.joint_state().position_rad.copy()

    refused = {
        'pick green_cube': Code.ALREADY_HOLDING,
        'place 0.5 0.2 0.3 1 0 0 0': Code.BAD_ARGUMENTS,
        'place 0.5 0.2 -0.1 1 0 0 0': Code.BAD_ARGUMENTS,
        'place 0.5 -0.05 0.03 1 0 0 0': Code.OCCUPIED,
        'place 0.85 0.45 0.03 1 0 0 0': Code.OUT_OF_WORKSPACE,
        'place 0.5 0.2 0.03 0 0 0 1': Code.BAD_ARGUMENTS,
        'reach 0.85 0.45 0.2 1 0 0 0': Code.OUT_OF_WORKSPACE,
        'reach 0.5 -0.05 0.05 1 0 0 0': Code.NO_PATH,
        'reach 0.5 0.2 0.0 1 0 0 0': Code.NO_PATH,
    }

    outcomes = run(world, *refused)

    assert {outcome.status for outcome in outcomes} == {Status.REJECTED}
    assert [outcome.code for outcome in outcomes] == [*refused.values()]
    assert 'green_cube is in the way' in outcomes[-2].message
    assert 'table is in the way' in outcomes[-1].message
    assert np.abs(world.driver.joint_state().position_rad - before).max() < 2e-3
    [empty] = run(world, 'open_gripper', 'place 0.5 0.2 0.03 1 0 0 0')[1:]
    assert empty.code is Code.NOT_HOLDING
    assert empty.message == (
        'nothing is in the hand, so nothing can be placed; pick an object first.'
    )
