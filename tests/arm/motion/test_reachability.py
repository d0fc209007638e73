import numpy as np
import pytest

from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.reachability import (
    Q7_GRIDS,
    approach_postures,
    coarse_approaches,
    raised,
    reachable_top_down,
    top_down,
)
from bbllm.arm.obstacles import Obstacle, ObstacleShape
from bbllm.robots.fr3 import FR3


def test_answers_agree_with_a_much_finer_search() -> None:
    random = np.random.default_rng(11)
    both = set()
    for _ in range(150):
        radius, azimuth = random.uniform(0.05, 0.95), random.uniform(-2.7, 2.7)
        place = (radius * np.cos(azimuth), radius * np.sin(azimuth), random.uniform(0.0, 0.5))
        yaw = random.uniform(-np.pi, np.pi)
        pose = top_down(place, yaw)
        truth = bool(
            np.isfinite(FR3.kinematics.inverse_branches(pose, FR3.kinematics.q7_grid(4001))).any()
        )
        both.add(truth)
        assert reachable_top_down(FR3, place, [yaw], hover_m=0.0) == truth
    assert both == {True, False}


@pytest.mark.parametrize(
    ('place', 'yaw'),
    [
        ((0.0934, 0.1273, 0.3095), 1.1646),
        ((0.1372, -0.0029, 0.1207), -0.2325),
        ((0.0136, -0.1332, 0.0815), -1.1614),
        ((-0.1069, -0.0811, 0.1625), -2.5287),
        ((-0.1037, 0.0533, 0.2205), 0.9221),
    ],
)
def test_a_branch_that_exists_between_two_values_of_the_grid_is_found(
    place: tuple[float, float, float], yaw: float
) -> None:
    pose = top_down(place, yaw)

    assert reachable_top_down(FR3, place, [yaw])
    assert not len(approach_postures(FR3, pose, 0.1, Q7_GRIDS[0])[0])
    ends, hovers = approach_postures(FR3, pose, 0.1, Q7_GRIDS[1])
    assert FR3.limits.within(ends).all() and FR3.limits.within(hovers).all()
    assert FR3.kinematics.forward(ends) == pytest.approx(
        np.broadcast_to(pose, (len(ends), 4, 4)), abs=1e-9
    )
    above = raised(pose, 0.1)
    assert FR3.kinematics.forward(hovers) == pytest.approx(
        np.broadcast_to(above, (len(ends), 4, 4)), abs=1e-9
    )


def test_the_excess_of_a_branch_is_zero_where_it_exists_and_only_there() -> None:
    pose = top_down((0.75, 0.1, 0.05), 0.3)
    q7 = FR3.kinematics.q7_grid(241)

    exists = np.isfinite(FR3.kinematics.inverse_branches(pose, q7)).all(axis=-1)

    assert exists.any() and not exists.all()
    assert ((FR3.kinematics.branch_excess(pose, q7) == 0.0) == exists).all()


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
