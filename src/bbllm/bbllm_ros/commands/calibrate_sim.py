"""`bbllm calibrate sim`: calibrates a simulated camera, and compares with the truth."""

from pathlib import Path

import numpy as np

from bbllm.api.config import SeedChoice
from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm_ros.commands.calibration_report import (
    CalibrationOptions,
    check_new,
    print_attempt,
    report,
)
from bbllm_vision.board import TagBoard, transformed
from bbllm_vision.hand_eye import Bounds, angle_of, check, in_degrees, in_mm, solve


def sim(
    *,
    chosen: CalibrationOptions,
    noise: SeedChoice,
    out: Path | None = option('Write the calibration to this new .yaml file.'),  # noqa: B008  # a name
    json: JsonOption = False,
) -> None:
    """
    Calibrate a simulated camera, and compare with the truth.

    The arm is set from posture to posture as a person would guide it, a D435
    with its noise takes the pictures. --seed draws where exactly the camera
    is, and the postures. Needs EGL or OSMesa.

    Examples:
      bbllm calibrate sim
      bbllm calibrate sim --mount hand --seed 3 --out camera.yaml
    """
    from bbllm_vision.calibration.calibration_file import calibration_of, save
    from bbllm_vision.calibration.collecting import collect
    from bbllm_vision.calibration.simulated import CAMERAS, T_LINK_OPTICAL, simulated_arm

    if out is not None:
        check_new(out)
    output, board = Output(json), TagBoard()
    with simulated_arm(chosen.mount, board, count=chosen.views, seed=noise.seed) as arm:
        views, intrinsics = collect(
            arm.take,
            arm.guide,
            board,
            count=chosen.views,
            on_attempt=lambda attempt: print_attempt(attempt, output),
        )
    found = solve(views, chosen.mount, intrinsics)
    check(found, Bounds())
    frame = f'{CAMERAS[chosen.mount].name}_link'
    calibration = calibration_of(found, frame, T_LINK_OPTICAL)
    result = report(found, views, intrinsics, board, calibration, output)
    X, Y = found.T_parent_camera, arm.T_parent_camera
    at_m = np.mean([view.sighting.T_camera_board[:3, 3] for view in views], axis=0)[None]
    camera_m = float(np.linalg.norm(X[:3, 3] - Y[:3, 3]))
    point_m = float(np.linalg.norm(transformed(X, at_m) - transformed(Y, at_m)))
    angle_rad = angle_of(np.linalg.inv(Y) @ X)
    output.print(
        f'Truth: the camera is {in_mm(camera_m)} and {in_degrees(angle_rad)} off, a point at the '
        f'distance of the board {in_mm(point_m)}.',
        'green',
    )
    if out is not None:
        output.print_path('file', save(calibration, out))
    output.result(
        {
            **result,
            'true_camera_mm': camera_m * 1e3,
            'true_angle_deg': float(np.degrees(angle_rad)),
            'true_point_mm': point_m * 1e3,
            'file': None if out is None else str(out),
        }
    )
