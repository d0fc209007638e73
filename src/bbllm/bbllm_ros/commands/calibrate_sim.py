"""`bbllm calibrate sim`: calibrates a simulated camera, and compares with the truth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bbllm.api.config import SeedChoice
from bbllm.cli.support.options import JsonOption, count
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm_ros.commands.calibration_report import (
    CalibrationOptions,
    check_new,
    print_attempt,
    report,
)
from bbllm_vision.board import TagBoard
from bbllm_vision.hand_eye import Bounds, Mount, check, in_degrees, in_mm

if TYPE_CHECKING:
    from bbllm_vision.calibration.simulated import SetupErrors


def sim(
    *,
    chosen: CalibrationOptions,
    noise: SeedChoice,
    trials: int | None = count('Calibrate so many cameras at random, and print figures of all.'),
    joint_error_mrad: float = option(
        'Let each joint be off by a constant of this standard deviation.',
        default=0.0,
        metavar='X',
        min=0.0,
        max=20.0,
    ),
    focal_error_percent: float = option(
        'Let the focal length of camera_info be off by this standard deviation.',
        default=0.0,
        metavar='X',
        min=0.0,
        max=10.0,
    ),
    out: Path | None = option('Write the calibration to this new .yaml file.'),  # noqa: B008  # a name
    json: JsonOption = False,
) -> None:
    """
    Calibrate a simulated camera, and compare with the truth.

    Camera and board are placed at random; the arm moves to poses around the
    first one, a D435 with its noise takes the pictures. Needs EGL or OSMesa.

    Examples:
      bbllm calibrate sim
      bbllm calibrate sim --mount hand --seed 3 --out camera.yaml
      bbllm calibrate sim --trials 20 --joint-error-mrad 1
    """
    from bbllm_vision.calibration.simulated import SetupErrors

    output = Output(json)
    errors = SetupErrors(joint_rad=joint_error_mrad * 1e-3, focal_share=focal_error_percent * 1e-2)
    if trials is not None:
        if out is not None:
            raise ConfigError('--out is for one calibration: leave --trials out.')
        _run_trials(chosen, trials, noise.seed, errors, output)
        return
    from bbllm_vision.calibration.calibration_file import calibration_of, save
    from bbllm_vision.calibration.placements import CAMERA_NAMES, T_LINK_OPTICAL
    from bbllm_vision.calibration.trials import run_trial

    if out is not None:
        check_new(out)
    board = TagBoard()
    trial = run_trial(
        chosen.mount,
        board=board,
        count=chosen.views,
        seed=noise.seed,
        errors=errors,
        on_attempt=lambda attempt: print_attempt(attempt, output),
    )
    check(trial.found, Bounds())
    frame = f'{CAMERA_NAMES[chosen.mount]}_link'
    calibration = calibration_of(trial.found, frame, T_LINK_OPTICAL)
    result = report(trial.found, trial.views, trial.intrinsics, board, calibration, output)
    output.print(
        f'Truth: the camera is {in_mm(trial.camera_m)} and {in_degrees(trial.angle_rad)} off, a '
        f'point at the distance of the board {in_mm(trial.point_m)}.',
        'green',
    )
    if out is not None:
        output.print_path('file', save(calibration, out))
    output.result(
        {
            **result,
            'true_camera_mm': trial.camera_m * 1e3,
            'true_angle_deg': float(np.degrees(trial.angle_rad)),
            'true_point_mm': trial.point_m * 1e3,
            'file': None if out is None else str(out),
        }
    )


def _run_trials(
    chosen: CalibrationOptions, trials: int, seed: int, errors: SetupErrors, output: Output
) -> None:
    from bbllm_vision.calibration.trials import run_trials

    with output.bar(trials) as progress:
        figures = run_trials(
            chosen.mount,
            trials,
            count=chosen.views,
            seed=seed,
            errors=errors,
            on_trial=lambda done: progress(completed=done, description=f'{done} of {trials}'),
        )
    where = 'on a stand' if chosen.mount is Mount.STAND else 'on the hand'
    output.print(
        f'{figures.accepted} of {figures.trials} calibrations of a camera {where} accepted, '
        f'{chosen.views} views each.',
        'bold',
    )
    rows = (
        ('camera off [mm]', figures.camera_mm),
        ('camera off [degrees]', figures.angle_deg),
        ('point at the board off [mm]', figures.point_mm),
        ('its estimate, the standard error [mm]', figures.error_mm),
        ('residual [mm]', figures.residual_mm),
        ('residual [degrees]', figures.residual_deg),
    )
    output.print(f'{"":<40}{"median":>9}{"p95":>9}{"max":>9}')
    for name, spread in rows:
        output.print(f'{name:<40}{spread.median:>9.3f}{spread.p95:>9.3f}{spread.most:>9.3f}')
    output.print(
        f'The point is off by at most twice its estimate in {100 * figures.within:.0f} %.'
    )
    if np.isfinite([figures.residual_rank, figures.error_rank]).all():
        output.print(
            f'Rank correlation with how far the point is off: residual '
            f'{figures.residual_rank:.2f}, standard error {figures.error_rank:.2f}.'
        )
    output.print(
        f'\n{"one closed form alone: point off [mm]":<40}{"median":>9}{"p95":>9}{"max":>9}'
    )
    for one in figures.methods:
        point = one.point_mm
        output.print(f'{one.method:<40}{point.median:>9.3f}{point.p95:>9.3f}{point.most:>9.3f}')
    for refusal in figures.refusals:
        output.print_item(refusal)
    output.result(asdict(figures))
