"""Cameras are found where they are; what cannot be found is refused with numbers."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm_vision.board import BoardSighting, locate_board, transformed
from bbllm_vision.hand_eye import (
    BoardView,
    Bounds,
    CalibrationError,
    Mount,
    angle_of,
    check,
    solve,
    square_scale,
)
from tests.vision.drawn_boards import INTRINSICS, pose, views_of

STAND = pose((1.1, -0.4, 0.7), (100.0, 60.0, -130.0)), pose((0.0, 0.01, 0.2), (90.0, 0.0, 5.0))
HAND = pose((0.05, 0.0, 0.02), (3.0, -8.0, 88.0)), pose((0.5, 0.1, 0.0), (175.0, 4.0, 20.0))
TRUTH = {Mount.STAND: STAND, Mount.HAND: HAND}
MOUNTS = pytest.mark.parametrize('mount', list(Mount))


def off(found: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Return by how much a pose is off [m, rad]."""
    return float(np.linalg.norm(found[:3, 3] - truth[:3, 3])), angle_of(
        np.linalg.inv(truth) @ found
    )


@MOUNTS
def test_exact_views_give_the_exact_poses(mount: Mount) -> None:
    X, Z = TRUTH[mount]
    found = solve(views_of(mount, X, Z), mount, INTRINSICS)
    assert max(off(found.T_parent_camera, X)) < 1e-6
    assert max(off(found.T_carrier_board, Z)) < 1e-6
    assert found.left_out == ()
    assert found.residual_m < 1e-6
    assert found.error_m < 1e-6
    check(found, Bounds())


@MOUNTS
def test_noise_is_averaged_and_its_effect_is_estimated(mount: Mount) -> None:
    X, Z = TRUTH[mount]
    errors_m, estimates_m = [], []
    for seed in range(8):
        found = solve(views_of(mount, X, Z, noise_px=0.2, seed=seed), mount, INTRINSICS)
        point_m = np.array([[0.0, 0.0, 0.75]])
        shift_m = transformed(found.T_parent_camera, point_m) - transformed(X, point_m)
        errors_m.append(float(np.linalg.norm(shift_m)))
        estimates_m.append(found.error_m)
        check(found, Bounds())
    assert np.median(errors_m) < 1e-3
    assert 0.5 < np.sqrt(np.mean(np.square(errors_m)) / np.mean(np.square(estimates_m))) < 2.0


@MOUNTS
@pytest.mark.parametrize('axes', [(0.0, 0.0, 30.0), (0.5, 0.5, 0.5), (0.0, 0.0, 0.0)])
def test_turns_about_fewer_than_two_axes_are_refused(
    mount: Mount, axes: tuple[float, float, float]
) -> None:
    with pytest.raises(
        CalibrationError, match=r'turn the hand too little.*5\.00 degrees'
    ) as caught:
        solve(views_of(mount, *TRUTH[mount], axes=axes), mount, INTRINSICS)
    assert 'Tilt the hand by 15 to 30 degrees' in str(caught.value)


@MOUNTS
def test_a_view_that_does_not_belong_is_left_out_and_named(mount: Mount) -> None:
    X, Z = TRUTH[mount]
    views = views_of(mount, X, Z, noise_px=0.1)
    views[6] = moved(views[6], pose((0.0, 0.03, 0.0), (0.0, 0.0, 0.0)))
    found = solve(views, mount, INTRINSICS)
    (out,) = found.left_out
    assert out.name == 'view 7'
    assert out.distance_m == pytest.approx(0.03, abs=0.005)
    assert len(found.residuals) == 14
    assert off(found.T_parent_camera, X)[0] < 2e-3


def test_many_views_that_do_not_belong_are_refused_by_name() -> None:
    views = views_of(Mount.HAND, *HAND, count=10)
    for i, shift_m in enumerate((0.05, 0.08, 0.12)):
        views[3 * i] = moved(views[3 * i], pose((shift_m, 0.0, 0.0), (0.0, 5.0 * i, 0.0)))
    with pytest.raises(CalibrationError, match='contradict each other') as caught:
        solve(views, Mount.HAND, INTRINSICS)
    assert all(name in str(caught.value) for name in ('view 1', 'view 4', 'view 7'))
    assert 'nor the board on the table' in str(caught.value)


def test_too_few_views_are_refused() -> None:
    with pytest.raises(CalibrationError, match='There are 5 views of the board, and at least 6'):
        solve(views_of(Mount.STAND, *STAND, count=5), Mount.STAND, INTRINSICS)


def test_a_residual_above_its_bound_is_refused_with_the_worst_view() -> None:
    found = solve(views_of(Mount.STAND, *STAND, noise_px=0.3), Mount.STAND, INTRINSICS)
    worst = max(found.residuals, key=lambda one: one.distance_m)
    with pytest.raises(CalibrationError, match='The calibration is refused: its residual') as text:
        check(found, Bounds(residual_m=found.residual_m / 2))
    assert f'that of {worst.name}' in str(text.value)
    with pytest.raises(CalibrationError, match='standard error at the distance of the board'):
        check(found, Bounds(error_m=found.error_m / 2))
    check(found, Bounds(residual_m=found.residual_m * 1.01))


def test_a_print_of_another_size_is_measured_by_the_arm() -> None:
    views = views_of(Mount.STAND, *STAND, noise_px=0.05)
    taken_for_larger = [
        replace(view, sighting=seen_as(view.sighting.corners_px, view.sighting.points_m * 1.05))
        for view in views
    ]
    found = solve(taken_for_larger, Mount.STAND, INTRINSICS)
    assert square_scale(found, taken_for_larger, INTRINSICS) == pytest.approx(1 / 1.05, abs=2e-3)


def seen_as(corners_px: np.ndarray, points_m: np.ndarray) -> BoardSighting:
    """Return the sighting of corners that are taken to be elsewhere on the board."""
    found = locate_board(corners_px, points_m, INTRINSICS)
    assert isinstance(found, BoardSighting)
    return found


def moved(view: BoardView, T_board_moved: np.ndarray) -> BoardView:
    """Return a view with the board, or the joints, elsewhere than the others have it."""
    return replace(view, T_base_hand=view.T_base_hand @ T_board_moved)
