"""`bbllm calibrate real`: calibrates a camera while a person guides the arm."""

import sys
from pathlib import Path

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.options import JsonOption, domain_option
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.constants import REAL_NAMESPACE, checked_namespace
from bbllm_ros.commands.calibration_report import (
    CALIBRATION,
    CalibrationOptions,
    check_new,
    print_attempt,
    report,
)
from bbllm_vision.board import TagBoard
from bbllm_vision.hand_eye import Bounds, Mount, check, solve

CAMERA = '/camera/camera'
"""Where realsense2_camera publishes by default."""


def real(
    *,
    chosen: CalibrationOptions,
    camera: str = option(
        'Namespace of the camera: topics are NAME/color/image_raw and NAME/color/camera_info.',
        default=CAMERA,
    ),
    namespace: str = option(
        "The driver's, whose joint states are read.",
        default=REAL_NAMESPACE,
        callback=checked_namespace,
    ),
    domain: int | None = domain_option(),
    square_mm: float = option(
        'Length of a square of the print, as it was measured.',
        default=TagBoard().square_m * 1e3,
        metavar='X',
        min=5.0,
        max=500.0,
    ),
    out: Path = option(  # noqa: B008  # a name
        'Write the calibration to this new .yaml file.', default=CALIBRATION
    ),
    json: JsonOption = False,
) -> None:
    """
    Calibrate a camera while a person guides the arm.

    Nothing is sent to the robot: guide the arm by hand to a pose from which
    the camera sees the whole board, let go, and press Enter; then to the
    next one, tilted by 15 to 30 degrees in another direction. q and Enter
    ends early. docs/calibration.md has all steps.

    Examples:
      bbllm calibrate real
      bbllm calibrate real --mount hand --camera /camera/camera --square-mm 41.9
    """
    need_ros('bbllm calibrate real')
    choose_domain(domain)
    check_new(out)
    from bbllm_ros.calibration.arm_camera import ArmCamera
    from bbllm_vision.calibration.calibration_file import calibration_of, camera_root, save
    from bbllm_vision.calibration.collecting import collect

    output, board = Output(json), TagBoard().measured(square_mm * 1e-3)

    def wait(number: int) -> bool:
        output.print(f'View {number} of {chosen.views}: Enter where the arm rests, q to end.')
        line = sys.stdin.readline()
        return bool(line) and line.strip().lower() != 'q'

    with ArmCamera(namespace, camera) as listener:
        frame = listener.wait_for_frame()
        output.print(f'Pictures of {frame} arrive. {_what_moves(chosen.mount)}')
        views, intrinsics = collect(
            listener.take,
            wait,
            board,
            count=chosen.views,
            on_attempt=lambda attempt: print_attempt(attempt, output),
        )
        root, T_root_optical = camera_root(listener.frames, frame)
    found = solve(views, chosen.mount, intrinsics)
    calibration = calibration_of(found, root, T_root_optical)
    result = report(found, views, intrinsics, board, calibration, output)
    check(found, Bounds())
    output.print_path('file', save(calibration, out))
    output.print('Publish it with:')
    output.print_line(f'  {calibration.command}')
    output.print(
        'Then check it before the arm moves: put a cube on a place that is measured in fr3_link0, '
        'and compare with what the camera reports (docs/calibration.md).'
    )
    output.result({**result, 'file': str(out)})


def _what_moves(mount: Mount) -> str:
    if mount is Mount.STAND:
        return 'The board is in the hand; the camera stays where it is.'
    return 'The camera is on the hand; the board stays where it is.'
