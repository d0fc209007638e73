"""Placing: where a thing is let go, and which sentence where it cannot be."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.skill_calls import PoseLiteral, format_pose
from bbllm.core.types import Code, Fact, Pose, Scene, SceneObject, SkillCall
from bbllm.scene.transforms import compose
from bbllm.skills.grasps import Hand
from bbllm.skills.placing import PlaceTarget
from bbllm.skills.rejection import Rejection
from tests.skills.laid_tables import (
    cube,
    location,
    placed,
    rejection_of,
    scene_of,
)


def holding(item: SceneObject, *others: SceneObject, below_m: float = 0.012) -> tuple[Scene, Hand]:
    """Return a scene in which the hand holds an item at (0.4, 0, 0.3), and that hand."""
    held = replace(item, pose=Pose(position_m=(0.4, 0.0, 0.3 - below_m)))
    hand = Hand(tcp=Pose(position_m=(0.4, 0.0, 0.3), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.04)
    return scene_of(held, *others, facts=(Fact(item.name, 'held_by', 'hand'),)), hand


@pytest.mark.parametrize(
    ('target', 'message'),
    [
        (
            'location_G',
            'location_G is occupied by yellow_cube: red_cube needs 30 mm more room.',
        ),
        ('green_cube', 'nothing can be placed on green_cube because blue_cube stands on it.'),
    ],
)
def test_what_occupies_a_place_is_named(target: str, message: str) -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0),
        *(location('location_G', 0.5, -0.2), cube('yellow_cube', 0.51, -0.21)),
        *(cube('green_cube', 0.5, 0.2), cube('blue_cube', 0.5, 0.2, 0.06)),
    )

    rejection = rejection_of(SkillCall('place', (target,)), scene, hand)

    assert (rejection.code, rejection.message) == (Code.OCCUPIED, message)


@pytest.mark.parametrize('pose', ['0.5 0.2 0.02', '0.5 0.2 0', '0.5 0.2 0.02 30'])
def test_a_pose_on_the_table_rests_the_cube_on_it_with_its_yaw(pose: str) -> None:
    scene, hand = holding(cube('red_cube', 0, 0))

    put = placed(SkillCall('place', (pose,)), scene, hand)

    assert put.target.centre_m == pytest.approx((0.5, 0.2, 0.02))
    yaw = 30 if pose.endswith('30') else 0
    for grip in put.above.grips:
        assert math.degrees(grip.yaw_rad) % 90 == pytest.approx(yaw, abs=1e-6)
        # The thing hangs 12 mm below the TCP and is let go half a millimetre up.
        assert grip.position_m == pytest.approx((0.5, 0.2, 0.0325))


def test_a_pose_in_the_air_is_refused_with_the_height_that_would_do() -> None:
    scene, hand = holding(cube('red_cube', 0, 0))

    rejection = rejection_of(SkillCall('place', ('0.5 0.2 0.3',)), scene, hand)

    assert rejection.code is Code.BAD_ARGUMENTS
    assert 'z = 0.020' in rejection.message


def test_a_cube_on_a_cube_is_aligned_with_it() -> None:
    scene, hand = holding(cube('red_cube', 0, 0), cube('green_cube', 0.5, 0.2, yaw_deg=25))

    put = placed(SkillCall('place', ('green_cube',)), scene, hand)

    for grip in put.above.grips:
        assert math.degrees(grip.yaw_rad) % 90 == pytest.approx(25)
        assert grip.position_m[2] == pytest.approx(0.04 + 0.02 + 0.012 + 0.0005)


def test_an_off_centre_grip_is_made_up_for_at_every_yaw() -> None:
    item = cube('red_cube', 0, 0)
    held = replace(item, pose=Pose(position_m=(0.403, 0.002, 0.29)))
    hand = Hand(tcp=Pose(position_m=(0.4, 0.0, 0.3), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.04)
    scene = scene_of(held, facts=(Fact('red_cube', 'held_by', 'hand'),))

    grips = placed(SkillCall('place', ('0.5 0.2 0.02',)), scene, hand).above.grips

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

    grips = placed(SkillCall('place', ('location_C',)), scene, hand).above.grips

    assert all(0.002 <= grip.side_room_m < 0.005 for grip in grips)


def test_placing_on_the_table_finds_a_free_spot_away_from_everything() -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0), cube('green_cube', 0.4, 0.0), location('location_A', 0.44, 0.08)
    )

    x, y, _ = placed(SkillCall('place', ('table',)), scene, hand).target.centre_m

    assert math.dist((x, y), (0.4, 0.0)) > 0.08 and math.dist((x, y), (0.44, 0.08)) > 0.06


GAP_M = 0.0005
"""How far above the surface a thing is let go [m]."""


def downward(yaw_deg: float) -> tuple[float, float, float, float]:
    half = math.radians(yaw_deg) / 2
    return (math.cos(half), math.sin(half), 0.0, 0.0)


def tcp(x: float, y: float, z: float, yaw_deg: float = 0.0) -> Pose:
    return Pose(position_m=(x, y, z), quat_xyzw=downward(yaw_deg))


def place(pose: Pose) -> SkillCall:
    literal = PoseLiteral(position_m=pose.position_m, quat_xyzw=pose.quat_xyzw)
    return SkillCall('place', (format_pose(literal),))


def held_at(
    in_hand: Pose, item: SceneObject, *others: SceneObject, hand_yaw_deg: float = 0.0
) -> tuple[Scene, Hand]:
    """Return a scene in which the hand holds an item, with its pose in the frame of the TCP."""
    hand = Hand(tcp=tcp(0.4, 0.0, 0.3, hand_yaw_deg), width_m=0.04)
    held = replace(item, pose=compose(hand.tcp, in_hand))
    return scene_of(held, *others, facts=(Fact(item.name, 'held_by', 'hand'),)), hand


def upright(x: float, y: float, z: float, yaw_deg: float = 0.0) -> Pose:
    """Return the pose, in the frame of a TCP that points down, of what stands upright."""
    return compose(
        Pose(position_m=(x, y, z), quat_xyzw=(1, 0, 0, 0)), cube('', 0, 0, 0, yaw_deg).pose
    )


def target_of(call: SkillCall, scene: Scene, hand: Hand) -> PlaceTarget:
    return placed(call, scene, hand).target


CENTRED = upright(0.0, 0.0, 0.012)
yaws = st.floats(-180, 180)
shifts = st.floats(-0.004, 0.004)


@given(yaws, yaws, shifts, shifts, st.floats(0.0, 0.012), st.floats(-0.02, 0.02))
def test_an_object_comes_to_rest_where_it_is_in_the_hand_when_the_hand_is_there(
    asked_deg: float, now_deg: float, dx: float, dy: float, dz: float, high_m: float
) -> None:
    in_hand = upright(dx, dy, dz, yaw_deg=7.0)
    scene, hand = held_at(in_hand, cube('red_cube', 0, 0), hand_yaw_deg=now_deg)
    asked = tcp(0.5, 0.2, 0.02 + dz + high_m, asked_deg)

    call = place(asked)

    rests = compose(asked, in_hand)
    target = target_of(call, scene, hand)
    assert target.centre_m == pytest.approx((*rests.position_m[:2], 0.02), abs=2e-4)
    assert target.hand_yaw_rad is not None
    held_yaw = 2 * math.atan2(rests.quat_xyzw[2], rests.quat_xyzw[3])
    assert math.cos(4 * (target.yaw_rad - held_yaw)) == pytest.approx(1.0, abs=1e-4)
    first, second = placed(call, scene, hand).above.grips
    turns = [math.radians(asked_deg) - grip.yaw_rad for grip in (first, second)]
    assert math.cos(2 * turns[0]) == pytest.approx(1.0, abs=1e-4)
    assert math.cos(turns[0] - turns[1]) == pytest.approx(-1.0)
    # With the yaw that was asked the hand is where it was asked, but for the height.
    asked_grip = min(
        (first, second), key=lambda grip: -math.cos(grip.yaw_rad - math.radians(asked_deg))
    )
    assert asked_grip.position_m == pytest.approx((0.5, 0.2, 0.02 + dz + GAP_M), abs=2e-4)


def test_a_hand_that_is_asked_to_tilt_a_little_comes_straight_down_at_the_same_point() -> None:
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0))
    half = math.radians(6) / 2
    tilted = Pose(position_m=(0.5, 0.2, 0.032), quat_xyzw=(math.cos(half), 0, math.sin(half), 0))

    grips = placed(place(tilted), scene, hand).above.grips

    for grip in grips:
        assert grip.position_m == pytest.approx((0.5, 0.2, 0.032 + GAP_M), abs=1e-4)
        assert math.sin(grip.yaw_rad) == pytest.approx(0.0, abs=1e-6)


def test_fingers_without_room_are_turned_by_an_angle_of_the_symmetry_of_the_object() -> None:
    beside = (cube('green_cube', 0.5, 0.247), cube('blue_cube', 0.5, 0.153))
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), *beside)

    grips = placed(place(tcp(0.5, 0.2, 0.032, 0)), scene, hand).above.grips

    # Yaw 0 opens along y, where the neighbours are.
    assert {abs(round(math.degrees(grip.yaw_rad))) for grip in grips} == {90}


@given(st.floats(0.3, 0.65), st.floats(-0.3, 0.3), st.floats(-1, 0) | st.floats(0.12, 1), yaws)
def test_the_height_that_a_rejection_offers_is_taken(
    x: float, y: float, z: float, yaw_deg: float
) -> None:
    crate = cube('crate', 0.5, 0.1, 0.03, edge_m=0.06)
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), crate)

    rejection = rejection_of(place(tcp(x, y, z, yaw_deg)), scene, hand)

    offered = float(rejection.message.split('at z = ')[1].split()[0])
    over_crate = max(abs(x - 0.5), abs(y - 0.1)) < 0.0279  # well within its edge
    if over_crate or math.dist((x, y), (0.5, 0.1)) > 0.2:
        target = target_of(place(tcp(x, y, offered, yaw_deg)), scene, hand)
        assert target.supports == (('crate',) if over_crate else ('table',))


def test_a_hand_beside_the_table_and_one_in_a_block_are_refused_with_the_reason() -> None:
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), cube('green_cube', 0.5, 0.2))

    beside = rejection_of(place(tcp(0.5, 0.9, 0.032)), scene, hand)
    inside = rejection_of(place(tcp(0.52, 0.22, 0.032)), scene, hand)

    assert (beside.code, inside.code) == (Code.BAD_ARGUMENTS, Code.OCCUPIED)
    assert beside.message == (
        'the pose 0.5 0.9 0.032 1 0 0 0 is not over table, which goes from x = -0.250 to 0.950 '
        'and from y = -0.800 to 0.800.'
    )
    assert inside.message == (
        'the pose 0.52 0.22 0.032 1 0 0 0 is occupied by green_cube: red_cube needs 20 mm more '
        'room. At 0.52 0.2405 0.032 1 0 0 0, 21 mm to the left, it would fit.'
    )


def proposed(rejection: Rejection) -> SkillCall:
    """Return the call that a rejection says would have worked."""
    return SkillCall('place', (rejection.message.rpartition(' At ')[2].partition(',')[0],))


@pytest.mark.parametrize('yaw_deg', [0, 30, 45])
@pytest.mark.parametrize('target', ['0.5 {y} 0.02', '0.5 {y} 0.02 20', '0.5 {y} 0.032 1 0 0 0'])
def test_a_refusal_states_how_much_room_is_missing_and_a_place_that_works(
    target: str, yaw_deg: float
) -> None:
    turned = cube('green_cube', 0.5, 0.2, yaw_deg=yaw_deg)
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), turned)
    call = SkillCall('place', (target.format(y=0.164),))

    rejection = rejection_of(call, scene, hand)

    assert rejection.code is Code.OCCUPIED
    assert 'mm more room. At 0.' in rejection.message
    x, y, _ = placed(proposed(rejection), scene, hand).target.centre_m
    assert 0 < math.dist((x, y), (0.5, 0.164)) < 0.03


def test_a_gap_that_is_too_narrow_has_no_place_and_no_end_is_searched_for() -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0), cube('green_cube', 0.5, 0.039), cube('blue_cube', 0.5, -0.039)
    )

    rejection = rejection_of(SkillCall('place', ('0.5 0 0.02',)), scene, hand)

    assert rejection.message.endswith('red_cube needs 1 mm more room.')


def test_a_location_that_is_partly_covered_has_a_pose_beside_it() -> None:
    scene, hand = holding(
        cube('red_cube', 0, 0), location('location_A', 0.5, 0.2), cube('blue_cube', 0.53, 0.2)
    )

    rejection = rejection_of(SkillCall('place', ('location_A',)), scene, hand)

    assert rejection.message == (
        'location_A is occupied by blue_cube: red_cube needs 10 mm more room. '
        'At 0.4895 0.2 0.02, 11 mm towards the robot, it would fit.'
    )


# --- what stands on two things


def two_cubes(gap_m: float, higher_m: float = 0.0) -> tuple[SceneObject, SceneObject]:
    """Two cubes with a gap between them, its middle at y = 0.2."""
    half = gap_m / 2 + 0.02
    return cube('green_cube', 0.5, 0.2 - half), cube('blue_cube', 0.5, 0.2 + half, 0.02 + higher_m)


@pytest.mark.parametrize('height', ['0.06', '0.072 1 0 0 0'])
@pytest.mark.parametrize(
    ('gap_m', 'higher_m', 'aside_m'),
    [
        (0.0, 0, 0),
        (0.01, 0, 0),
        (0.03, 0, 0),
        (0.01, 0.002, 0),
        (0.01, 0, 0.01),
        (0.001, 0, -0.01),
    ],
)
def test_a_cube_over_the_gap_between_two_equal_cubes_is_on_both(
    gap_m: float, higher_m: float, aside_m: float, height: str
) -> None:
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), *two_cubes(gap_m, higher_m))

    put = placed(SkillCall('place', (f'0.5 {0.2 + aside_m:.3f} {height}',)), scene, hand).target

    assert {*put.supports} == {'green_cube', 'blue_cube'}
    assert put.centre_m == pytest.approx((0.5, 0.2 + aside_m, 0.06 + higher_m), abs=1e-6)


def test_a_middle_that_no_top_bears_is_refused_with_a_place_where_it_would_stand() -> None:
    low = two_cubes(0.01)[0], cube('flat', 0.5, 0.225, 0.015, edge_m=0.03)
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), *low)

    rejection = rejection_of(SkillCall('place', ('0.5 0.2 0.06',)), scene, hand)

    assert rejection.code is Code.BAD_ARGUMENTS
    assert rejection.message == (
        'red_cube would tip over at the pose 0.5 0.2 0.06: it would rest on green_cube alone, and '
        'its middle is 7 mm too far out. At 0.5 0.1925 0.06, 8 mm to the right, it would stand.'
    )
    put = placed(proposed(rejection), scene, hand).target
    assert put.supports == ('green_cube',)


def test_two_corners_that_bear_no_middle_are_too_little() -> None:
    """The middle must be inside the polygon of what is borne, not only between two tops."""
    others = cube('green_cube', 0.53, 0.175), cube('blue_cube', 0.53, 0.225)
    scene, hand = held_at(CENTRED, cube('red_cube', 0, 0), *others)

    rejection = rejection_of(SkillCall('place', ('0.5 0.2 0.06',)), scene, hand)

    assert 'would tip over at the pose 0.5 0.2 0.06' in rejection.message
