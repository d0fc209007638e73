"""The board is found where it is drawn, and a view that does not show its pose is refused."""

import numpy as np
import pytest

from bbllm_vision.board import BoardSighting, NotSeen, TagBoard, find_board, locate_board
from bbllm_vision.hand_eye import angle_of
from tests.vision.drawn_boards import BOARD, INTRINSICS, picture_of, pose, sighting_of


@pytest.mark.parametrize('distance_m', [0.35, 0.6, 1.0])
@pytest.mark.parametrize('turn', [(25.0, 0.0, 0.0), (-15.0, 20.0, 40.0), (10.0, -25.0, 170.0)])
def test_the_pose_is_that_of_the_drawing(distance_m: float, turn: tuple[float, ...]) -> None:
    T_camera_board = pose((0.02, -0.01, distance_m), turn)
    found = find_board(picture_of(T_camera_board), INTRINSICS, BOARD)
    assert isinstance(found, BoardSighting)
    assert len(found.corners_px) == BOARD.corner_count
    off_m = np.linalg.norm(found.T_camera_board[:3, 3] - T_camera_board[:3, 3])
    assert off_m < 0.003 * distance_m**2
    assert angle_of(np.linalg.inv(found.T_camera_board) @ T_camera_board) < np.radians(0.5)
    assert found.error_px < 0.3


def test_a_part_of_the_board_is_enough() -> None:
    T_camera_board = pose((0.14, 0.0, 0.4), (20.0, 15.0, 0.0))
    found = find_board(picture_of(T_camera_board), INTRINSICS, BOARD)
    assert isinstance(found, BoardSighting)
    assert len(found.corners_px) < BOARD.corner_count
    assert np.abs(found.T_camera_board[:3, 3] - T_camera_board[:3, 3]).max() < 1e-3


def test_a_picture_without_the_board_is_refused_with_what_is_missing() -> None:
    blank = np.full((480, 640, 3), 120, np.uint8)
    found = find_board(blank, INTRINSICS, BOARD)
    assert isinstance(found, NotSeen)
    assert found.reason.startswith('0 of 15 corners of the board are visible')


def test_another_board_is_not_taken_for_this_one() -> None:
    other = TagBoard(columns=4, rows=6)
    picture = picture_of(pose((0.0, 0.0, 0.5), (20.0, 0.0, 0.0)))
    found = find_board(picture, INTRINSICS, other)
    assert isinstance(found, NotSeen)


def test_a_pose_that_has_a_twin_is_refused() -> None:
    dice = np.random.default_rng(1)
    noise_px = dice.normal(size=(BOARD.corner_count, 2)) * 0.3
    found = sighting_of(pose((0.0, 0.0, 2.5), (4.0, 0.0, 0.0)), noise_px)
    assert isinstance(found, NotSeen)
    assert 'two poses of the board cannot be distinguished' in found.reason


def test_corners_of_a_bent_board_are_refused() -> None:
    noise_px = np.zeros((BOARD.corner_count, 2))
    noise_px[::2, 0] = 5.0
    found = sighting_of(pose((0.0, 0.0, 0.5), (25.0, 0.0, 0.0)), noise_px)
    assert isinstance(found, NotSeen)
    assert 'a flatter print or a sharper picture' in found.reason


def test_corners_on_one_line_have_no_pose() -> None:
    line_m = np.stack([np.linspace(0.0, 0.1, 8), np.zeros(8), np.zeros(8)], axis=1)
    corners_px = np.stack([np.linspace(300, 400, 8), np.full(8, 240.0)], axis=1)
    found = locate_board(corners_px, line_m, INTRINSICS)
    assert found == NotSeen('all corners that are visible are on one line')
