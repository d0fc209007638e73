"""Relations: what a scene says follows from poses, and from nothing else."""

import math

import pytest

from bbllm.core.errors import SceneError
from bbllm.core.types import Fact, Kind, Pose, Quat, Scene, SceneObject
from bbllm.robots.fr3 import FR3
from bbllm.scene.relations import build_scene, find_held
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import Hand, NoRoom, grips_for
from bbllm.skills.place import REACH_M
from bbllm.worlds.scene.reaching import ReachCache
from tests.worlds.tracked_tables import AWAY, TABLE, cube


def location(name: str, x: float, y: float) -> SceneObject:
    return SceneObject(name=name, kind=Kind.LOCATION, pose=Pose(position_m=(x, y, 0.0)))


def hand_around(x: float, y: float, z: float, width_m: float) -> Hand:
    return Hand(tcp=Pose(position_m=(x, y, z), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=width_m)


def scene_of(*objects: SceneObject, hand: Hand = AWAY, age_s: float = 0.0) -> Scene:
    return build_scene((*objects, TABLE), hand, skills=SKILLS, stamp_s=10.0, now_s=10.0 + age_s)


def test_a_cube_rests_on_the_table_a_location_or_another_cube() -> None:
    scene = scene_of(
        cube('red_cube', 0.4, 0.0),
        cube('green_cube', 0.515, 0.0),
        cube('blue_cube', 0.405, 0.0, 0.06),
        location('location_A', 0.5, 0.0),
    )

    assert [str(fact) for fact in scene.facts if fact.predicate == 'on'] == [
        '(red_cube on table)', '(green_cube on location_A)', '(blue_cube on red_cube)',
    ]  # fmt: skip
    assert scene.has('location_A', 'occupied_by', 'green_cube')
    off = scene_of(cube('red_cube', 0.525, 0.0), location('location_A', 0.5, 0.0))
    assert off.has('red_cube', 'on', 'table')
    assert not off.has('location_A', 'occupied_by')


def test_only_what_carries_nothing_is_clear() -> None:
    scene = scene_of(cube('red_cube', 0.4, 0.0), cube('blue_cube', 0.4, 0.0, 0.06))

    assert scene.has('blue_cube', 'is', 'clear')
    assert not scene.has('red_cube', 'is', 'clear')


def test_left_is_positive_y_and_stated_once_for_nearest_neighbours_only() -> None:
    scene = scene_of(
        cube('red_cube', 0.5, 0.10), cube('green_cube', 0.5, 0.0), cube('blue_cube', 0.5, -0.12)
    )

    sides = {str(fact) for fact in scene.facts if fact.predicate.endswith('_of')}
    assert sides == {'(red_cube left_of green_cube)', '(blue_cube right_of green_cube)'}


def test_what_is_before_or_behind_is_neither_left_nor_right() -> None:
    scene = scene_of(cube('red_cube', 0.5, 0.0), cube('green_cube', 0.6, 0.02))

    assert not any(fact.predicate.endswith('_of') for fact in scene.facts)


def test_a_cube_between_fingers_as_wide_apart_as_it_is_held() -> None:
    scene = scene_of(cube('red_cube', 0.4, 0.0, 0.2), hand=hand_around(0.4, 0.0, 0.212, 0.0399))

    assert scene.held == 'red_cube'
    assert not scene.has('hand', 'is', 'empty')


@pytest.mark.parametrize(
    ('hand', 'why'),
    [
        (hand_around(0.4, 0.0, 0.212, 0.064), 'the fingers are open around it'),
        (hand_around(0.4, 0.0, 0.212, 0.044), 'the fingers have only just let go'),
        (hand_around(0.4, 0.0, 0.212, 0.0), 'the fingers are closed on nothing'),
        (hand_around(0.4, 0.0, 0.26, 0.04), 'it is below the fingers'),
        (hand_around(0.44, 0.0, 0.212, 0.04), 'it is beside the fingers'),
    ],
)
def test_holding_is_seen_and_not_believed(hand: Hand, why: str) -> None:
    scene = scene_of(cube('red_cube', 0.4, 0.0, 0.2), hand=hand)

    assert scene.held is None, why
    assert scene.has('hand', 'is', 'empty')


def test_a_turned_hand_still_knows_what_it_holds() -> None:
    half = math.radians(30) / 2
    hand = Hand(
        tcp=Pose(position_m=(0.4, 0.1, 0.3), quat_xyzw=(math.cos(half), math.sin(half), 0.0, 0.0)),
        width_m=0.04,
    )

    assert find_held([cube('red_cube', 0.4, 0.1, 0.29, yaw_deg=30)], hand) == 'red_cube'


def test_what_is_held_neither_rests_nor_occupies() -> None:
    scene = scene_of(
        cube('red_cube', 0.4, 0.0),
        location('location_A', 0.4, 0.0),
        hand=hand_around(0.4, 0.0, 0.03, 0.04),
    )

    assert scene.held == 'red_cube'
    assert not scene.has('red_cube', 'on')
    assert not scene.has('location_A', 'occupied_by')


def test_reachability_is_asked_for_objects_and_locations_not_for_furniture() -> None:
    asked: list[str] = []

    def reach(item: SceneObject) -> bool:
        asked.append(item.name)
        return item.pose.position_m[0] < 0.8

    scene = build_scene(
        (cube('red_cube', 0.4, 0.0), cube('aqua_cube', 0.95, 0.0), location('A', 0.5, 0), TABLE),
        AWAY, skills=SKILLS, stamp_s=0.0, now_s=0.0, reach=reach,
    )  # fmt: skip

    assert asked == ['red_cube', 'aqua_cube', 'A']
    assert Fact('red_cube', 'reachable', 'yes') in scene.facts
    assert Fact('aqua_cube', 'reachable', 'no') in scene.facts


def test_an_object_inside_furniture_is_in_it() -> None:
    tray = SceneObject(
        name='tray', kind=Kind.FIXTURE, pose=Pose(position_m=(0.5, 0.2, 0.03)),
        size_m=(0.2, 0.2, 0.06),
    )  # fmt: skip

    assert scene_of(cube('red_cube', 0.5, 0.2, 0.025), tray).has('red_cube', 'in', 'tray')


def test_a_stale_or_empty_scene_is_an_error() -> None:
    with pytest.raises(SceneError, match=r'stale.*1\.5 s ago.*1\.0 s'):
        scene_of(cube('red_cube', 0.4, 0.0), age_s=1.5)
    with pytest.raises(SceneError, match='empty'):
        build_scene((), AWAY, skills=SKILLS, stamp_s=0.0, now_s=0.0)


def test_the_hand_comes_down_on_the_table_at_the_distances_that_place_states() -> None:
    reach = ReachCache(FR3)
    for distance_m in REACH_M:
        for deg in range(-90, 91, 45):
            turn = math.radians(deg)
            pose = Pose(
                position_m=(distance_m * math.cos(turn), distance_m * math.sin(turn), 0.02)
            )
            cube = SceneObject(name='a', kind=Kind.CUBE, pose=pose, size_m=(0.04, 0.04, 0.04))
            assert reach(cube), (distance_m, deg)


@pytest.mark.parametrize(('x_m', 'near'), [(0.5, True), (0.85, False)])
@pytest.mark.parametrize('quat_xyzw', [(0.0, 0.0, 0.0, 1.0), (0.3827, 0.0, 0.0, 0.9239)])
def test_what_the_fingers_cannot_grip_is_within_reach_where_the_hand_comes_down(
    x_m: float, near: bool, quat_xyzw: Quat
) -> None:
    crate = SceneObject(
        name='crate', kind=Kind.CUBE, size_m=(0.12, 0.1, 0.06),
        pose=Pose(position_m=(x_m, 0.0, 0.06), quat_xyzw=quat_xyzw),
    )  # fmt: skip

    assert isinstance(grips_for(crate, ()), NoRoom)
    assert ReachCache(FR3)(crate) is near
