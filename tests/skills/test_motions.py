"""Motions: which grips, and which sentence where there are none."""

from __future__ import annotations

import math

import pytest
from laid_tables import (
    OPEN_HAND,
    above_of,
    cube,
    cylinder,
    location,
    motions_of,
    rejection_of,
    scene_of,
)

from bbllm.core.types import Code, Fact, SkillCall
from bbllm.skills.grasps import FINGER_LAYERS
from bbllm.skills.motions import (
    CloseOn,
    Descend,
    ExpectHeld,
    LiftOff,
    MotionParams,
    MoveAbove,
    MoveToBase,
    OpenTo,
    Pause,
    Rise,
    plan_motions,
)
from bbllm.skills.rejection import Rejection


def test_pick_moves_opens_descends_closes_lifts_off_rises_and_looks() -> None:
    motions = motions_of(SkillCall('pick', ('red_cube',)), scene_of(cube('red_cube', 0.5, 0.1)))

    assert [type(motion) for motion in motions] == [
        MoveAbove, OpenTo, Descend, CloseOn, LiftOff, Rise, ExpectHeld,
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
