"""Views of the board: an arm is guided from one pose to the next, and a picture taken at each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import Array
from bbllm.core.errors import WorldError
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import HAND
from bbllm.scene.camera import Intrinsics, Pixels
from bbllm_vision.board import NotSeen, TagBoard, find_board
from bbllm_vision.hand_eye import BoardView, CalibrationError

VIEWS = 15
"""More improve the calibration by the square root of their number at best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPicture:
    """A picture, and where the hand was when it was taken."""

    rgb: Pixels
    intrinsics: Intrinsics
    T_base_hand: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One picture that was taken, for people who watch."""

    number: int
    """Of the pictures taken."""
    views: int
    """How many show the board by now."""
    wanted: int
    reason: str
    """Why it is no view; empty where it is one."""


def hand_pose(position_rad: Array) -> Array:
    """Return T_base_hand, the pose of the hand, of joint positions, shape (7,) [rad]."""
    return np.asarray(FR3.kinematics.link_frames(position_rad)[HAND])


def collect(
    shoot: Callable[[], ArmPicture],
    wait: Callable[[int], bool],
    board: TagBoard,
    *,
    count: int,
    on_attempt: Callable[[Attempt], object],
) -> tuple[list[BoardView], Intrinsics]:
    """
    Return views of the board.

    Args:
        shoot: Takes a picture of an arm at rest; an arm that moves is a WorldError.
        wait: Called with the number of the next view; returns once the arm is there, or False
            where the person wants no more.
        board: Which board is looked for.
        count: How many views.
        on_attempt: Called after each picture.

    Raises:
        CalibrationError: There was no view, or the camera has changed its settings.
    """
    views: list[BoardView] = []
    intrinsics: Intrinsics | None = None
    taken = 0
    while len(views) < count and wait(len(views) + 1):
        taken += 1
        reason = ''
        try:
            picture = shoot()
            if intrinsics not in (None, picture.intrinsics):
                raise CalibrationError(
                    'The camera changed its size or lens between two views. Leave its settings '
                    'as they are, and take all views again.'
                )
            intrinsics = picture.intrinsics
            found = find_board(picture.rgb, picture.intrinsics, board)
            if isinstance(found, NotSeen):
                reason = found.reason
            else:
                name, T_base_hand = f'view {len(views) + 1}', picture.T_base_hand
                views.append(BoardView(name=name, T_base_hand=T_base_hand, sighting=found))
        except WorldError as error:
            reason = str(error).rstrip('.')
        on_attempt(Attempt(number=taken, views=len(views), wanted=count, reason=reason))
    if intrinsics is None or not views:
        raise CalibrationError(
            'There is no view of the board. Guide the arm to where the whole board is in the '
            'picture, and press Enter there.'
        )
    return views, intrinsics
