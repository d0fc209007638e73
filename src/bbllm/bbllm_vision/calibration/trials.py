"""Many simulated calibrations of cameras at random: their errors, and what predicts them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from bbllm.arm.driver import Array
from bbllm.scene.camera import Intrinsics
from bbllm_vision.board import TagBoard, transformed
from bbllm_vision.calibration.collecting import VIEWS, Attempt, collect
from bbllm_vision.calibration.placements import Placement
from bbllm_vision.calibration.simulated import EXACT, SetupErrors, rig
from bbllm_vision.hand_eye import (
    BoardView,
    Bounds,
    CalibrationError,
    ClosedForm,
    HandEye,
    Mount,
    angle_of,
    check,
    closed_form,
    solve,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A calibration beside the truth."""

    found: HandEye
    views: tuple[BoardView, ...]
    intrinsics: Intrinsics
    """As the pictures came with them."""
    truth: Placement
    camera_m: float
    """How far the camera is from where it was found [m]."""
    angle_rad: float
    point_m: float
    """How far a point at the distance of the board is from where it was found [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Median, 95th percentile and largest of all trials that were accepted."""

    median: float
    p95: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigures:
    """What one closed form of OpenCV alone finds on the views of the accepted trials."""

    method: str
    camera_mm: Quantiles
    angle_deg: Quantiles
    point_mm: Quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFigures:
    """What a number of trials measured."""

    mount: Mount
    trials: int
    accepted: int
    refusals: tuple[str, ...]
    """One line per trial that ended in an error."""
    camera_mm: Quantiles
    """How far the camera is from where it was found."""
    angle_deg: Quantiles
    point_mm: Quantiles
    """How far a point at the distance of the board is from where it was found."""
    residual_mm: Quantiles
    residual_deg: Quantiles
    error_mm: Quantiles
    """What the calibration itself estimates for `point_mm`, its standard error."""
    within: float
    """Share of the accepted trials whose point is off by at most twice that estimate."""
    residual_rank: float
    """Spearman's correlation of residual and `point_mm`; nan for fewer than 3 trials."""
    error_rank: float
    """The same of `error_mm` and `point_mm`."""
    methods: tuple[MethodFigures, ...]
    """The closed forms beside the refined solution, which the other figures are of."""


def run_trial(
    mount: Mount,
    *,
    board: TagBoard | None = None,
    count: int = VIEWS,
    seed: int = 0,
    errors: SetupErrors = EXACT,
    on_attempt: Callable[[Attempt], object] = lambda attempt: None,
) -> Trial:
    """
    Calibrate a simulated camera, and compare with the truth.

    Raises:
        CalibrationError: The views do not allow a calibration.
        RenderError: No picture can be drawn on this machine.
    """
    board = board or TagBoard()
    with rig(mount, board, seed=seed, errors=errors) as (truth, mover, shoot):
        views, intrinsics = collect(
            mover,
            shoot,
            board,
            mount,
            truth.pivot_m,
            count=count,
            seed=seed,
            on_attempt=on_attempt,
        )
    return _compared(solve(views, mount, intrinsics), views, intrinsics, truth)


def _compared(
    found: HandEye, views: list[BoardView], intrinsics: Intrinsics, truth: Placement
) -> Trial:
    """Return by how much a calibration is off."""
    camera_m, angle_rad, point_m = _off(found.T_parent_camera, views, truth)
    return Trial(
        found=found,
        views=tuple(views),
        intrinsics=intrinsics,
        truth=truth,
        camera_m=camera_m,
        angle_rad=angle_rad,
        point_m=point_m,
    )


def _off(X: Array, views: Sequence[BoardView], truth: Placement) -> tuple[float, float, float]:
    """Return how far off camera [m], orientation [rad] and a point at the board [m] are."""
    point_m = np.mean([view.sighting.T_camera_board[:3, 3] for view in views], axis=0)[None]
    Y = truth.T_parent_camera
    return (
        float(np.linalg.norm(X[:3, 3] - Y[:3, 3])),
        angle_of(np.linalg.inv(Y) @ X),
        float(np.linalg.norm(transformed(X, point_m) - transformed(Y, point_m))),
    )


def _of_method(method: ClosedForm, trials: Sequence[Trial]) -> MethodFigures:
    off = np.array(
        [
            _off(closed_form(trial.views, trial.found.mount, method)[0], trial.views, trial.truth)
            for trial in trials
        ]
    )
    return MethodFigures(
        method=method.name.lower(),
        camera_mm=_quantiles(off[:, 0] * 1e3),
        angle_deg=_quantiles(np.degrees(off[:, 1])),
        point_mm=_quantiles(off[:, 2] * 1e3),
    )


def run_trials(
    mount: Mount,
    trials: int,
    *,
    count: int = VIEWS,
    seed: int = 0,
    errors: SetupErrors = EXACT,
    bounds: Bounds | None = None,
    on_trial: Callable[[int], object] = lambda done: None,
) -> TrialFigures:
    """
    Calibrate cameras of the seeds from *seed* on.

    Raises:
        RenderError: No picture can be drawn on this machine.
        CalibrationError: None of the trials was accepted.
    """
    accepted, refusals = list[Trial](), list[str]()
    for number in range(trials):
        try:
            trial = run_trial(mount, count=count, seed=seed + number, errors=errors)
            check(trial.found, bounds or Bounds())
            accepted.append(trial)
        except CalibrationError as refusal:
            refusals.append(f'seed {seed + number}: {refusal}')
        on_trial(number + 1)
    if not accepted:
        raise CalibrationError(f'None of {trials} trials was accepted. {refusals[0]}')
    point = np.array([trial.point_m for trial in accepted])
    residual = np.array([trial.found.residual_m for trial in accepted])
    error = np.array([trial.found.error_m for trial in accepted])
    return TrialFigures(
        mount=mount,
        trials=trials,
        accepted=len(accepted),
        refusals=tuple(refusals),
        camera_mm=_quantiles([trial.camera_m * 1e3 for trial in accepted]),
        angle_deg=_quantiles([np.degrees(trial.angle_rad) for trial in accepted]),
        point_mm=_quantiles(point * 1e3),
        residual_mm=_quantiles(residual * 1e3),
        residual_deg=_quantiles([np.degrees(trial.found.residual_rad) for trial in accepted]),
        error_mm=_quantiles(error * 1e3),
        within=float((point <= 2.0 * error).mean()),
        residual_rank=_rank(residual, point),
        error_rank=_rank(error, point),
        methods=tuple(_of_method(method, accepted) for method in ClosedForm),
    )


def _quantiles(values: object) -> Quantiles:
    numbers = np.asarray(values, dtype=np.float64)
    return Quantiles(
        median=float(np.median(numbers)),
        p95=float(np.percentile(numbers, 95)),
        most=float(numbers.max()),
    )


def _rank(first: np.ndarray, second: np.ndarray) -> float:
    if len(first) < 3 or not (np.ptp(first) and np.ptp(second)):
        return float('nan')
    return float(spearmanr(first, second).statistic)
