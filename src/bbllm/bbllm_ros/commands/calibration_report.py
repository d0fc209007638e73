"""What a calibration found, for people and as one JSON object."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.scene.camera import Intrinsics
from bbllm_vision.board import TagBoard
from bbllm_vision.calibration.calibration_file import CalibrationFile
from bbllm_vision.calibration.collecting import VIEWS, Attempt
from bbllm_vision.hand_eye import BoardView, HandEye, Mount, in_degrees, in_mm, square_scale

CALIBRATION = Path('calibration.yaml')
LARGEST_SCALE = 0.005
"""A board that seems to be larger or smaller than stated by this share is worth a warning."""


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """What is calibrated, and with how many views."""

    mount: Mount = option(
        'stand: the camera beside the arm, the board in the hand. hand: the camera on the hand, '
        'the board on the table.',
        default=Mount.STAND,
    )
    views: int = option('Views of the board.', default=VIEWS, metavar='N', min=6, max=100)


def print_attempt(attempt: Attempt, output: Output) -> None:
    """Print one line for a picture that was taken."""
    if attempt.reason:
        output.print(f'  picture {attempt.number}: no view: {attempt.reason}', 'yellow')
    else:
        output.print(f'  view {attempt.views} of {attempt.wanted}', 'dim')


def report(
    found: HandEye,
    views: Sequence[BoardView],
    intrinsics: Intrinsics,
    board: TagBoard,
    calibration: CalibrationFile,
    output: Output,
) -> dict[str, object]:
    """Print what was found, and return it for JSON."""
    x, y, z = calibration.xyz_m
    qx, qy, qz, qw = calibration.quat_xyzw
    output.print()
    output.print(f'{calibration.child_frame} in {calibration.parent_frame}:', 'bold')
    output.print(f'  xyz        {x:.4f} {y:.4f} {z:.4f} m')
    output.print(f'  quat_xyzw  {qx:.5f} {qy:.5f} {qz:.5f} {qw:.5f}')
    output.print(
        f'Residual: {in_mm(found.residual_m)} and {in_degrees(found.residual_rad)}, root mean '
        'square over the views, each compared with what all others predict.'
    )
    output.print(
        f'Standard error: {in_mm(found.error_m)} at the distance of the board, '
        f'{in_degrees(found.error_rad)}.'
    )
    scale = square_scale(found, views, intrinsics)
    square_mm = board.square_m * 1e3
    text = (
        f"Squares: {square_mm:.2f} mm as stated, {scale * square_mm:.2f} mm by the arm's motions."
    )
    if abs(scale - 1.0) > LARGEST_SCALE:
        output.print(f'{text} Measure the print again, and give --square-mm.', 'yellow')
    else:
        output.print(text)
    for one in found.left_out:
        output.print(
            f'{one.name} was left out: it is {in_mm(one.distance_m)} and '
            f'{in_degrees(one.angle_rad)} from where the others predict the board.',
            'yellow',
        )
    return {
        **calibration.model_dump(mode='json'),
        'command': calibration.command,
        'square_mm': square_mm,
        'square_by_arm_mm': scale * square_mm,
        'reprojection_px': found.reprojection_px,
        'turns_deg': [float(np.degrees(turn)) for turn in found.turns_rad],
        'left_out_views': [one.name for one in found.left_out],
    }


def check_new(path: Path) -> None:
    """Raise ConfigError where a file cannot be written or would be lost, before anything moves."""
    if path.exists():
        raise ConfigError(f'{path} exists. Name another file with --out, or remove it.')
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)):
        raise ConfigError(
            f'{path} cannot be written: {path.parent} is no folder that can be written to. Make '
            'it, or name another file with --out.'
        )
