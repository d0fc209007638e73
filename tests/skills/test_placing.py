"""Placing: where a thing is let go, and which sentence where it cannot be."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from laid_tables import TABLE, above_of, cube, location, motions_of, rejection_of, scene_of

from bbllm.core.types import Code, Fact, Pose, Scene, SceneObject, SkillCall
from bbllm.skills.grasps import Hand
from bbllm.skills.motions import ExpectAt


def holding(item: SceneObject, *others: SceneObject, below_m: float = 0.012) -> tuple[Scene, Hand]:
    """Return a scene in which the hand holds an item at (0.4, 0, 0.3), and that hand."""
    held = replace(item, pose=Pose(position_m=(0.4, 0.0, 0.3 - below_m)))
    hand = Hand(tcp=Pose(position_m=(0.4, 0.0, 0.3), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.04)
    return scene_of(held, *others, facts=(Fact(item.name, 'held_by', 'hand'),)), hand


def test_placing_with_an_empty_hand_says_to_pick_first() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0), location('location_A', 0.5, 0.2))

    rejection = rejection_of(SkillCall('place', ('location_A',)), scene)

    assert rejection.code is Code.NOT_HOLDING
    assert rejection.message == (
        'nothing is in the hand, so nothing can be placed; pick an object first.'
    )


def test_an_occupied_location_is_named_with_what_stands_there() -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0), location('location_G', 0.5, 0.2), cube('green_cube', 0.51, 0.21)
    )

    rejection = rejection_of(SkillCall('place', ('location_G',)), scene, hand)

    assert rejection.code is Code.OCCUPIED
    assert rejection.message == 'location_G is occupied by green_cube.'


def test_nothing_is_placed_on_a_covered_cube() -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0), cube('green_cube', 0.5, 0.2), cube('blue_cube', 0.5, 0.2, 0.06)
    )

    rejection = rejection_of(SkillCall('place', ('green_cube',)), scene, hand)

    assert rejection.code is Code.OCCUPIED
    assert rejection.message == (
        'nothing can be placed on green_cube because blue_cube stands on it.'
    )


def test_a_thing_is_not_placed_on_itself() -> None:
    scene, hand = holding(cube('red_cube', 0, 0))

    assert rejection_of(SkillCall('place', ('red_cube',)), scene, hand).code is Code.BAD_ARGUMENTS


@pytest.mark.parametrize('pose', ['0.5 0.2 0.02', '0.5 0.2 0', '0.5 0.2 0.02 30'])
def test_a_pose_on_the_table_rests_the_cube_on_it_with_its_yaw(pose: str) -> None:
    scene, hand = holding(cube('red_cube', 0, 0))

    motions = motions_of(SkillCall('place', (pose,)), scene, hand)

    expected = motions[-1]
    assert isinstance(expected, ExpectAt)
    assert expected.target.centre_m == pytest.approx((0.5, 0.2, 0.02))
    yaw = 30 if pose.endswith('30') else 0
    for grip in above_of(motions).grips:
        assert math.degrees(grip.yaw_rad) % 90 == pytest.approx(yaw, abs=1e-6)
        # The thing hangs 12 mm below the TCP and is let go half a millimetre up.
        assert grip.position_m == pytest.approx((0.5, 0.2, 0.0325))


def test_a_pose_in_the_air_is_refused_with_the_height_that_would_do() -> None:
    scene, hand = holding(cube('red_cube', 0, 0))

    rejection = rejection_of(SkillCall('place', ('0.5 0.2 0.3',)), scene, hand)

    assert rejection.code is Code.BAD_ARGUMENTS
    assert 'z = 0.020' in rejection.message


def test_a_pose_beside_the_table_is_refused() -> None:
    scene, hand = holding(cube('red_cube', 0, 0))

    rejection = rejection_of(SkillCall('place', ('0.5 0.9 0.02',)), scene, hand)

    assert rejection.code is Code.BAD_ARGUMENTS
    assert rejection.message == (
        'the pose 0.5 0.9 0.02 is not over table, which goes from x = -0.250 to 0.950 and from '
        'y = -0.800 to 0.800.'
    )


def test_without_furniture_in_the_scene_things_stand_at_height_zero() -> None:
    scene, hand = holding(cube('red_cube', 0, 0))
    bare = replace(scene, objects=tuple(item for item in scene.objects if item is not TABLE))

    target = motions_of(SkillCall('place', ('0.5 0.2 0.02',)), bare, hand)[-1]

    assert isinstance(target, ExpectAt)
    assert target.target.centre_m[2] == pytest.approx(0.02)


def test_a_cube_on_a_cube_is_aligned_with_it() -> None:
    scene, hand = holding(cube('red_cube', 0, 0), cube('green_cube', 0.5, 0.2, yaw_deg=25))

    motions = motions_of(SkillCall('place', ('green_cube',)), scene, hand)

    for grip in above_of(motions).grips:
        assert math.degrees(grip.yaw_rad) % 90 == pytest.approx(25)
        assert grip.position_m[2] == pytest.approx(0.04 + 0.02 + 0.012 + 0.0005)


def test_an_off_centre_grip_is_made_up_for_at_every_yaw() -> None:
    item = cube('red_cube', 0, 0)
    held = replace(item, pose=Pose(position_m=(0.403, 0.002, 0.29)))
    hand = Hand(tcp=Pose(position_m=(0.4, 0.0, 0.3), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.04)
    scene = scene_of(held, facts=(Fact('red_cube', 'held_by', 'hand'),))

    grips = above_of(motions_of(SkillCall('place', ('0.5 0.2 0.02',)), scene, hand)).grips

    for grip in grips:  # turn the offset by the yaw: the thing must come to the target
        cos, sin = math.cos(grip.yaw_rad), math.sin(grip.yaw_rad)
        x = grip.position_m[0] + cos * 0.003 - sin * 0.002
        y = grip.position_m[1] + sin * 0.003 + cos * 0.002
        assert (x, y) == pytest.approx((0.5, 0.2))


def test_the_last_cube_fits_into_the_middle_of_a_plus_sign() -> None:
    arms = [
        cube(f'cube_{i}', 0.5 + dx, dy)
        for i, (dx, dy) in enumerate(((0.06, 0), (-0.06, 0), (0, 0.06), (0, -0.06)))
    ]
    scene, hand = holding(cube('red_cube', 0, 0), location('location_C', 0.5, 0), *arms)

    grips = above_of(motions_of(SkillCall('place', ('location_C',)), scene, hand)).grips

    assert all(0.002 <= grip.side_room_m < 0.005 for grip in grips)


def test_placing_on_the_table_finds_a_free_spot_away_from_everything() -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0), cube('green_cube', 0.4, 0.0), location('location_A', 0.44, 0.08)
    )

    target = motions_of(SkillCall('place', ('table',)), scene, hand)[-1]

    assert isinstance(target, ExpectAt)
    x, y, _ = target.target.centre_m
    assert math.dist((x, y), (0.4, 0.0)) > 0.08 and math.dist((x, y), (0.44, 0.08)) > 0.06
