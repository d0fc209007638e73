"""Views of the board while a person guides the arm from pose to pose."""

from collections.abc import Callable

from bbllm.core.errors import WorldError
from bbllm.scene.camera import Intrinsics
from bbllm_vision.board import NotSeen, TagBoard
from bbllm_vision.calibration.collecting import ArmPicture, Attempt, view_of
from bbllm_vision.hand_eye import BoardView, CalibrationError


def collect_by_hand(
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
            found = view_of(picture, board, f'view {len(views) + 1}')
            if isinstance(found, NotSeen):
                reason = found.reason
            else:
                views.append(found)
        except WorldError as error:
            reason = str(error).rstrip('.')
        on_attempt(Attempt(number=taken, views=len(views), wanted=count, reason=reason))
    if intrinsics is None or not views:
        raise CalibrationError(
            'There is no view of the board. Guide the arm to where the whole board is in the '
            'picture, and press Enter there.'
        )
    return views, intrinsics
