"""Views are collected of a guided arm; what is no view has its reason."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.core.errors import WorldError
from bbllm_vision.calibration.collecting import ArmPicture, Attempt, collect
from bbllm_vision.hand_eye import BoardView, CalibrationError
from tests.vision.drawn_boards import BOARD, INTRINSICS, picture_of, pose

SEEN = ArmPicture(
    rgb=picture_of(pose((0.0, 0.0, 0.6), (20.0, 5.0, 0.0))),
    intrinsics=INTRINSICS,
    T_base_hand=np.eye(4),
)
BLANK = replace(SEEN, rgb=np.zeros_like(SEEN.rgb))


def run(*pictures: ArmPicture | WorldError) -> tuple[list[BoardView], list[Attempt]]:
    """Collect at most two views of an arm that is guided to these pictures."""
    left, attempts = list(pictures), list[Attempt]()

    def shoot() -> ArmPicture:
        picture = left.pop(0)
        if isinstance(picture, WorldError):
            raise picture
        return picture

    views, _ = collect(
        shoot, lambda number: bool(left), BOARD, count=2, on_attempt=attempts.append
    )
    return views, attempts


def test_pictures_are_taken_until_there_are_enough_views() -> None:
    views, attempts = run(SEEN, BLANK, WorldError('The arm moved.'), SEEN, SEEN)
    assert [view.name for view in views] == ['view 1', 'view 2']
    assert [attempt.reason[:15] for attempt in attempts] == [
        '', '0 of 15 corners', 'The arm moved', '',
    ]  # fmt: skip
    assert [attempt.views for attempt in attempts] == [1, 1, 1, 2]


def test_a_person_may_end_early_with_a_view() -> None:
    assert len(run(SEEN)[0]) == 1
    with pytest.raises(CalibrationError, match='There is no view of the board'):
        run(BLANK)


def test_views_of_two_settings_of_a_camera_are_refused() -> None:
    other = replace(SEEN, intrinsics=replace(INTRINSICS, fx_px=600.0))
    with pytest.raises(CalibrationError, match='changed its size or lens'):
        run(SEEN, other)
