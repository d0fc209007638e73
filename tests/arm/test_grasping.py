from __future__ import annotations

import numpy as np
import pytest

from bbllm.arm.kinematics import forward
from bbllm.arm.limits import Q_READY, within_limits
from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.motion_planner import choose_grasp_configuration
from bbllm.arm.motion.reachability import raised, top_down
from bbllm.arm.motion.trajectory import NoPathError
from bbllm.arm.obstacles import Obstacle, ObstacleShape


def block(name: str, x: float, y: float, z: float, size: tuple[float, float, float]) -> Obstacle:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return Obstacle(name=name, shape=ObstacleShape.BOX, size_m=size, T_base_obstacle=T)


def test_choices_are_ordered_and_lead_from_the_hover_to_the_pose() -> None:
    poses = [top_down((0.5, 0.2, 0.02), yaw) for yaw in (0.0, np.pi / 2)]

    choices = choose_grasp_configuration(poses, Q_READY, count=4)

    assert len(choices) == 4
    assert [choice.cost for choice in choices] == sorted(choice.cost for choice in choices)
    for choice in choices:
        pose = poses[choice.index]
        np.testing.assert_allclose(forward(choice.q_end), pose, atol=1e-9)
        np.testing.assert_allclose(forward(choice.q_hover), raised(pose, 0.1), atol=1e-9)
        np.testing.assert_array_equal(choice.path[0], choice.q_hover)
        np.testing.assert_array_equal(choice.path[-1], choice.q_end)
        assert within_limits(choice.path, 0.01).all()


def test_a_comfortable_posture_wins() -> None:
    choice = choose_grasp_configuration([top_down((0.5, 0.0, 0.02), 0.0)], Q_READY)[0]

    assert abs(choice.q_hover[2]) < 0.3
    assert abs(choice.q_hover[4]) < 0.3


def test_descents_near_the_base_do_not_swing_the_shoulder_round() -> None:
    random = np.random.default_rng(8)
    for _ in range(15):
        azimuth, yaw = random.uniform(-1.2, 1.2), random.uniform(-np.pi, np.pi)
        place = (0.33 * np.cos(azimuth), 0.33 * np.sin(azimuth), 0.02)
        poses = [top_down(place, yaw + i * np.pi / 2) for i in range(4)]
        choice = choose_grasp_configuration(poses, Q_READY)[0]
        assert np.abs(np.ptp(choice.path, axis=0)).max() < 1.0


def test_the_direction_with_room_for_the_fingers_is_taken() -> None:
    neighbours = [block(f'cube_{y}', 0.5, y, 0.02, (0.04, 0.04, 0.04)) for y in (-0.05, 0.05)]
    poses = [top_down((0.5, 0.0, 0.02), yaw) for yaw in (0.0, np.pi / 2)]

    choices = choose_grasp_configuration(
        poses, Q_READY, checker=CollisionChecker(neighbours), count=3
    )

    assert {choice.index for choice in choices} == {1}


def test_a_narrower_opening_makes_room() -> None:
    neighbours = [block(f'cube_{y}', 0.5, y, 0.02, (0.04, 0.04, 0.04)) for y in (-0.06, 0.06)]
    pose, checker = top_down((0.5, 0.0, 0.032), 0.0), CollisionChecker(neighbours)

    with pytest.raises(NoPathError):
        choose_grasp_configuration([pose], Q_READY, checker=checker, widths_m=[0.08])
    assert choose_grasp_configuration([pose], Q_READY, checker=checker, widths_m=[0.045])


def test_what_is_in_the_way_on_the_descent_is_named() -> None:
    roof = block('roof', 0.5, 0.0, 0.15, (0.2, 0.2, 0.02))

    with pytest.raises(NoPathError, match='would touch roof') as caught:
        choose_grasp_configuration(
            [top_down((0.5, 0.0, 0.02), 0.0)], Q_READY, checker=CollisionChecker([roof])
        )
    assert caught.value.blockers == ('roof',)


def test_out_of_reach_is_said_so() -> None:
    with pytest.raises(NoPathError, match='cannot reach there from above') as caught:
        choose_grasp_configuration([top_down((1.0, 0.0, 0.02), 0.0)], Q_READY)
    assert caught.value.blockers == ()


def test_a_wall_on_the_way_makes_the_transit_indirect() -> None:
    wall = block('wall', 0.45, 0.0, 0.3, (0.5, 0.04, 0.6))
    start = choose_grasp_configuration([top_down((0.45, 0.25, 0.1), 0.0)], Q_READY)[0].q_hover
    pose = top_down((0.45, -0.25, 0.1), 0.0)

    blocked = choose_grasp_configuration([pose], start, checker=CollisionChecker([wall]))
    free = choose_grasp_configuration([pose], start, checker=CollisionChecker())

    assert not blocked[0].direct
    assert free[0].direct
