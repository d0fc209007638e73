"""Motions: which grips, and which sentence where there are none."""

import math
import re
from dataclasses import replace

import pytest

from bbllm.core.types import Code, Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import FINGER_LAYERS, HAND_HALF_M, PALM_GAP_M, Hand
from bbllm.skills.motions import plan_motion
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, Motion
from tests.skills.laid_tables import (
    OPEN_HAND,
    cube,
    cylinder,
    picked,
    reached,
    rejection_of,
    scene_of,
)


def test_a_free_cube_offers_two_axes_both_ways_round_with_full_room() -> None:
    grips = picked(scene_of(cube('red_cube', 0.5, 0.1, yaw_deg=20))).grips

    assert sorted(round(math.degrees(grip.yaw_rad)) % 360 for grip in grips) == [20, 110, 200, 290]
    assert {round(grip.opening_m, 4) for grip in grips} == {0.064}


def test_fingers_open_less_between_neighbours_at_six_centimetres() -> None:
    ring = [
        cube(f'cube_{i}', 0.5 + dx, dy)
        for i, (dx, dy) in enumerate(((0.06, 0), (-0.06, 0), (0, 0.06), (0, -0.06)))
    ]

    grips = picked(scene_of(cube('red_cube', 0.5, 0.0), *ring)).grips

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
    assert (
        'along y, 5 of 18 mm are free beside cube_2 (to the left) and 5 of 18 beside cube_3 (to '
        'the right)' in rejection.message
    )


def test_the_reach_of_the_hand_that_place_states_is_the_room_that_it_needs() -> None:
    place = next(skill for skill in SKILLS if skill.name == 'place')
    found = re.search(
        r'covers (\d+) mm each way along the fingers, (\d+) across.* be (\d+) mm higher',
        place.summary,
    )
    assert found is not None
    along_mm, across_mm, higher_mm = map(int, found.groups())

    def is_free(apart_mm: float, taller_mm: float) -> bool:
        """Look at a pole to the left of a cube that can be gripped along one axis alone."""
        pole = cylinder('pole', 0.5, 0.02 + apart_mm / 1000, 0.04 + taller_mm / 1000)
        ring = [cube('near_cube', 0.455, 0.0), cube('far_cube', 0.545, 0.0)]
        scene = scene_of(cube('red_cube', 0.5, 0.0), *ring, pole)
        return isinstance(plan_motion(SkillCall('pick', ('red_cube',)), scene, OPEN_HAND), Motion)

    assert is_free(along_mm + 1, higher_mm + 2)  # a circle counts as a polygon around it
    assert not is_free(along_mm - 1, higher_mm + 2)
    assert is_free(along_mm - 1, higher_mm - 1)
    assert across_mm == math.ceil(1000 * (HAND_HALF_M[0] + PALM_GAP_M))


def test_what_would_be_under_the_hand_is_named_with_the_way_out() -> None:
    bottle = cylinder('bottle', 0.5, 0.08, 0.2)
    ring = [cube('left_cube', 0.455, 0.0), cube('right_cube', 0.545, 0.0)]  # close the x axis

    def refused(y: float) -> str:
        there = replace(bottle, pose=Pose(position_m=(0.5, y, 0.1)))
        motion = plan_motion(
            SkillCall('pick', ('red_cube',)),
            scene_of(cube('red_cube', 0.5, 0.0), *ring, there),
            OPEN_HAND,
        )
        return motion.message if isinstance(motion, Rejection) else ''

    found = re.search(
        r'along y, bottle would be under the hand unless it stood (\d+) mm to the left',
        refused(0.08),
    )
    assert found is not None
    stated_m = int(found[1]) / 1000
    assert not refused(0.08 + stated_m)
    assert refused(0.08 + stated_m - 0.002)


@pytest.mark.parametrize(
    ('pattern', 'higher_m'),
    [
        (r'(\d+) mm have to be free', 0.0),
        (r'(\d+) beside what is higher', 0.013),
        (r'(\d+) if by 13 mm or', 0.015),
    ],
)
def test_the_room_that_pick_states_is_the_room_that_it_needs(
    pattern: str, higher_m: float
) -> None:
    def motion(room_m: float) -> object:
        edge_m = 0.04 + higher_m
        reach = 0.02 + room_m + edge_m / 2
        ring = [
            cube(f'cube_{i}', 0.5 + dx, dy, edge_m / 2, edge_m=edge_m)
            for i, (dx, dy) in enumerate(((reach, 0), (-reach, 0), (0, reach), (0, -reach)))
        ]
        scene = scene_of(cube('red_cube', 0.5, 0.0), *ring)
        return plan_motion(SkillCall('pick', ('red_cube',)), scene, OPEN_HAND)

    pick = next(skill for skill in SKILLS if skill.name == 'pick')
    found = re.search(pattern, pick.summary)
    assert found is not None
    stated_m = int(found[1]) / 1000
    assert isinstance(motion(stated_m), Motion)
    assert isinstance(motion(stated_m - 0.001), Rejection)


@pytest.mark.parametrize('height_m', [0.03, 0.06, 0.1])
def test_the_room_that_pick_states_for_the_kind_other_is_enough_beside_what_is_as_high(
    height_m: float,
) -> None:
    pick = next(skill for skill in SKILLS if skill.name == 'pick')
    found = re.search(r'(\d+) if by 13 mm or if .* of the kind other', pick.summary)
    assert found is not None
    apart = 0.04 + int(found[1]) / 1000
    pears = [
        SceneObject(
            name=f'pear_{i}',
            kind=Kind.OTHER,
            pose=Pose(position_m=(0.5 + dx, dy, height_m / 2)),
            size_m=(0.04, 0.04, height_m),
        )
        for i, (dx, dy) in enumerate(((0, 0), (apart, 0), (-apart, 0), (0, apart), (0, -apart)))
    ]

    assert picked(scene_of(*pears), name='pear_0').grips


def test_finger_tips_stay_off_the_table_and_the_palm_off_the_object() -> None:
    for item in (cube('thing', 0.5, 0, 0.01, edge_m=0.02), cylinder('thing', 0.5, 0, 0.16)):
        grips = picked(scene_of(item), name='thing').grips
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


def test_reach_hovers_over_an_object_and_goes_to_a_pose() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0.1))

    over = reached(SkillCall('reach', ('red_cube',)), scene)
    at = reached(SkillCall('reach', ('0.4 0.2 0.3',)), scene)

    assert over.grips[0].position_m == pytest.approx((0.5, 0.1, 0.04 + HOVER_M))
    assert at.grips[0].position_m == pytest.approx((0.4, 0.2, 0.3))


def reach(x: float, y: float, z: float, yaw_deg: float = 0.0) -> SkillCall:
    half = math.radians(yaw_deg) / 2
    return SkillCall('reach', (f'{x} {y} {z} {math.cos(half)} {math.sin(half)} 0 0',))


def holding(item: SceneObject, *others: SceneObject) -> tuple[Scene, Hand]:
    """Return a scene in which the hand holds an item 12 mm below the TCP, and that hand."""
    held = replace(item, pose=Pose(position_m=(0.4, 0.0, 0.288)))
    hand = Hand(tcp=Pose(position_m=(0.4, 0.0, 0.3), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.04)
    return scene_of(held, *others, facts=(Fact(item.name, 'held_by', 'hand'),)), hand


@pytest.mark.parametrize('yaw_deg', [0.0, 35.0, -120.0])
def test_the_hand_gets_the_yaw_of_its_quaternion_or_half_a_turn_more(yaw_deg: float) -> None:
    grips = reached(reach(0.4, 0.2, 0.3, yaw_deg), scene_of()).grips

    for grip, wanted in zip(grips, (yaw_deg, yaw_deg + 180), strict=True):
        turn = grip.yaw_rad - math.radians(wanted)
        assert math.cos(turn) == pytest.approx(1.0)
        assert grip.position_m == pytest.approx((0.4, 0.2, 0.3))


def test_what_is_held_on_its_side_hangs_below_the_hand_by_its_height_as_it_is_held() -> None:
    half = math.radians(90) / 2
    lying = Pose(position_m=(0.4, 0.0, 0.288), quat_xyzw=(math.sin(half), 0, 0, math.cos(half)))
    scene, hand = holding(cylinder('can', 0, 0, height_m=0.12), cube('red_cube', 0.5, 0.0))
    can, *others = scene.objects
    scene = replace(scene, objects=(replace(can, pose=lying), *others))

    upright = reached(SkillCall('reach', ('red_cube',)), *holding(can, *others[:-1]))
    on_side = reached(SkillCall('reach', ('red_cube',)), scene, hand)

    # The can is 12 cm long and 4 cm thick.
    for low, high in zip(on_side.grips, upright.grips, strict=True):
        assert high.position_m[2] - low.position_m[2] == pytest.approx(0.06 - 0.02)
