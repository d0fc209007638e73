import numpy as np

from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.reachability import (
    approach_postures,
    coarse_approaches,
    raised,
    reachable_top_down,
    top_down,
)
from bbllm.arm.obstacles import Obstacle, ObstacleShape
from bbllm.robots.fr3 import FR3


def test_answers_agree_with_a_much_finer_search_but_at_the_rim() -> None:
    random = np.random.default_rng(11)
    found = missed = 0
    for _ in range(150):
        radius, azimuth = random.uniform(0.05, 0.95), random.uniform(-2.7, 2.7)
        place = (radius * np.cos(azimuth), radius * np.sin(azimuth), random.uniform(0.0, 0.5))
        yaw = random.uniform(-np.pi, np.pi)
        pose = top_down(place, yaw)
        truth = bool(
            np.isfinite(FR3.kinematics.inverse_branches(pose, FR3.kinematics.q7_grid(4001))).any()
        )
        reached = reachable_top_down(FR3, place, [yaw], hover_m=0.0)
        assert truth or not reached
        found, missed = found + reached, missed + (truth and not reached)
    assert 50 < found < 150 and missed <= 1


def test_whole_annulus_from_30_to_70_cm_can_be_grasped_along_some_axis_of_a_cube() -> None:
    random = np.random.default_rng(12)
    for _ in range(60):
        radius, azimuth = random.uniform(0.30, 0.70), random.uniform(-1.5, 1.5)
        place = (radius * np.cos(azimuth), radius * np.sin(azimuth), 0.02)
        yaw = random.uniform(-np.pi, np.pi)
        assert reachable_top_down(FR3, place, [yaw + i * np.pi / 2 for i in range(4)])


def test_the_hover_counts_too() -> None:
    place = (0.78, 0.0, 0.1)

    assert reachable_top_down(FR3, place, [0.0], hover_m=0.0)
    assert not reachable_top_down(FR3, place, [0.0], hover_m=0.5)


def test_an_obstacle_makes_a_place_unreachable() -> None:
    roof = Obstacle(
        name='roof',
        shape=ObstacleShape.BOX,
        size_m=(0.3, 0.3, 0.02),
        T_base_obstacle=raised(np.eye(4) + 0.5 * np.eye(4, k=3), 0.1),
    )
    place, checker = (0.5, 0.0, 0.02), CollisionChecker(FR3, [roof])

    assert reachable_top_down(FR3, place, [0.0])
    assert not reachable_top_down(FR3, place, [0.0], checker=checker)


def test_approach_postures_come_in_pairs_that_reach_both_poses() -> None:
    pose = top_down((0.45, -0.2, 0.02), 0.3)
    ends, hovers = approach_postures(FR3, pose, 0.1)

    assert len(ends) == len(hovers) > 0
    assert FR3.limits.within(ends).all()
    np.testing.assert_allclose(
        FR3.kinematics.forward(ends), np.broadcast_to(pose, (len(ends), 4, 4)), atol=1e-9
    )
    np.testing.assert_allclose(FR3.kinematics.forward(hovers)[:, 2, 3], 0.12, atol=1e-9)


def test_postures_near_the_base_include_the_one_in_the_vertical_plane() -> None:
    ends, hovers = approach_postures(FR3, top_down((0.25, 0.25, 0.02), 0.2), 0.1)

    sideways = np.abs(np.stack([ends, hovers])[:, :, [2, 4]]).max(axis=(0, 2))
    assert sideways.min() < 1e-9


def test_postures_of_several_poses_at_once_are_the_approach_postures_of_each() -> None:
    places = ((0.5, 0.1, 0.02), (1.4, 0.0, 0.02), (0.3, -0.3, 0.1))
    poses = [top_down(place, yaw) for place, yaw in zip(places, (0.3, 0.0, -1.2), strict=True)]

    index, ends, hovers = coarse_approaches(FR3, poses, 0.1)

    for i, pose in enumerate(poses):
        all_ends, all_hovers = approach_postures(FR3, pose, 0.1)
        assert np.array_equal(hovers[index == i], all_hovers)
        assert np.array_equal(ends[index == i], all_ends)


def test_what_is_out_of_reach_has_no_solution_and_is_most_of_what_has_none() -> None:
    random = np.random.default_rng(5)
    q7 = FR3.kinematics.q7_grid(401)
    without = beyond = 0
    for _ in range(300):
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        pose = np.eye(4)
        pose[:3, :3] = turn * np.linalg.det(turn)
        pose[:3, 3] = random.uniform((-1.0, -1.0, -0.5), (1.0, 1.0, 1.2))
        none = not np.isfinite(FR3.kinematics.inverse_branches(pose, q7, margin_rad=-np.inf)).any()
        assert none or not FR3.kinematics.out_of_reach(pose)
        without, beyond = without + none, beyond + FR3.kinematics.out_of_reach(pose)
    assert 0.8 * without < beyond < 300
