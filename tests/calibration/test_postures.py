"""Poses of the hand are spread, turn about their point, and show the board."""

import numpy as np
import pytest

from bbllm.arm.driver import Array
from bbllm.robots.fr3 import FR3
from bbllm_vision.board import transformed
from bbllm_vision.calibration.arm_mover import hand_pose, postures
from bbllm_vision.calibration.postures import (
    FAR,
    NEAR,
    PoseRange,
    candidates,
    farthest_first,
    is_in_view,
)
from bbllm_vision.hand_eye import Mount, angle_of
from tests.vision.drawn_boards import BOARD, INTRINSICS, pose

HAND = pose((0.45, 0.1, 0.4), (175.0, 10.0, 30.0))
PIVOT_M = np.array([0.0, 0.0, 0.2])


@pytest.mark.parametrize('within', [NEAR, FAR])
def test_poses_turn_about_the_point_within_their_range(within: PoseRange) -> None:
    poses = candidates(HAND, PIVOT_M, within, 200, np.random.default_rng(0))
    middle_m = transformed(HAND, PIVOT_M[None])[0]
    shifts_m = np.stack([transformed(one, PIVOT_M[None])[0] for one in poses]) - middle_m
    turns = np.array([angle_of(one @ np.linalg.inv(HAND)) for one in poses])
    assert 0.9 * within.shift_m < np.abs(shifts_m).max() <= within.shift_m + 1e-9
    assert 0.9 * within.turn_rad < turns.max() <= within.turn_rad + 1e-9


def test_the_pose_that_differs_most_comes_first() -> None:
    turned = [HAND @ pose((0.0, 0.0, 0.0), (0.0, 0.0, angle)) for angle in (5.0, 40.0, 20.0)]
    first, second, third = farthest_first(np.stack(turned), [HAND])
    assert np.allclose(first, turned[1])
    assert np.allclose(second, turned[2])
    assert np.allclose(third, turned[0])


@pytest.mark.parametrize(
    ('seen', 'is_seen'),
    [
        (pose((0.0, 0.0, 0.6), (20.0, 0.0, 0.0)), True),
        (pose((0.0, 0.0, 0.6), (0.0, 0.0, 0.0)), False),  # flat: ambiguous
        (pose((0.0, 0.0, 0.6), (60.0, 0.0, 0.0)), False),  # askew
        (pose((0.0, 0.0, 0.6), (200.0, 0.0, 0.0)), False),  # from behind
        (pose((0.3, 0.0, 0.6), (20.0, 0.0, 0.0)), False),  # beside the picture
        (pose((0.0, 0.0, -0.6), (20.0, 0.0, 0.0)), False),  # behind the camera
        (pose((0.0, 0.0, 0.2), (20.0, 0.0, 0.0)), False),  # too large for the picture
    ],
)
@pytest.mark.parametrize('mount', list(Mount))
def test_a_board_is_in_view_where_all_of_it_is(mount: Mount, seen: Array, is_seen: bool) -> None:
    X, Z = pose((0.1, 0.2, 0.3), (10.0, 20.0, 30.0)), pose((0.4, 0.1, 0.0), (5.0, -50.0, 9.0))
    A = Z @ np.linalg.inv(X @ seen)
    T_base_hand = np.linalg.inv(A) if mount is Mount.STAND else A
    assert is_in_view(T_base_hand, mount, (X, Z), BOARD, INTRINSICS) is is_seen


def test_postures_reach_the_pose_of_the_hand_the_nearest_first() -> None:
    T_base_hand = hand_pose(FR3.home_rad) @ pose((0.02, 0.03, -0.01), (10.0, -5.0, 12.0))
    found = postures(T_base_hand, FR3.home_rad)
    assert len(found) > 5
    for one in found:
        assert hand_pose(one) == pytest.approx(T_base_hand, abs=1e-6)
    far = np.abs(found - FR3.home_rad).max(axis=1)
    assert (np.diff(far) >= 0.0).all()
    assert far[0] < 0.5
