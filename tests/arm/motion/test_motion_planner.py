from dataclasses import replace

import numpy as np
import pytest

from bbllm.arm.motion import motion_planner as ways
from bbllm.arm.motion.cartesian_path import path_move
from bbllm.arm.motion.collision import CollisionChecker, Contact
from bbllm.arm.motion.motion_planner import (
    GraspPlan,
    GraspPlanner,
    GraspPlannerParams,
    choose_grasp_configuration,
    join,
    plan_transit,
)
from bbllm.arm.motion.reachability import raised, top_down
from bbllm.arm.motion.rrt_connect import find_way
from bbllm.arm.motion.trajectory import NoPathError, concatenate, joint_move, sample
from bbllm.arm.obstacles import Obstacle, ObstacleShape, obstacles_from_scene
from bbllm.core.types import SceneObject
from bbllm.robots.fr3 import FR3
from bbllm.skills.motions import plan_motion
from bbllm.skills.segments import Motion
from bbllm_bench.safety.limit_audit import audit
from tests.arm.kinematic_arm import PICK_RED, KinematicArm, cube


def block(name: str, x: float, y: float, z: float, size: tuple[float, float, float]) -> Obstacle:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return Obstacle(name=name, shape=ObstacleShape.BOX, size_m=size, T_base_obstacle=T)


def test_choices_are_ordered_and_lead_from_the_hover_to_the_pose() -> None:
    poses = [top_down((0.5, 0.2, 0.02), yaw) for yaw in (0.0, np.pi / 2)]

    choices = choose_grasp_configuration(FR3, poses, FR3.home_rad, count=4)

    assert len(choices) == 4
    for choice in choices:
        pose = poses[choice.index]
        np.testing.assert_allclose(FR3.kinematics.forward(choice.path[-1]), pose, atol=1e-9)
        np.testing.assert_allclose(
            FR3.kinematics.forward(choice.path[0]), raised(pose, 0.1), atol=1e-9
        )
        assert FR3.limits.within(choice.path, 0.01).all()


def test_descents_near_the_base_do_not_swing_the_shoulder_round() -> None:
    random = np.random.default_rng(8)
    for _ in range(15):
        azimuth, yaw = random.uniform(-1.2, 1.2), random.uniform(-np.pi, np.pi)
        place = (0.33 * np.cos(azimuth), 0.33 * np.sin(azimuth), 0.02)
        poses = [top_down(place, yaw + i * np.pi / 2) for i in range(4)]
        choice = choose_grasp_configuration(FR3, poses, FR3.home_rad)[0]
        assert np.abs(np.ptp(choice.path, axis=0)).max() < 1.0


def test_the_direction_with_room_for_the_fingers_is_taken() -> None:
    neighbours = [block(f'cube_{y}', 0.5, y, 0.02, (0.04, 0.04, 0.04)) for y in (-0.05, 0.05)]
    poses = [top_down((0.5, 0.0, 0.02), yaw) for yaw in (0.0, np.pi / 2)]

    choices = choose_grasp_configuration(
        FR3, poses, FR3.home_rad, checker=CollisionChecker(FR3, neighbours), count=3
    )

    assert {choice.index for choice in choices} == {1}


def test_a_narrower_opening_makes_room() -> None:
    neighbours = [block(f'cube_{y}', 0.5, y, 0.02, (0.04, 0.04, 0.04)) for y in (-0.06, 0.06)]
    pose, checker = top_down((0.5, 0.0, 0.032), 0.0), CollisionChecker(FR3, neighbours)

    with pytest.raises(NoPathError):
        choose_grasp_configuration(FR3, [pose], FR3.home_rad, checker=checker, widths_m=[0.08])
    assert choose_grasp_configuration(FR3, [pose], FR3.home_rad, checker=checker, widths_m=[0.045])


def test_what_is_in_the_way_on_the_descent_is_named() -> None:
    roof = block('roof', 0.5, 0.0, 0.15, (0.2, 0.2, 0.02))

    with pytest.raises(NoPathError, match='would touch roof') as caught:
        choose_grasp_configuration(
            FR3,
            [top_down((0.5, 0.0, 0.02), 0.0)],
            FR3.home_rad,
            checker=CollisionChecker(FR3, [roof]),
        )
    assert caught.value.blockers == ('roof',)


def test_a_wall_on_the_way_makes_the_transit_indirect() -> None:
    wall = block('wall', 0.45, 0.0, 0.3, (0.5, 0.04, 0.6))
    start = choose_grasp_configuration(FR3, [top_down((0.45, 0.25, 0.1), 0.0)], FR3.home_rad)[
        0
    ].path[0]
    pose = top_down((0.45, -0.25, 0.1), 0.0)

    blocked = choose_grasp_configuration(FR3, [pose], start, checker=CollisionChecker(FR3, [wall]))
    free = choose_grasp_configuration(FR3, [pose], start, checker=CollisionChecker(FR3))

    assert not blocked[0].direct
    assert free[0].direct


def low_over(x: float, y: float) -> np.ndarray:
    pose = top_down((x, y, 0.08), 0.0)
    return choose_grasp_configuration(FR3, [pose], FR3.home_rad, hover_m=0.0)[0].path[-1]


LEFT, RIGHT = low_over(0.45, 0.25), low_over(0.45, -0.25)
WALL = block('wall', 0.45, 0.0, 0.1, (0.4, 0.04, 0.2))


@pytest.mark.parametrize('scale', [0.5, 1.0])
def test_a_wall_is_passed_without_touching_it(scale: float) -> None:
    checker = CollisionChecker(FR3, [WALL])
    assert checker.path_clear(np.stack([LEFT, RIGHT])) is not None

    move = plan_transit(LEFT, RIGHT, checker, scale=scale)

    assert checker.path_clear(move) is None
    assert audit(move).violations == 0
    np.testing.assert_allclose(move.position_rad[[0, -1]], [LEFT, RIGHT], atol=1e-9)
    assert (move.velocity_rad_s[-1] == 0).all()


def test_where_simple_ways_fail_the_search_finds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, '_RISES_M', ())
    checker = CollisionChecker(replace(FR3, home_rad=LEFT), [WALL])

    move = plan_transit(LEFT, RIGHT, checker)

    assert checker.path_clear(move) is None
    assert audit(move).violations == 0
    np.testing.assert_allclose(move.position_rad[-1], RIGHT, atol=1e-9)


def test_the_search_goes_from_start_to_goal_and_gives_the_same_answer_twice() -> None:
    checker = CollisionChecker(FR3, [WALL])

    def clear(path: np.ndarray) -> bool:
        return checker.path_clear(path) is None

    way, again = find_way(FR3.limits, LEFT, RIGHT, clear), find_way(FR3.limits, LEFT, RIGHT, clear)

    assert way is not None
    assert again is not None
    np.testing.assert_array_equal(way, again)
    np.testing.assert_array_equal([way[0], way[-1]], [LEFT, RIGHT])
    assert clear(np.stack(way))


def test_the_search_gives_up_when_the_goal_is_walled_in() -> None:
    def clear(path: np.ndarray) -> bool:
        return bool((np.abs(path - RIGHT).max(axis=1) > 0.1).all())

    assert find_way(FR3.limits, LEFT, RIGHT, clear) is None


def test_a_goal_in_contact_is_refused_with_what_it_touches() -> None:
    pillar = block('pillar', 0.45, -0.25, 0.1, (0.06, 0.06, 0.2))

    with pytest.raises(NoPathError, match='pillar touch where the arm is to go') as caught:
        plan_transit(LEFT, RIGHT, CollisionChecker(FR3, [pillar]))
    assert caught.value.blockers == ('pillar',)


@pytest.mark.parametrize('scale', [0.5, 1.0])
def test_joined_motions_save_time_and_the_end_of_the_descent_stays_straight(scale: float) -> None:
    approach = choose_grasp_configuration(FR3, [top_down((0.5, 0.2, 0.02), 0.0)], FR3.home_rad)[0]
    transit = joint_move(FR3, FR3.home_rad, approach.path[0], scale=scale)
    descent = path_move(FR3, approach.path, scale=scale)

    joined = join(transit, descent, CollisionChecker(FR3), scale=scale)

    assert joined.duration_s < concatenate(transit, descent).duration_s - 0.02
    assert audit(joined).violations == 0
    time_s = np.linspace(joined.duration_s - 0.4 * descent.duration_s, joined.duration_s, 30)
    tool = FR3.kinematics.forward(sample(joined, time_s)[0])[:, :3, 3]
    np.testing.assert_allclose(tool[:, :2], np.broadcast_to([0.5, 0.2], (30, 2)), atol=1e-4)


class RoundCornersTouch(CollisionChecker):
    """Finds every motion clear but one that leaves the corner out."""

    def __init__(self, corner: np.ndarray) -> None:
        super().__init__(FR3)
        self._corner = corner

    def path_clear(self, path: object, *_: object, **__: object) -> Contact | None:
        assert isinstance(path, np.ndarray)
        hit = np.abs(path - self._corner).max(axis=1).min() < 1e-6
        return None if hit else Contact('fr3_hand', 'post')


def test_motions_are_joined_with_a_stop_where_the_rounded_corner_is_not_free() -> None:
    middle, end = (
        FR3.home_rad + 0.4 * np.eye(7)[0],
        FR3.home_rad + np.array([0.4, 0, 0, 0.3, 0, 0, 0]),
    )
    first, second = joint_move(FR3, FR3.home_rad, middle), joint_move(FR3, middle, end)

    assert join(first, second, CollisionChecker(FR3)).duration_s < 0.9 * (
        first.duration_s + second.duration_s
    )
    stopping = join(first, second, RoundCornersTouch(middle))
    assert stopping.duration_s == pytest.approx(first.duration_s + second.duration_s)


def pick_planned(*entities: SceneObject, scale: float) -> tuple[GraspPlan, tuple[Obstacle, ...]]:
    """Return the way to red_cube, and the obstacles around it."""
    arm = KinematicArm(*entities)
    scene, hand = arm.observe(), FR3.hand_at(arm.q, 0.08)
    motion = plan_motion(PICK_RED, scene, hand)
    assert isinstance(motion, Motion) and motion.above is not None
    planner = GraspPlanner(FR3, GraspPlannerParams(scale=scale))
    planner.update(scene, hand)
    return planner.above(motion.above, arm.q), tuple(obstacles_from_scene(scene))


@pytest.mark.parametrize('scale', [0.8, 1.0])
def test_a_pick_comes_down_without_a_stop_and_straight_between_neighbours(scale: float) -> None:
    random = np.random.default_rng(4)
    saved = []
    for _ in range(8):
        radius, azimuth = random.uniform(0.35, 0.65), random.uniform(-1.2, 1.2)
        x, y = float(radius * np.cos(azimuth)), float(radius * np.sin(azimuth))
        red, post = cube('red_cube', x, y), cube('post', x + 0.07, y, 0.06)
        post = replace(post, size_m=(0.04, 0.04, 0.12))
        way, obstacles = pick_planned(red, post, scale=scale)
        approach, stopping_s = way.approach, way.transit.duration_s + way.line.descent.duration_s
        if approach is None:
            continue
        saved.append(stopping_s - approach.duration_s)
        assert audit(approach).violations == 0
        time_s = np.linspace(0.0, approach.duration_s, 400)
        q = sample(approach, time_s)[0]
        tool = FR3.kinematics.forward(q)[:, :3, 3]
        low = tool[:, 2] < tool[-1, 2] + ways.STRAIGHT_M
        assert np.abs(tool[low, :2] - tool[-1, :2]).max() < 1e-4
        checker = CollisionChecker(FR3, obstacles)
        assert checker.path_clear(q[~low], clearance_m=0.001) is None
    assert len(saved) >= 6
    assert np.median(saved) > 0.1
