import numpy as np
import pytest

from bbllm.arm.motion.collision import CollisionChecker, Contact
from bbllm.arm.motion.motion_planner import choose_grasp_configuration
from bbllm.arm.motion.reachability import raised, top_down
from bbllm.arm.motion.trajectory import joint_move
from bbllm.arm.obstacles import Held, Obstacle, ObstacleShape, obstacles_from_scene
from bbllm.core.types import Kind, Pose, Scene, SceneObject
from bbllm.robots.fr3 import FR3


def block(
    name: str,
    x: float,
    y: float,
    z: float = 0.02,
    size_m: tuple[float, float, float] = (0.04, 0.04, 0.04),
) -> Obstacle:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return Obstacle(name=name, shape=ObstacleShape.BOX, size_m=size_m, T_base_obstacle=T)


def over(place: tuple[float, float, float]) -> np.ndarray:
    return choose_grasp_configuration(FR3, [top_down(place, 0.0)], FR3.home_rad, hover_m=0.0)[
        0
    ].path[-1]


def test_the_ready_posture_is_clear_of_everything() -> None:
    assert CollisionChecker(FR3, [block('red_cube', 0.5, 0.0)]).clear(FR3.home_rad) == []


def test_the_hand_below_the_table_top_touches_the_table() -> None:
    contacts = CollisionChecker(FR3).clear(over((0.5, 0.0, -0.01)))

    assert {contact.second for contact in contacts} == {'table'}
    assert all(contact.first.startswith('fr3_') for contact in contacts)


def test_folded_on_itself_the_arm_touches_itself() -> None:
    contacts = CollisionChecker(FR3).clear(np.array([0.0, -0.3, 0.0, -3.01, 0.0, 0.86, 0.78]))

    assert any(
        {contact.first, contact.second} == {'fr3_link1', 'fr3_hand'} for contact in contacts
    )


@pytest.mark.parametrize('holds', [False, True])
def test_one_check_at_two_widths_finds_what_a_check_at_each_finds(holds: bool) -> None:
    random = np.random.default_rng(8)
    cubes = [block(f'cube_{i}', 0.45, 0.075 * i) for i in range(-1, 2)]
    held = Held(name='cube_1', T_tcp_object=np.eye(4)) if holds else None
    checker, found = CollisionChecker(FR3, cubes, held), []
    for _ in range(300):
        place = (0.45, float(random.uniform(-0.01, 0.01)), float(random.uniform(0.015, 0.07)))
        q = over(place)
        widths_m = random.choice([0.0, 0.03, 0.05, 0.08], size=2)
        each = []
        for width_m in widths_m.tolist():
            checker.open_to(width_m)
            each.append(checker.path_clear(q[None]) is None)
        checker.open_to(widths_m[0])
        both = checker.is_clear_at_both(q[None], widths_m[1])
        assert both == all(each)
        assert (checker.path_clear(q[None]) is None) == each[0]
        found.append(tuple(each))
    # What is held touches before the fingers do.
    assert len(set(found)) == (2 if holds else 4)


def test_fingers_around_a_cube_touch_it_only_when_they_are_closed_on_it() -> None:
    cube = block('red_cube', 0.5, 0.0)
    checker = CollisionChecker(FR3, [cube])
    q = over((0.5, 0.0, 0.02))

    assert checker.clear(q) == []
    checker.update([cube], width_m=0.036)
    assert {str(contact) for contact in checker.clear(q)} >= {
        'fr3_leftfinger and red_cube',
        'fr3_rightfinger and red_cube',
    }
    assert checker.clear(q, ['red_cube']) == []


def test_what_is_held_moves_with_the_hand_and_touches_in_its_stead() -> None:
    held, other = block('red_cube', 0.3, 0.3), block('blue_cube', 0.5, 0.0)
    checker = CollisionChecker(FR3, [held, other])
    q = over((0.5, 0.0, 0.07))
    assert checker.clear(q) == []

    T_tcp_object = np.eye(4)
    T_tcp_object[2, 3] = 0.015
    checker.update([held, other], Held(name='red_cube', T_tcp_object=T_tcp_object), width_m=0.04)

    assert checker.clear(q) == [Contact('red_cube', 'blue_cube')]
    checker.update([held, other])
    assert checker.clear(q) == []


def test_clearance_makes_near_objects_count() -> None:
    slab = block('slab', 0.5, 0.0, 0.02, (0.2, 0.2, 0.04))
    checker = CollisionChecker(FR3, [slab])
    q = over((0.5, 0.0, 0.06))  # finger tips end 10 mm above the slab

    assert checker.clear(q, clearance_m=0.005) == []
    assert checker.clear(q, clearance_m=0.02) != []


def test_a_path_through_a_pole_is_stopped_by_it_although_its_ends_are_clear() -> None:
    q = over((0.5, 0.0, 0.1))
    left, right = q.copy(), q.copy()
    left[0], right[0] = 0.8, -0.8
    pole = block('pole', 0.5, 0.0, 0.2, (0.03, 0.03, 0.4))
    checker = CollisionChecker(FR3, [pole])

    assert checker.clear(left) == checker.clear(right) == []
    for path in (joint_move(FR3, left, right), np.stack([left, right])):
        contact = checker.path_clear(path)
        assert contact.second == 'pole'
        assert checker.path_clear(path, ['pole']) is None


def test_a_scene_becomes_obstacles_without_locations_and_without_the_table() -> None:
    def item(name: str, kind: Kind, z: float, size: tuple[float, float, float]) -> SceneObject:
        quat = (0.0, 0.0, np.sin(0.25), np.cos(0.25))
        pose = Pose(position_m=(0.4, 0.1, z), quat_xyzw=quat)
        return SceneObject(name=name, kind=kind, pose=pose, size_m=size)

    scene = Scene(
        objects=(
            item('table', Kind.FIXTURE, -0.02, (1.0, 1.0, 0.04)),
            item('shelf', Kind.FIXTURE, 0.1, (0.2, 0.2, 0.2)),
            item('red_cube', Kind.CUBE, 0.02, (0.04, 0.04, 0.04)),
            item('can', Kind.CYLINDER, 0.03, (0.05, 0.05, 0.06)),
            item('location_A', Kind.LOCATION, 0.0, (0.05, 0.05, 0.0)),
        ),
        skills=(),
        facts=(),
        stamp_s=0.0,
    )

    obstacles = {item.name: item for item in obstacles_from_scene(scene)}

    assert set(obstacles) == {'shelf', 'red_cube', 'can'}
    assert obstacles['can'].shape is ObstacleShape.CYLINDER
    x_axis = obstacles['red_cube'].T_base_obstacle[:3, 0]
    np.testing.assert_allclose(x_axis, [np.cos(0.5), np.sin(0.5), 0.0], atol=1e-12)
    assert obstacles['shelf'].top_m == pytest.approx(0.2)


def test_the_hand_of_the_checker_is_where_kinematics_has_it() -> None:
    """A thin plate just under the finger tips is near, one a little lower is not."""
    q = over((0.45, 0.1, 0.3))
    tip = FR3.kinematics.forward(q)[2, 3] - 0.0095
    plate = block('plate', 0.45, 0.1, 0.0, (0.2, 0.2, 0.001))

    def touched(gap_m: float) -> bool:
        T = raised(plate.T_base_obstacle, tip - gap_m - 0.0005)
        moved = Obstacle(
            name='plate', shape=ObstacleShape.BOX, size_m=plate.size_m, T_base_obstacle=T
        )
        return bool(CollisionChecker(FR3, [moved]).clear(q, clearance_m=0.002))

    assert touched(0.0015)
    assert not touched(0.0025)


def test_a_moved_obstacle_counts_where_it_is_now() -> None:
    checker = CollisionChecker(FR3, [block('blue_cube', 0.5, 0.05)])
    q = over((0.5, 0.0, 0.02))

    checker.update([block('blue_cube', 0.5, 0.25)])
    assert checker.clear(q) == []
    checker.update([block('blue_cube', 0.5, 0.05)])
    assert checker.clear(q) != []
