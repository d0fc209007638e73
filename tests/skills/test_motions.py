"""Motions: which grips, and which sentence where there are none."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bbllm.core.types import Code, Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import FINGER_LAYERS, Hand
from bbllm.skills.motions import (
    CloseOn,
    Descend,
    ExpectAt,
    ExpectHeld,
    MotionParams,
    Motions,
    MoveAbove,
    MoveToBase,
    OpenTo,
    Pause,
    Rise,
    plan_motions,
)
from bbllm.skills.rejection import Rejection

TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.35, 0.0, -0.02)),
    size_m=(1.2, 1.6, 0.04),
)
OPEN_HAND = Hand(
    tcp=Pose(position_m=(0.31, 0.0, 0.49), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.08
)


def cube(
    name: str, x: float, y: float, z: float = 0.02, yaw_deg: float = 0.0, edge_m: float = 0.04
) -> SceneObject:
    half = math.radians(yaw_deg) / 2
    pose = Pose(position_m=(x, y, z), quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(edge_m,) * 3)


def cylinder(name: str, x: float, y: float, height_m: float = 0.04) -> SceneObject:
    pose = Pose(position_m=(x, y, height_m / 2))
    return SceneObject(name=name, kind=Kind.CYLINDER, pose=pose, size_m=(0.04, 0.04, height_m))


def location(name: str, x: float, y: float) -> SceneObject:
    return SceneObject(name=name, kind=Kind.LOCATION, pose=Pose(position_m=(x, y, 0.0)))


def scene_of(*objects: SceneObject, facts: tuple[Fact, ...] = ()) -> Scene:
    return Scene((*objects, TABLE), SKILLS, facts, 0.0)


def holding(item: SceneObject, *others: SceneObject, below_m: float = 0.012) -> tuple[Scene, Hand]:
    """Return a scene in which the hand holds an item at (0.4, 0, 0.3), and that hand."""
    held = replace(item, pose=Pose(position_m=(0.4, 0.0, 0.3 - below_m)))
    hand = Hand(tcp=Pose(position_m=(0.4, 0.0, 0.3), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.04)
    return scene_of(held, *others, facts=(Fact(item.name, 'held_by', 'hand'),)), hand


def motions_of(call: SkillCall, scene: Scene, hand: Hand = OPEN_HAND) -> Motions:
    motions = plan_motions(call, scene, hand)
    assert not isinstance(motions, Rejection), motions
    return motions


def rejection_of(call: SkillCall, scene: Scene, hand: Hand = OPEN_HAND) -> Rejection:
    rejection = plan_motions(call, scene, hand)
    assert isinstance(rejection, Rejection), rejection
    return rejection


def above_of(motions: Motions) -> MoveAbove:
    return next(motion for motion in motions if isinstance(motion, MoveAbove))


def test_pick_moves_opens_descends_closes_rises_and_looks() -> None:
    motions = motions_of(SkillCall('pick', ('red_cube',)), scene_of(cube('red_cube', 0.5, 0.1)))

    assert [type(motion) for motion in motions] == [
        MoveAbove, OpenTo, Descend, CloseOn, Rise, ExpectHeld,
    ]  # fmt: skip


def test_a_free_cube_offers_two_axes_both_ways_round_with_full_room() -> None:
    motions = motions_of(
        SkillCall('pick', ('red_cube',)), scene_of(cube('red_cube', 0.5, 0.1, yaw_deg=20))
    )

    grips = above_of(motions).grips
    assert sorted(round(math.degrees(grip.yaw_rad)) % 360 for grip in grips) == [20, 110, 200, 290]
    assert {round(grip.opening_m, 4) for grip in grips} == {0.064}


def test_a_free_cylinder_can_be_gripped_from_many_sides() -> None:
    motions = motions_of(SkillCall('pick', ('can',)), scene_of(cylinder('can', 0.5, 0.1)))

    assert len({round(grip.yaw_rad, 3) for grip in above_of(motions).grips}) == 12


def test_fingers_open_away_from_a_neighbour() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0.0), cube('green_cube', 0.5, 0.05))

    grips = above_of(motions_of(SkillCall('pick', ('red_cube',)), scene)).grips

    # The neighbour is along y, so the fingers must open along x: a yaw of 90 degrees.
    assert {abs(round(math.degrees(grip.yaw_rad))) for grip in grips} == {90}


def test_fingers_open_less_between_neighbours_at_six_centimetres() -> None:
    ring = [
        cube(f'cube_{i}', 0.5 + dx, dy)
        for i, (dx, dy) in enumerate(((0.06, 0), (-0.06, 0), (0, 0.06), (0, -0.06)))
    ]

    grips = above_of(
        motions_of(SkillCall('pick', ('red_cube',)), scene_of(cube('red_cube', 0.5, 0.0), *ring))
    ).grips

    for grip in grips:
        outer_face = grip.opening_m / 2 + FINGER_LAYERS[0].outer_m
        assert grip.opening_m >= 0.044
        assert outer_face <= 0.04 - 0.001 + 1e-9  # the neighbours' faces are 4 cm away


def test_neighbours_that_leave_no_room_are_named() -> None:
    ring = [
        cube(f'cube_{i}', 0.5 + dx, dy)
        for i, (dx, dy) in enumerate(((0.045, 0), (-0.045, 0), (0, 0.045), (0, -0.045)))
    ]

    rejection = rejection_of(
        SkillCall('pick', ('red_cube',)), scene_of(cube('red_cube', 0.5, 0.0), *ring)
    )

    assert rejection.code is Code.NO_CLEARANCE
    assert 'cube_0' in rejection.message and 'cube_3' in rejection.message


def test_a_tall_neighbour_blocks_the_palm_but_a_low_one_does_not() -> None:
    low = scene_of(cube('red_cube', 0.5, 0.0), cylinder('can', 0.5, 0.07, height_m=0.05))
    tall = scene_of(cube('red_cube', 0.5, 0.0), cylinder('can', 0.5, 0.07, height_m=0.12))

    assert len(above_of(motions_of(SkillCall('pick', ('red_cube',)), low)).grips) == 4
    assert len(above_of(motions_of(SkillCall('pick', ('red_cube',)), tall)).grips) == 2


def test_finger_tips_stay_off_the_table_and_the_palm_off_the_thing() -> None:
    for item in (cube('thing', 0.5, 0, 0.01, edge_m=0.02), cylinder('thing', 0.5, 0, 0.16)):
        grips = above_of(motions_of(SkillCall('pick', ('thing',)), scene_of(item))).grips
        for grip in grips:
            assert grip.position_m[2] - 0.0095 >= 0.0019
            assert item.pose.position_m[2] + item.size_m[2] / 2 <= grip.position_m[2] + 0.0384


@pytest.mark.parametrize(
    ('facts', 'code', 'message'),
    [
        (
            (Fact('green_cube', 'on', 'red_cube'),),
            Code.COVERED,
            'red_cube cannot be picked because green_cube stands on it.',
        ),
        (
            (Fact('green_cube', 'held_by', 'hand'),),
            Code.ALREADY_HOLDING,
            'red_cube cannot be picked because green_cube is in the hand; place that first.',
        ),
        (
            (Fact('red_cube', 'held_by', 'hand'),),
            Code.ALREADY_HOLDING,
            'red_cube is in the hand already.',
        ),
    ],
)
def test_pick_is_rejected_with_the_fact_that_forbids_it(
    facts: tuple[Fact, ...], code: Code, message: str
) -> None:
    scene = scene_of(cube('red_cube', 0.5, 0), cube('green_cube', 0.4, 0.2), facts=facts)

    rejection = rejection_of(SkillCall('pick', ('red_cube',)), scene)

    assert (rejection.code, rejection.message) == (code, message)


@pytest.mark.parametrize('name', ['location_A', 'table', 'crate'])
def test_what_no_hand_can_grip_is_not_graspable(name: str) -> None:
    scene = scene_of(location('location_A', 0.5, 0), cube('crate', 0.4, 0.3, 0.05, edge_m=0.1))

    assert rejection_of(SkillCall('pick', (name,)), scene).code is Code.NOT_GRASPABLE


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
    assert rejection.message == 'the pose 0.5 0.9 0.02 is not over table.'


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


def test_reach_hovers_over_an_object_and_goes_to_a_pose() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0.1))

    over = above_of(motions_of(SkillCall('reach', ('red_cube',)), scene))
    at = above_of(motions_of(SkillCall('reach', ('0.4 0.2 0.3',)), scene))

    assert over.grips[0].position_m == pytest.approx((0.5, 0.1, 0.04 + MotionParams().hover_m))
    assert at.grips[0].position_m == pytest.approx((0.4, 0.2, 0.3))


def test_the_plain_skills_become_one_motion_each() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0.1))

    assert motions_of(SkillCall('return_to_base'), scene) == (MoveToBase(),)
    assert motions_of(SkillCall('wait', ('2.5',)), scene) == (Pause(2.5),)
    assert motions_of(SkillCall('open_gripper'), scene) == (OpenTo(0.08),)


def test_parameters_set_the_height_of_the_hover() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0.1))

    motions = plan_motions(
        SkillCall('pick', ('red_cube',)), scene, OPEN_HAND, MotionParams(hover_m=0.07)
    )

    assert not isinstance(motions, Rejection)
    assert above_of(motions).hover_m == 0.07
