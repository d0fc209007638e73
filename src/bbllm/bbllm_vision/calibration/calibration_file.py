"""A calibration as a file, and as the command that publishes it."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bbllm.arm.driver import Array
from bbllm.core.errors import ConfigError
from bbllm.core.paths import write_whole
from bbllm.files.yaml_files import FileRecord, yaml_text
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.robots.registry import load_robot
from bbllm_vision.hand_eye import HandEye, Mount

PARENTS = {Mount.STAND: load_robot().base_link, Mount.HAND: load_robot().hand.body}
"""Frame that the camera is fixed to."""
ARM_FRAMES = ('fr3_', 'base', 'world', 'map')
"""How frames begin that are not of a camera."""


class CalibrationFile(FileRecord):
    """Where a camera is, and how well that is known."""

    mount: Mount
    parent_frame: str
    child_frame: str
    """The camera's root frame, as `table_camera_link`: it must have no other parent."""
    xyz_m: tuple[float, float, float]
    quat_xyzw: tuple[float, float, float, float]
    views: int
    left_out: int
    residual_mm: float
    residual_deg: float
    error_mm: float
    """Standard error of where a point at the distance of the board is placed [mm]."""
    error_deg: float

    @property
    def command(self) -> str:
        """Return the command that publishes it to tf."""
        words = ['ros2', 'run', 'tf2_ros', 'static_transform_publisher']
        words += ['--frame-id', self.parent_frame, '--child-frame-id', self.child_frame]
        for name, value in zip(('x', 'y', 'z'), self.xyz_m, strict=True):
            words += [f'--{name}', f'{value:.6f}']
        for name, value in zip(('qx', 'qy', 'qz', 'qw'), self.quat_xyzw, strict=True):
            words += [f'--{name}', f'{value:.7f}']
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class FixedFrame:
    """A static transform."""

    parent: str
    T_parent_child: Array
    """Pose of the frame in its parent, shape (4, 4)."""


def camera_root(frames: Mapping[str, FixedFrame], optical_frame: str) -> tuple[str, Array]:
    """
    Return the root of the frames that a camera publishes, and the optical frame's pose in it.

    A frame has one parent, so a calibration is published to the root. A parent that belongs to
    the arm is that of an earlier calibration. Without frames the root is the optical frame.
    """
    frame, T_frame_optical = optical_frame, np.eye(4)
    passed = {frame}
    while (link := frames.get(frame)) is not None and not link.parent.startswith(ARM_FRAMES):
        frame, T_frame_optical = link.parent, link.T_parent_child @ T_frame_optical
        if frame in passed:
            raise ConfigError(
                f'The static transforms above {optical_frame} form a loop at {frame}.'
            )
        passed.add(frame)
    return frame, T_frame_optical


def calibration_of(found: HandEye, child_frame: str, T_child_optical: Array) -> CalibrationFile:
    """
    Return a calibration for a camera whose frames are already published below one of them.

    *T_child_optical* is the pose of the optical frame in *child_frame*, shape (4, 4).
    """
    pose = pose_of_matrix(found.T_parent_camera @ np.linalg.inv(T_child_optical))
    return CalibrationFile(
        mount=found.mount,
        parent_frame=PARENTS[found.mount],
        child_frame=child_frame,
        xyz_m=pose.position_m,
        quat_xyzw=pose.quat_xyzw,
        views=len(found.residuals),
        left_out=len(found.left_out),
        residual_mm=round(found.residual_m * 1e3, 3),
        residual_deg=round(float(np.degrees(found.residual_rad)), 4),
        error_mm=round(found.error_m * 1e3, 3),
        error_deg=round(float(np.degrees(found.error_rad)), 4),
    )


def save(calibration: CalibrationFile, path: Path) -> Path:
    """Write a calibration; raises ConfigError where that is not possible."""
    text = yaml_text(calibration.model_dump(mode='json'))
    head = f'# Written by `bbllm calibrate`. To publish it:\n# {calibration.command}\n'
    try:
        write_whole(path, (head + text).encode())
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f'The calibration {path} cannot be written ({reason}).') from error
    return path
