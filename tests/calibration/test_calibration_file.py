"""A calibration is written, and published as tf understands it."""

from pathlib import Path

import pytest
import yaml

from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.errors import ConfigError
from bbllm.core.types import Pose
from bbllm_vision.calibration.calibration_file import (
    CalibrationFile,
    FixedFrame,
    calibration_of,
    camera_root,
    save,
)
from bbllm_vision.hand_eye import Mount, solve
from tests.vision.drawn_boards import INTRINSICS, pose, views_of

X = pose((1.1, -0.4, 0.7), (100.0, 60.0, -130.0))
Z = pose((0.0, 0.01, 0.2), (90.0, 0.0, 5.0))
T_LINK_OPTICAL = pose((0.0, 0.015, 0.0), (-69.28, 69.28, -69.28))


@pytest.fixture(scope='module')
def calibration() -> CalibrationFile:
    """Return a calibration of exact views."""
    found = solve(views_of(Mount.STAND, X, Z), Mount.STAND, INTRINSICS)
    return calibration_of(found, 'table_camera_link', T_LINK_OPTICAL)


def test_the_command_publishes_the_pose(calibration: CalibrationFile, tmp_path: Path) -> None:
    words = calibration.command.split()
    assert words[:4] == ['ros2', 'run', 'tf2_ros', 'static_transform_publisher']
    values = dict(zip(words[4::2], words[5::2], strict=True))
    assert values['--frame-id'] == 'fr3_link0'
    assert values['--child-frame-id'] == 'table_camera_link'
    names = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
    numbers = [float(values[f'--{name}']) for name in names]
    assert numbers == pytest.approx([*calibration.xyz_m, *calibration.quat_xyzw], abs=1e-6)
    text = save(calibration, tmp_path / 'camera.yaml').read_text()
    assert calibration.command in text
    assert CalibrationFile.model_validate(yaml.safe_load(text)) == calibration
    assert calibration.views == 15
    with pytest.raises(ConfigError, match='cannot be written'):
        save(calibration, tmp_path / 'no' / 'camera.yaml')


def test_the_chain_of_frames_ends_at_the_optical_frame(calibration: CalibrationFile) -> None:
    pose = Pose(position_m=calibration.xyz_m, quat_xyzw=calibration.quat_xyzw)
    assert matrix_from_pose(pose) @ T_LINK_OPTICAL == pytest.approx(X, abs=1e-6)


def test_the_root_of_a_camera_is_below_the_arm() -> None:
    step = pose((0.0, 0.01, 0.0), (0.0, 0.0, 0.0))
    frames = {
        'optical': FixedFrame('color', step),
        'color': FixedFrame('link', step),
        'link': FixedFrame('fr3_link0', step),
    }
    root, T_root_optical = camera_root(frames, 'optical')
    assert root == 'link'
    assert T_root_optical[1, 3] == pytest.approx(0.02)
    assert camera_root({}, 'optical')[0] == 'optical'
    with pytest.raises(ConfigError, match='form a loop'):
        camera_root({**frames, 'link': FixedFrame('optical', step)}, 'optical')
