"""`bbllm calibrate`: what people type, and what they get."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from bbllm.sim.drawing import PACKAGES
from bbllm_vision.hand_eye import Bounds

Command = Callable[..., Result]


def test_the_board_is_printed_with_what_to_measure(bbllm: Command, tmp_path: Path) -> None:
    result = bbllm('calibrate', 'board', str(tmp_path / 'board.pdf'))
    assert result.exit_code == 0
    assert (tmp_path / 'board.pdf').read_bytes().startswith(b'%PDF')
    assert '252.0 mm long, a square 42.0 mm' in result.stdout
    words = ('calibrate', 'board', str(tmp_path / 'b.png'), '--paper', 'letter', '--json')
    data = json.loads(bbllm(*words).stdout)
    assert (data['paper'], data['row_mm'], data['square_mm']) == ('letter', 252.0, 42.0)
    refused = bbllm('calibrate', 'board', 'board.doc')
    assert refused.exit_code == 2
    assert 'must end with .pdf or .png' in refused.stderr


@pytest.mark.parametrize('mount', ['stand', 'hand'])
def test_a_simulated_camera_is_calibrated_and_written(
    mount: str, bbllm: Command, tmp_path: Path
) -> None:
    path = tmp_path / 'camera.yaml'
    words = ('calibrate', 'sim', '--mount', mount, '--views', '8', '--out', str(path))
    result = bbllm(*words, '--json')
    if PACKAGES in result.stderr:
        pytest.skip(result.stderr)
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert 'view 8 of 8' in result.stderr
    assert data['true_camera_mm'] < 1.0
    assert data['true_angle_deg'] < 0.1
    assert data['true_point_mm'] < 0.5
    written = yaml.safe_load(path.read_text())
    child = {'stand': 'table_camera_link', 'hand': 'hand_camera_link'}[mount]
    assert (written['child_frame'], written['xyz_m']) == (child, pytest.approx(data['xyz_m']))
    again = bbllm(*words)
    assert again.exit_code == 2
    assert 'exists. Name another file with --out' in again.stderr


def test_a_file_without_a_folder_is_refused_before_anything_moves(
    bbllm: Command, tmp_path: Path
) -> None:
    refused = bbllm('calibrate', 'sim', '--out', str(tmp_path / 'none' / 'camera.yaml'))
    assert refused.exit_code == 2
    assert 'is no folder that can be written to' in refused.stderr
    assert 'view 1' not in refused.stdout


def test_a_calibration_outside_of_its_bounds_ends_with_1(
    bbllm: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr('bbllm_ros.commands.calibrate_sim.Bounds', lambda: Bounds(residual_m=1e-9))
    path = tmp_path / 'camera.yaml'
    result = bbllm('calibrate', 'sim', '--views', '6', '--out', str(path))
    if PACKAGES in result.stderr:
        pytest.skip(result.stderr)
    assert result.exit_code == 1
    assert 'The calibration is refused: its residual is' in result.stderr
    assert not path.exists()
