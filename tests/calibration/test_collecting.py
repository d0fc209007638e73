"""Views are collected by an arm that goes from pose to pose; failures give their reasons."""

import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory
from bbllm_vision.calibration.collecting import ArmPicture, Attempt, collect
from bbllm_vision.hand_eye import CalibrationError, Mount, predicted, solve
from tests.vision.drawn_boards import BOARD, INTRINSICS, picture_of, pose

X = pose((1.1, -0.4, 0.7), (100.0, 60.0, -130.0))
Z = pose((0.0, 0.01, 0.2), (90.0, 0.0, 5.0))
START = np.linalg.inv(Z @ np.linalg.inv(X @ pose((0.0, 0.0, 0.7), (20.0, 5.0, 0.0))))
WAY = JointTrajectory(np.zeros(2), np.zeros((2, 7)), np.zeros((2, 7)), np.zeros((2, 7)))


class PaperArm:
    """Is at once where it is sent to, and draws the pictures there."""

    def __init__(self, T_base_hand: Array, *, reaches: bool = True, blind: bool = False):
        self._at = self._next = T_base_hand
        self._reaches, self._blind = reaches, blind
        self._moved = False

    def way_to(self, T_base_hand: Array) -> JointTrajectory | None:
        self._next = T_base_hand
        return WAY if self._reaches else None

    def follow(self, way: JointTrajectory) -> None:
        self._at, self._moved = self._next, True

    def shoot(self) -> ArmPicture:
        seen = predicted(self._at, Mount.STAND, X, Z)
        rgb = picture_of(seen)
        if self._moved and self._blind:
            rgb[:] = 0
        return ArmPicture(rgb=rgb, intrinsics=INTRINSICS, T_base_hand=self._at)


def run(arm: PaperArm, count: int = 10) -> list[Attempt]:
    """Collect views, solve, and return what was reported on the way."""
    attempts: list[Attempt] = []
    views, intrinsics = collect(
        arm, arm.shoot, BOARD, Mount.STAND, Z[:3, 3], count=count, on_attempt=attempts.append
    )
    found = solve(views, Mount.STAND, intrinsics)
    assert np.linalg.norm(found.T_parent_camera[:3, 3] - X[:3, 3]) < 2e-3
    return attempts


def test_views_are_collected_until_there_are_enough() -> None:
    attempts = run(PaperArm(START))
    assert attempts[-1].views == 10
    assert [one.number for one in attempts] == list(range(1, len(attempts) + 1))
    assert sum(not one.reason for one in attempts) == 10


def test_a_start_without_the_board_is_refused_with_what_would_do() -> None:
    arm = PaperArm(START @ pose((0.0, 0.0, 0.0), (0.0, 0.0, 180.0)))
    with pytest.raises(CalibrationError, match='does not see the board from where') as caught:
        run(arm)
    assert 'Move the arm so that the whole board is in the picture' in str(caught.value)


def test_an_arm_that_reaches_no_pose_is_an_error_with_how_many_were_tried() -> None:
    with pytest.raises(CalibrationError, match='There are 1 of 10 views, and none of 300'):
        run(PaperArm(START, reaches=False))


def test_a_board_that_is_never_seen_again_ends_the_collection() -> None:
    with pytest.raises(CalibrationError, match='1 of 24 pictures show the board') as caught:
        run(PaperArm(START, blind=True), count=6)
    assert '(23 times): 0 of 15 corners' in str(caught.value)
