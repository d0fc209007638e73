"""Views of the board: the arm goes from one pose to the next, and a picture is taken at each."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.core.errors import WorldError
from bbllm.scene.camera import Intrinsics, Pixels
from bbllm_vision.board import BoardSighting, NotSeen, TagBoard, find_board
from bbllm_vision.calibration.postures import FAR, NEAR, candidates, farthest_first, is_in_view
from bbllm_vision.hand_eye import BoardView, CalibrationError, ClosedForm, Mount, closed_form

VIEWS = 15
"""More improve the calibration by the square root of their number at best."""
FIRST_VIEWS = 5
"""With so many views near each other a first solution is made, which shows what is in view."""
DRAWN = 60
"""Poses that are drawn at once ..."""
DRAWS = 5
"""... and how often, until one of them can be reached."""
TRIES_PER_VIEW = 4


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


class Mover(Protocol):
    """An arm that goes to poses of its hand; `ArmMover` is one."""

    def way_to(self, T_base_hand: Array) -> JointTrajectory | None:
        """Return a free way; None where there is none."""

    def follow(self, way: JointTrajectory) -> None:
        """Move and rest."""


def view_of(shot: ArmPicture, board: TagBoard, name: str) -> BoardView | NotSeen:
    """Return what a picture shows of the board, with where the hand was."""
    found = find_board(shot.rgb, shot.intrinsics, board)
    if isinstance(found, BoardSighting):
        return BoardView(name=name, T_base_hand=shot.T_base_hand, sighting=found)
    return found


def collect(
    mover: Mover,
    shoot: Callable[[], ArmPicture],
    board: TagBoard,
    mount: Mount,
    pivot_m: Array,
    *,
    count: int = VIEWS,
    seed: int = 0,
    on_attempt: Callable[[Attempt], object] = lambda attempt: None,
) -> tuple[list[BoardView], Intrinsics]:
    """
    Return views of the board from poses around that where the arm is.

    Args:
        mover: Moves the arm.
        shoot: Takes a picture; the arm rests.
        board: Which board is looked for; the picture from where the arm is must show it.
        mount: Where the camera is.
        pivot_m: About which point of the hand's frame poses turn, shape (3,): the middle of the
            board, or of what a camera on the hand sees [m].
        count: How many views.
        seed: Of the poses.
        on_attempt: Called after each picture.

    Raises:
        CalibrationError: The first picture does not show the board, or too few of all do.
        SkillError: A motion failed.
    """
    dice = np.random.default_rng(seed)
    first = shoot()
    intrinsics, views, reasons, taken = first.intrinsics, list[BoardView](), Counter[str](), 0
    shot: ArmPicture | None = first
    while True:
        if shot is not None:
            taken += 1
            found = view_of(shot, board, f'view {len(views) + 1}')
            reason = found.reason if isinstance(found, NotSeen) else ''
            if isinstance(found, BoardView):
                views.append(found)
            elif taken == 1:
                raise CalibrationError(
                    f'The camera does not see the board from where the arm is: {reason}. Move the '
                    'arm so that the whole board is in the picture, tilted by about 20 degrees.'
                )
            reasons[reason] += bool(reason)
            on_attempt(Attempt(number=taken, views=len(views), wanted=count, reason=reason))
        if len(views) == count:
            return views, intrinsics
        if taken >= TRIES_PER_VIEW * count:
            raise CalibrationError(_too_few(len(views), taken, reasons))
        way = _next_way(mover, views, first.T_base_hand, mount, board, intrinsics, pivot_m, dice)
        if way is None:
            raise CalibrationError(
                f'There are {len(views)} of {count} views, and none of {DRAWS * DRAWN} more poses '
                'around the first one can be reached within limits and without contact. Start '
                "from a pose further from the joints' limits, or ask for fewer views."
            )
        mover.follow(way)
        shot = shoot()


def _next_way(
    mover: Mover,
    views: list[BoardView],
    T_base_hand: Array,
    mount: Mount,
    board: TagBoard,
    intrinsics: Intrinsics,
    pivot_m: Array,
    dice: np.random.Generator,
) -> JointTrajectory | None:
    """Return a way to a pose that differs much from the earlier ones and shows the board."""
    known = len(views) >= FIRST_VIEWS
    solution = closed_form(views, mount, ClosedForm.PARK) if known else None
    for _ in range(DRAWS):
        poses = candidates(T_base_hand, pivot_m, FAR if known else NEAR, DRAWN, dice)
        if solution is not None:
            seen = [is_in_view(pose, mount, solution, board, intrinsics) for pose in poses]
            poses = poses[np.array(seen)]
        for pose in farthest_first(poses, [view.T_base_hand for view in views]):
            way = mover.way_to(pose)
            if way is not None:
                return way
    return None


def _too_few(views: int, taken: int, reasons: Counter[str]) -> str:
    often, times = reasons.most_common(1)[0]
    return (
        f'{views} of {taken} pictures show the board. Most often ({times} times): {often}. Put '
        'the board in the middle of the picture, with even light and without glare.'
    )


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
